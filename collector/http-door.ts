// Opens the door of the http hooks where config.yaml asks for one (`init --fast`): its port may be another program's, its token may be
// missing. Then it stays shut, which stops the calls of those hooks, and is tried again whenever a command hook is heard.
import { lstatSync, readFileSync } from 'node:fs'
import type { HomePaths } from '../conventions/home.ts'
import { homeMark } from '../hooks/home-mark.ts'
import { adapters } from '../hooks/index.ts'
import type { Config } from './config.ts'
import type { HookDoor } from './receive/hook.ts'
import { httpHookApp } from './receive/http-hook.ts'
import { AddressTaken, type Listening, listenOnPort } from './receive/listen.ts'

/** Permission bits of group and others. */
const FOREIGN_BITS = 0o077

/** The token in a file only its owner can read, or why it can't be used. */
export function readHttpToken(
  path: string,
): { ok: true; token: string } | { ok: false; missing: boolean; message: string } {
  const refuse = (message: string, missing = false) => ({ ok: false, missing, message }) as const
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return refuse(`there is no token in ${path}`, true)
    const ours = process.getuid === undefined || process.getuid() === stat.uid
    if (!stat.isFile() || !ours) return refuse(`${path} is not a plain file of this user`)
    if ((stat.mode & FOREIGN_BITS) !== 0)
      return refuse(`${path} can be read by others (mode ${(stat.mode & 0o777).toString(8)})`)
    const token = readFileSync(path, 'utf8').trim()
    if (!/^[A-Za-z0-9_-]{43,}$/.test(token)) return refuse(`${path} holds no token`)
    return { ok: true, token }
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

export interface HttpDoorOptions {
  home: HomePaths
  config: Config
  hooks: HookDoor
  log: (line: string) => void
}

export class HttpDoor {
  private readonly options: HttpDoorOptions
  private opening: Promise<void> | undefined
  private listening: (Listening & { port: number }) | undefined
  private closed = false
  private said = ''

  constructor(options: HttpDoorOptions) {
    this.options = options
  }

  /** Address; null when there is to be no door, or it can't be opened. */
  get url(): string | null {
    return this.listening === undefined ? null : `http://127.0.0.1:${this.listening.port}`
  }

  /** Opens the door unless it is open or not wanted. Never rejects: what stands in the way is said once. */
  async ensure(): Promise<void> {
    const { fast } = this.options.config
    if (fast === undefined || this.listening !== undefined || this.closed) return
    this.opening ??= this.open(fast.port).finally(() => {
      this.opening = undefined
    })
    await this.opening
  }

  async close(): Promise<void> {
    this.closed = true
    await this.opening
    await this.listening?.close()
  }

  private async open(port: number): Promise<void> {
    const { home, hooks } = this.options
    const read = readHttpToken(home.httpToken)
    if (!read.ok) return this.say(read.message)
    const answers = (agent: string, event: string) => {
      const http = adapters.get(agent)?.http
      return http?.events.includes(event) ? http.answer.bind(http, event) : null
    }
    const app = httpHookApp({ ...hooks, answers }, { token: read.token, home: homeMark(home.root) })
    try {
      this.listening = await listenOnPort({ host: '127.0.0.1', port }, app.fetch)
    } catch (error) {
      if (!(error instanceof AddressTaken)) throw error
      this.say(error.message)
    }
  }

  private say(why: string): void {
    if (this.said !== why)
      this.options.log(`${why}: no http hooks are answered, so their calls are stopped. See: spanseal doctor`)
    this.said = why
  }
}
