// The built collector as a real process on a temporary home, spoken to as hooks speak to it.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { entryOf } from '../../collector/store/log-files.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { verifyHome } from '../../collector/verify/index.ts'
import { LOG_START } from '../../conventions/log.ts'
import type { AnyRecord } from '../../conventions/record.ts'

const BUNDLE = resolve('dist/collector.cjs')
/** Milliseconds a collector may take until it answers; loaded machines are slow. */
const READY_MS = 30_000

export interface Reply {
  status: number
  body: string
}

export interface CollectorSetup {
  root?: string
  config?: string
  /** Command in front of node, such as a shell that sets limits. */
  wrap?: (command: string[]) => string[]
  env?: NodeJS.ProcessEnv
  uid?: number | undefined
  /** Leave the home's config.yaml as it is. */
  keepConfig?: boolean
  /** The built collector, where it is not the one in dist. */
  bundle?: string
}

export class Collector {
  readonly root: string
  child: ChildProcess | undefined
  stderr = ''
  private readonly setup: CollectorSetup

  constructor(setup: CollectorSetup = {}) {
    this.setup = setup
    this.root = setup.root ?? mkdtempSync(join(tmpdir(), 'spanseal-e2e-'))
    mkdirSync(this.root, { recursive: true, mode: 0o700 })
    if (!setup.keepConfig) writeFileSync(`${this.root}/config.yaml`, setup.config ?? 'version: 1\notlp: {port: 0}\n')
  }

  /** Starts the process and waits until it answers. Throws with its stderr when it does not. */
  async start(): Promise<this> {
    const command = [process.execPath, this.setup.bundle ?? BUNDLE, '--home', this.root]
    const [program = '', ...args] = this.setup.wrap?.(command) ?? command
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: this.setup.env ?? { PATH: '/usr/bin:/bin', HOME: this.root },
      ...(this.setup.uid === undefined ? {} : { uid: this.setup.uid, gid: this.setup.uid }),
    })
    this.child = child
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString()
    })
    const deadline = Date.now() + READY_MS
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the collector ended: ${this.stderr}`)
      if ((await this.admin('GET', '/status').catch(() => null))?.status === 200) return this
      if (Date.now() > deadline) throw new Error(`the collector does not answer: ${this.stderr}`)
      await sleep(20)
    }
  }

  /** Posts a native payload as an installed hook does. Rejects when the connection breaks. */
  hook(
    event: string,
    payload: object | Uint8Array | string,
    query = 'mode=enforce&fail=closed',
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const body = payload instanceof Uint8Array || typeof payload === 'string' ? payload : JSON.stringify(payload)
    return this.send('hook.sock', 'POST', `/hook/claude-code/${event}?${query}`, body, headers)
  }

  gate(body: object | string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('hook.sock', 'POST', '/v1/gate', typeof body === 'string' ? body : JSON.stringify(body), headers)
  }

  get(path: string): Promise<Reply> {
    return this.send('hook.sock', 'GET', path)
  }

  admin(method: string, path: string, body?: object): Promise<Reply> {
    return this.send('admin.sock', method, path, body === undefined ? undefined : JSON.stringify(body))
  }

  async status(): Promise<Record<string, never>> {
    return JSON.parse((await this.admin('GET', '/status')).body)
  }

  async sql(sql: string): Promise<{ columns: string[]; rows: unknown[][]; error?: string }> {
    return JSON.parse((await this.admin('POST', '/sql', { sql })).body)
  }

  endpoint(): { otlp: string; otlp_grpc?: string; hook: string; admin: string; pid: number } {
    return JSON.parse(readFileSync(`${this.root}/endpoint.json`, 'utf8'))
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL')
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM')
  }

  /** Ends the process, if it still runs, and removes the home. */
  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.root, { recursive: true, force: true })
  }

  /** Every record in the log, read from disk. */
  records(): AnyRecord[] {
    const frames = readFrames(`${this.root}/log`, LOG_START, Number.POSITIVE_INFINITY)
    // Zeros that a power cut left read as empty frames; the log ends before them.
    const zeros = frames.findIndex(({ payload }) => payload.length === 0)
    return (zeros === -1 ? frames : frames.slice(0, zeros)).map((frame) => entryOf(frame).record)
  }

  /** Verifies the home as it lies on disk, with its own genesis and log key pinned. */
  async verify() {
    const first = this.records()[0]
    if (first?.type !== 'log.opened') throw new Error('the log has no first record')
    const frames = readFrames(`${this.root}/log`, LOG_START, 1)
    const genesis = Buffer.from(entryOf(frames[0] as (typeof frames)[number]).leaf, 'base64').toString('hex')
    return verifyHome({ root: this.root, trust: `log ${first.body.log_key}\ngenesis ${genesis}\n` })
  }

  /** Resolves when the process has ended by itself. */
  async gone(): Promise<void> {
    const child = this.child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    await new Promise((done) => child.once('exit', done))
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await gone
  }

  private send(
    socket: string,
    method: string,
    path: string,
    body?: Uint8Array | string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    return new Promise((done, fail) => {
      const req = request(
        {
          socketPath: `${this.root}/run/${socket}`,
          method,
          path,
          headers: { 'content-type': 'application/json', ...headers },
        },
        (res) => {
          const chunks: Buffer[] = []
          res.on('data', (chunk: Buffer) => chunks.push(chunk))
          res.on('end', () => done({ status: res.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
          res.on('error', fail)
        },
      )
      req.on('error', fail)
      req.end(body)
    })
  }
}

/** A PreToolUse payload in Claude Code's shape. */
export function preToolUse(session: string, callId: string, command = 'ls', more: object = {}): object {
  return {
    ...common(session),
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: callId,
    ...more,
  }
}

/** A PostToolUse payload in Claude Code's shape. */
export function postToolUse(session: string, callId: string, command = 'ls', more: object = {}): object {
  return {
    ...common(session),
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    tool_response: { stdout: 'done', stderr: '', interrupted: false, isImage: false },
    tool_use_id: callId,
    duration_ms: 5,
    ...more,
  }
}

export function event(session: string, name: string, more: object = {}): object {
  return { ...common(session), hook_event_name: name, ...more }
}

function common(session: string): object {
  return {
    session_id: session,
    transcript_path: `/nowhere/${session}.jsonl`,
    cwd: '/home/dev/project',
    permission_mode: 'default',
    prompt_id: 'p1',
  }
}
