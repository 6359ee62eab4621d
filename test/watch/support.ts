// A watcher on a real pipeline and real transcripts in a temporary agent's folder; only the clocks are the test's own.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GRACE_MS, POLL_MS, type Watcher } from '../../collector/watch/watcher.ts'
import { openWatcher } from '../../collector/watch-wiring.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import { TestPipeline } from '../support/pipeline.ts'

export const SESSION = '0f0e0d0c-0b0a-4908-8706-050403020100'
const PROJECT = '-home-dev-project'

export class WatchedHome {
  readonly test = new TestPipeline()
  readonly userHome = `${this.test.home.root}/user`
  readonly projects = `${this.userHome}/.claude/projects`
  readonly folder = join(this.projects, PROJECT)
  watcher: Watcher

  constructor() {
    // Files bear the machine's time, so the test's clock begins just before it.
    this.test.now = Date.now() - POLL_MS
    mkdirSync(this.folder, { recursive: true })
    this.install(`${this.userHome}/.claude/settings.json`)
    this.watcher = this.open()
  }

  private open(): Watcher {
    return openWatcher({
      home: this.test.home,
      userHome: this.userHome,
      opened: this.test.log,
      pipeline: this.test.pipeline,
      now: () => this.test.now,
      clock: () => this.test.now,
    })
  }

  async start(): Promise<this> {
    await this.test.start()
    await this.watcher.poll()
    return this
  }

  /** The collector again, as after a crash, with a new watcher. What lies on the disk by now was made before it, by the files' clock too. */
  async restart(): Promise<void> {
    this.watcher.stop()
    this.test.now = Math.max(this.test.now, Date.now() + POLL_MS)
    await this.test.reopen()
    this.watcher = this.open()
    await this.watcher.poll()
  }

  /** installs.json as `init` leaves it, as far as the watcher reads it. */
  install(...files: string[]): void {
    const installs = files.map((file) => ({ agent: 'claude-code', file }))
    writeFileSync(this.test.home.installs, JSON.stringify({ version: 1, installs }))
  }

  transcript(session = SESSION): string {
    return join(this.folder, `${session}.jsonl`)
  }

  /** Appends lines with one tool call each, written now unless a time is given. */
  call(count = 1, { file = this.transcript(), time = this.test.now + 1, more = '' } = {}): void {
    for (let i = 0; i < count; i++) appendFileSync(file, toolUse(time, more))
  }

  /** Lets time pass, with all the looks that belong to it. */
  async pass(ms: number): Promise<void> {
    const end = this.test.now + ms
    while (this.test.now < end) {
      this.test.now += POLL_MS
      await this.watcher.poll()
    }
  }

  /** Long enough for anything to be found and its hooks' time to be over. */
  settle(): Promise<void> {
    return this.pass(3 * GRACE_MS)
  }

  gaps(): [string, number][] {
    return this.records('gap').map(({ body }) => [body.kind, body.count])
  }

  records<T extends AnyRecord['type']>(type: T): (AnyRecord & { type: T })[] {
    return this.test.records().filter((record): record is AnyRecord & { type: T } => record.type === type)
  }

  /** Calls that were counted, over all reports. */
  counted(): number {
    return this.gaps().reduce((sum, [kind, count]) => sum + (kind === 'hook_missing' ? count : 0), 0)
  }

  async close(): Promise<void> {
    this.watcher.stop()
    await this.test.close()
    rmSync(this.userHome, { recursive: true, force: true })
  }
}

let made = 0

/** A line of Claude Code's transcript: one call, its input as long as `more`. */
export function toolUse(time: number, more = ''): string {
  made++
  return `${JSON.stringify({
    isSidechain: false,
    message: {
      id: `msg_${made}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [{ type: 'tool_use', id: `toolu_${made}`, name: 'Bash', input: { command: `echo ${more}` } }],
    },
    type: 'assistant',
    uuid: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`,
    timestamp: new Date(time).toISOString(),
    sessionId: SESSION,
  })}\n`
}
