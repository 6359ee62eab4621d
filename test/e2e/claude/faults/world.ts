// A person's machine whose hooks come in by one way, with short deadlines, and everything that can be broken on it.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { homeSockets } from '../../../../collector/sockets.ts'
import type { WayIn } from '../../../../conventions/decision.ts'
import { homePaths } from '../../../../conventions/home.ts'
import { encodeAnswer } from '../../../../conventions/wire.ts'
import { installClaude } from '../../../../hooks/install.ts'
import { findCurl, stageBin } from '../../../../hooks/stage.ts'
import { type Behaviour, reply, type StandIn, standIn } from '../../../hooks/support/stand-in.ts'
import { ClaudeUser } from '../support/user.ts'

const REWRITER = fileURLToPath(new URL('./rewriter.mjs', import.meta.url))

export const PASS = encodeAnswer({ kind: 'pass' })

/** Seconds; the installed ones are 5, 20 and 560. */
const DEADLINES = { answer: 2, start: 4, wait: 4 }

/** Seconds after which the agent stops waiting for our hook; more than the three above. */
const AGENT_SECONDS = 12

/** Milliseconds until what a scenario waits for is given up. */
const NEVER_MS = 60_000

/** How each way in is installed, and the file that is its hook. */
const INSTALL: Record<WayIn, { curl: () => string | null; file: string }> = {
  sh: { curl: findCurl, file: 'hook.sh' },
  node: { curl: () => null, file: 'hook.cjs' },
  http: { curl: findCurl, file: 'hook.sh' },
}

export class World {
  readonly user = new ClaudeUser()
  /** Requests that a hook sent to the proxy of the agent's environment. */
  proxied = 0
  private readonly proxy = createServer((request, response) => {
    this.proxied++
    request.resume()
    response.end(PASS)
  })
  private impostor: StandIn | null = null
  private behave: Behaviour = () => {}
  private bin = ''
  readonly way: WayIn

  constructor(way: WayIn) {
    this.way = way
  }

  /** Installs the hooks of this way. Proxy variables of the agent lead to a program that lets everything pass. */
  async install(): Promise<this> {
    await this.user.install()
    const { home, userHome, settings } = this.user
    const [version = ''] = readdirSync(`${home}/bin`)
    this.bin = `${home}/bin/${version}`
    const staged = stageBin({
      ...{ home, userHome, version, sourceDir: 'dist', mode: 'enforce', failMode: 'closed', deadlines: DEADLINES },
      hookSocket: this.socket,
      curl: INSTALL[this.way].curl(),
    })
    if (staged.kind !== this.way) throw new Error(`${this.way} was asked for and ${staged.kind} was staged`)
    const { command } = staged
    const installed = installClaude({ home, userHome, command, mode: 'enforce', failMode: 'closed', now: new Date() })
    if (!installed.ok) throw new Error(installed.message)
    await new Promise<void>((done) => this.proxy.listen(0, '127.0.0.1', done))
    const address = this.proxy.address()
    const proxy = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const all = JSON.parse(readFileSync(settings, 'utf8'))
    all.hooks.PreToolUse[0].hooks[0].timeout = AGENT_SECONDS
    const rewriter = { type: 'command', command: `'${process.execPath}' '${REWRITER}'` }
    all.hooks.PreToolUse.push({ hooks: [rewriter] })
    all.env = { HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy, all_proxy: proxy }
    writeFileSync(settings, JSON.stringify(all))
    return this
  }

  get socket(): string {
    return homeSockets(homePaths(this.user.home)).hook
  }

  private get hookFile(): string {
    return `${this.bin}/${INSTALL[this.way].file}`
  }

  async up(): Promise<void> {
    const { status, stderr } = await this.user.run(['up'])
    if (status !== 0) throw new Error(`up failed: ${stderr}`)
  }

  async remove(): Promise<void> {
    await this.impostor?.close()
    this.proxy.close()
    await this.user.remove()
  }

  /** Another program on the collector's socket. The collector is back when the returned function has run. */
  async impersonate(behave: Behaviour): Promise<() => Promise<void>> {
    this.behave = behave
    if (this.impostor === null) {
      await this.user.run(['down'])
      rmSync(this.socket, { force: true })
      this.impostor = await standIn(this.socket, (socket, request) => this.behave(socket, request))
    }
    return async () => {
      await this.impostor?.close()
      this.impostor = null
      await this.up()
    }
  }

  /** Events that came to the impostor. */
  received(event: string): number {
    return this.impostor?.received.filter(({ path }) => path.includes(`/${event}?`)).length ?? 0
  }

  async cannotStart(): Promise<() => Promise<void>> {
    await this.user.killCollector()
    chmodSync(`${this.user.home}/keys/record.pem`, 0o644)
    return async () => {
      chmodSync(`${this.user.home}/keys/record.pem`, 0o600)
      await this.up()
    }
  }

  hang(): () => void {
    const pid = this.user.collectorPid
    if (pid === null) throw new Error('no collector runs')
    process.kill(pid, 'SIGSTOP')
    return () => {
      process.kill(pid, 'SIGCONT')
    }
  }

  /** Moves the hook's file away, and puts another into its place where `change` makes one of its text. */
  replaceHook(change?: (text: string) => string): () => void {
    const file = this.hookFile
    renameSync(file, `${file}.away`)
    if (change !== undefined) writeFileSync(file, change(readFileSync(`${file}.away`, 'utf8')), { mode: 0o700 })
    return () => renameSync(`${file}.away`, file)
  }

  /** A hook that does nothing for a minute before a call, and does nothing at all elsewhere. */
  slowHook(): () => void {
    return this.replaceHook(() =>
      this.way === 'sh'
        ? '#!/bin/sh\ncase $2 in PreToolUse) exec sleep 60 ;; esac\n'
        : "if (process.argv[3] === 'PreToolUse') setTimeout(() => {}, 60_000)\n",
    )
  }

  /** Processes of our hook that run for an event. */
  hookProcesses(event: string): number[] {
    const { stdout } = spawnSync('/bin/ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    return stdout.split('\n').flatMap((line) => {
      const ours = line.includes(this.hookFile) && line.includes(` ${event}`)
      return ours ? [Number.parseInt(line, 10)] : []
    })
  }

  killHooks(event: string): void {
    for (const pid of this.hookProcesses(event)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        // It ended between being listed and being killed, as a subshell does whose parent was killed before it.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }

  /** Puts the home elsewhere and a link to it, or to an empty folder, in its place. */
  linkHome(to: 'itself' | 'nothing'): () => void {
    const { home } = this.user
    const target = to === 'itself' ? `${home}-moved` : `${home}-empty`
    renameSync(home, `${home}-moved`)
    mkdirSync(target, { recursive: true })
    symlinkSync(target, home)
    return () => {
      rmSync(home)
      renameSync(`${home}-moved`, home)
    }
  }

  /** Takes our hooks out of the settings. The impostor sees the hook that asks about it, and the hook has ended when this resolves. */
  async stripSettings(): Promise<() => void> {
    const { settings } = this.user
    const whole = readFileSync(settings, 'utf8')
    const before = this.received('ConfigChange')
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(whole), hooks: {} }))
    await until(() => this.received('ConfigChange') > before)
    await until(() => this.hookProcesses('ConfigChange').length === 0)
    return () => writeFileSync(settings, whole)
  }

  /** The project's own settings switch every hook off. */
  disableHooks(): () => void {
    const folder = `${this.user.project}/.claude`
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/settings.json`, JSON.stringify({ disableAllHooks: true }))
    return () => rmSync(folder, { recursive: true })
  }

  /** What the watcher said of sessions that no hook speaks for. */
  ungated() {
    return this.user.records('gap').filter(({ body }) => body.kind === 'ungated_session')
  }

  exists(path: string): boolean {
    return existsSync(`${this.user.project}/${path}`)
  }
}

export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + NEVER_MS
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`it never came to: ${holds}`)
    await sleep(50)
  }
}

/** The same honest or dishonest answer to every request. */
export function always(body: string, status = '200 OK', type = 'text/plain'): Behaviour {
  return reply(status, body, type)
}
