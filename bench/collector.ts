// The built collector as a process on a temporary home, spoken to as an installed hook does: a new connection for each call.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, commandOf, cpuOf, keepTrack, memoryOf } from './process.ts'

/** Milliseconds until a collector must answer, and until its index must have caught up. */
const READY_MS = 60_000
const PASS = 'spanseal/1 pass\n'

export interface Status {
  records: number
  otlp: string
  index: { lag: number }
}

export class BenchCollector {
  readonly home: string
  private child: ChildProcess | undefined
  private calls = 0

  /** `config`: more lines of config.yaml. */
  constructor(home: string, config = '') {
    this.home = home
    mkdirSync(home, { recursive: true, mode: 0o700 })
    writeFileSync(`${home}/config.yaml`, `version: 1\notlp: {port: 0}\n${config}`)
  }

  /** Starts `collector.cjs` of `dist`; resolves when it answers and its index does. */
  async start(dist: string, nodeArgs: string[] = []): Promise<this> {
    const child = spawn(process.execPath, [...nodeArgs, `${dist}/collector.cjs`, '--home', this.home], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', HOME: this.home },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.child = child
    keepTrack(child)
    let words = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      words += chunk.toString()
    })
    const deadline = Date.now() + READY_MS
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
        throw new Error(`the collector did not start: ${words}`)
      if ((await this.status().catch(() => null)) !== null) break
      await sleep(20)
    }
    // The index process starts a while after the doors have opened.
    await this.caughtUp()
    return this
  }

  get pid(): number {
    const pid = this.child?.pid
    if (pid === undefined) throw new Error('the collector does not run')
    return pid
  }

  /** Process id of its index. */
  get indexPid(): number {
    const pid = childrenOf(this.pid).find((child) => commandOf(child).includes('index-worker'))
    if (pid === undefined) throw new Error('the collector has no index process')
    return pid
  }

  /** Seconds of CPU so far. */
  cpu(): { collector: number; index: number } {
    return { collector: cpuOf(this.pid), index: cpuOf(this.indexPid) }
  }

  /** Resident MB. */
  memory(): { collector: number; index: number } {
    return { collector: memoryOf(this.pid), index: memoryOf(this.indexPid) }
  }

  async status(): Promise<Status> {
    return JSON.parse(await send(`${this.home}/run/admin.sock`, 'GET', '/status'))
  }

  /** Resolves when all that is durable is in the index. */
  async caughtUp(): Promise<void> {
    const deadline = Date.now() + READY_MS
    // What is durable now may not have been counted as waiting yet.
    for (let seen = 0; seen < 2; ) {
      await sleep(150)
      seen = (await this.status()).index.lag === 0 ? seen + 1 : 0
      if (Date.now() > deadline) throw new Error('the index does not catch up')
    }
  }

  /** Milliseconds of one gate answer that lets a call run. The call is then reported as done, which is not timed. */
  async answer(): Promise<number> {
    const before = toolCall('PreToolUse', this.calls)
    const after = toolCall('PostToolUse', this.calls)
    this.calls++
    const began = performance.now()
    const answer = await this.post('PreToolUse', before)
    const took = performance.now() - began
    if (answer !== PASS) throw new Error(`the collector said ${JSON.stringify(answer)}`)
    await this.post('PostToolUse', after)
    return took
  }

  async stop(): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }

  private post(event: string, payload: string): Promise<string> {
    return postHook(`${this.home}/run/hook.sock`, event, payload)
  }
}

/** Calls in one session: a long day's work. */
const SESSION_CALLS = 500

/** A payload in Claude Code's shape, of one of many calls. */
export function toolCall(event: 'PreToolUse' | 'PostToolUse', n: number): string {
  const command = `grep -rn "handler${n}" src/server | head -20`
  return JSON.stringify({
    session_id: `bench-${Math.floor(n / SESSION_CALLS)}`,
    transcript_path: '/nonexistent/transcript.jsonl',
    cwd: '/home/dev/project',
    permission_mode: 'default',
    hook_event_name: event,
    tool_name: 'Bash',
    tool_input: { command, description: 'Look for the handler' },
    tool_use_id: `toolu_${n}`,
    ...(event === 'PostToolUse'
      ? { tool_response: { stdout: `src/server/a.ts:${n}: handler`, stderr: '', interrupted: false }, duration_ms: 12 }
      : {}),
  })
}

export function postHook(socket: string, event: string, payload: string): Promise<string> {
  return send(socket, 'POST', `/hook/claude-code/${event}?mode=enforce&fail=closed&hook=sh`, payload)
}

function send(socketPath: string, method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request({ socketPath, method, path, agent: false, headers }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => {
        text += chunk
      })
      incoming.on('end', () => resolve(text))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
