// A person's machine with the real Claude Code and Spanseal on it: a temporary home, a project with a git remote, no way out.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { entryOf } from '../../../../collector/store/log-files.ts'
import { readFrames } from '../../../../collector/store/segments.ts'
import { verifyHome } from '../../../../collector/verify/index.ts'
import { decodeVaultPayload } from '../../../../conventions/frame.ts'
import { LOG_START, type LogEntry } from '../../../../conventions/log.ts'
import type { RecordOf, RecordType } from '../../../../conventions/record.ts'
import { type Ran, TempUser } from '../../../support/cli.ts'
import { claudeBinary } from './install.ts'
import type { Model } from './model.ts'

const MCP_SERVER = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url))
const SHORTER_HOLD = fileURLToPath(new URL('./shorter-hold.mjs', import.meta.url))
/** Milliseconds for the sessions of one test file, with fetching the agent before the first. */
export const SESSION_MS = 600_000
/** Milliseconds until a session that does not come to its end is given up. */
const STUCK_MS = 90_000
/** A proxy that nobody serves: what does not go to the stand-in goes nowhere. */
const DEAD_PROXY = 'http://127.0.0.1:9'

export class ClaudeUser extends TempUser {
  readonly settings = `${this.userHome}/.claude/settings.json`

  /** The person's own: everything that is called here but Edit. */
  readonly permissions = { allow: ['Bash', 'Write', 'Agent', 'mcp__test'] }

  /** More of the agent's environment. */
  extraEnv: Record<string, string> = {}

  /** Installs Spanseal beside the person's own settings. */
  async install(): Promise<this> {
    mkdirSync(`${this.userHome}/.claude`)
    writeFileSync(this.settings, JSON.stringify({ permissions: this.permissions }))
    mkdirSync(`${this.project}/marks`)
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: this.project, env: this.agentEnv('none'), stdio: 'ignore' })
    git('init', '-q', '--bare', `${this.userHome}/remote.git`)
    git('init', '-q', '-b', 'main')
    git('remote', 'add', 'origin', `${this.userHome}/remote.git`)
    git('-c', 'user.name=Test', '-c', 'user.email=test@localhost', 'commit', '-q', '--allow-empty', '-m', 'first')
    const init = await this.run(['init', '--otlp-port', '0'])
    if (init.status !== 0) throw new Error(`init failed: ${init.stderr}`)
    return this
  }

  /** `claude -p PROMPT`. Throws with all it said when it does not end well. */
  async claude(model: Model, prompt: string, ...args: string[]): Promise<Ran> {
    const servers = { mcpServers: { test: { command: process.execPath, args: [MCP_SERVER] } } }
    const mcp = ['--mcp-config', JSON.stringify(servers), '--strict-mcp-config']
    const child = spawn(await claudeBinary(), ['-p', ...mcp, ...args], {
      cwd: this.project,
      env: this.agentEnv(model.url),
      timeout: STUCK_MS,
    })
    const ran: Ran = { status: null, stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      ran.stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      ran.stderr += chunk
    })
    child.stdin.end(prompt)
    ran.status = await new Promise<number | null>((done) => child.once('close', done))
    if (ran.status !== 0 || model.failures.length > 0)
      throw new AggregateError(
        model.failures,
        `claude ended with ${ran.status}; ${model.failures.join('; ')}\n${ran.stdout}\n${ran.stderr}`,
      )
    return ran
  }

  /** The installed collector's bundle. */
  private get collectorBundle(): string {
    const [version = ''] = readdirSync(`${this.home}/bin`)
    return join(this.home, 'bin', version, 'collector.cjs')
  }

  private agentEnv(url: string): Record<string, string> {
    return {
      HOME: this.userHome,
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      TMPDIR: this.userHome,
      ANTHROPIC_API_KEY: 'sk-ant-api03-not-a-key',
      ANTHROPIC_BASE_URL: url,
      HTTPS_PROXY: DEAD_PROXY,
      HTTP_PROXY: DEAD_PROXY,
      NO_PROXY: '127.0.0.1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      // Without it the agent refuses to skip permissions as root, which test machines often are.
      IS_SANDBOX: '1',
      ...this.extraEnv,
    }
  }

  /** How often the command with this mark ran. */
  marks(name: string): number {
    const file = `${this.project}/marks/${name}`
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
  }

  /** Every entry of the log, read from disk. */
  entries(): LogEntry[] {
    return readFrames(`${this.home}/log`, LOG_START, Number.POSITIVE_INFINITY).map(entryOf)
  }

  records<T extends RecordType>(type: T): RecordOf<T>[] {
    const isType = (record: LogEntry['record']): record is RecordOf<T> & LogEntry['record'] => record.type === type
    return this.entries()
      .map(({ record }) => record)
      .filter(isType)
  }

  /** The only record of this type about a call. */
  one<T extends RecordType>(type: T, call: string): RecordOf<T> {
    const [record, ...more] = this.records(type).filter((found) => found.call?.id === call)
    if (record === undefined || more.length > 0)
      throw new Error(`${record === undefined ? 0 : more.length + 1} records ${type} of ${call}`)
    return record
  }

  /** Waits until the log holds `count` records of a type, and returns the newest. */
  async until<T extends RecordType>(type: T, count: number): Promise<RecordOf<T>> {
    const deadline = Date.now() + STUCK_MS / 3
    for (;;) {
      const found = this.records(type)[count - 1]
      if (found !== undefined) return found
      if (Date.now() > deadline) throw new Error(`no ${count} records ${type} came`)
      await sleep(100)
    }
  }

  /** Id of the next approval that is asked for. */
  async held(): Promise<string> {
    const { body } = await this.until('approval.requested', this.records('approval.requested').length + 1)
    return body.approval
  }

  /** A person in another terminal answers the next call that waits; `look` runs while it still does. */
  async answer(answer: 'approve' | 'reject', look: () => void): Promise<void> {
    const id = await this.held()
    look()
    const { status, stderr } = await this.run(['approvals', answer, id])
    if (status !== 0) throw new Error(`approvals ${answer} failed: ${stderr}`)
  }

  /** kill -9, and waits until it is gone. */
  async killCollector(): Promise<void> {
    const pid = this.collectorPid
    if (pid === null) throw new Error('no collector runs')
    process.kill(pid, 'SIGKILL')
    while (this.collectorPid !== null) await sleep(20)
  }

  /** Puts the same collector in the place of the running one, but lets nine minutes of holding pass in two seconds. */
  async shortenHolds(): Promise<void> {
    await this.run(['down'])
    const started = this.records('collector.started').length
    spawn(process.execPath, ['--import', SHORTER_HOLD, this.collectorBundle, '--home', this.home], {
      env: { PATH: '/usr/bin:/bin', HOME: this.userHome },
      stdio: 'ignore',
    })
    await this.until('collector.started', started + 1)
    while (!existsSync(`${this.home}/endpoint.json`)) await sleep(20)
  }

  /** Text the vault keeps for a record. */
  content(record: { log: { seq: number } }, name: string): string | undefined {
    const pieces = readFrames(`${this.home}/vault`, LOG_START, Number.POSITIVE_INFINITY).map(({ payload }) =>
      decodeVaultPayload(payload),
    )
    const piece = pieces.find((found) => found?.head.seq === record.log.seq && found.head.name === name)
    return piece === undefined || piece === null ? undefined : Buffer.from(piece.content).toString('utf8')
  }

  /** Verifies the home as it lies on disk, with its own genesis and log key pinned. */
  async verdict() {
    const [first] = this.entries()
    if (first?.record.type !== 'log.opened') throw new Error('the log has no first record')
    const genesis = Buffer.from(first.leaf, 'base64').toString('hex')
    return verifyHome({ root: this.home, trust: `log ${first.record.body.log_key}\ngenesis ${genesis}\n` })
  }

  /** Ids of all tool calls in the agent's own transcripts, sub-agents' included. */
  transcriptCalls(): string[] {
    const root = `${this.userHome}/.claude/projects`
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'))
    const ids = new Set<string>()
    for (const file of files) {
      for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
        if (line === '') continue
        const { type, message } = JSON.parse(line)
        if (type !== 'assistant') continue
        for (const block of message.content) if (block.type === 'tool_use') ids.add(block.id)
      }
    }
    return [...ids].sort()
  }
}
