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
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { homeSockets } from '../../../../collector/sockets.ts'
import type { WayIn } from '../../../../conventions/decision.ts'
import { homePaths } from '../../../../conventions/home.ts'
import { encodeAnswer } from '../../../../conventions/wire.ts'
import { installClaude } from '../../../../hooks/install.ts'
import { findCurl, stageBin } from '../../../../hooks/stage.ts'
import { type Behaviour, reply, type StandIn, standIn } from '../../../hooks/support/stand-in.ts'
import { freePort } from '../../../support/fast-user.ts'
import { claudeBinary } from '../support/install.ts'
import { ClaudeUser } from '../support/user.ts'
import { passingProxy } from './proxy.ts'

const REWRITER = fileURLToPath(new URL('./rewriter.mjs', import.meta.url))

const PASS = encodeAnswer({ kind: 'pass' })

/** Seconds; the installed ones are 5, 20 and 560. */
const DEADLINES = { answer: 2, start: 4, wait: 4 }

/** Seconds after which the agent stops waiting for our hook; more than the three above. An http hook waits for nothing but an answer. */
const AGENT_SECONDS: Record<WayIn, number> = { sh: 12, node: 12, http: 6 }

/** Milliseconds until what a scenario waits for is given up. */
const NEVER_MS = 60_000

/** How each way in is installed, the file of its command hooks, and what lets a call pass. */
export const INSTALL: Record<WayIn, { curl: () => string | null; file: 'hook.sh' | 'hook.cjs'; pass: string }> = {
  sh: { curl: findCurl, file: 'hook.sh', pass: PASS },
  node: { curl: () => null, file: 'hook.cjs', pass: PASS },
  http: { curl: findCurl, file: 'hook.sh', pass: '{}' },
}

interface Settings {
  hooks: Record<string, { hooks: { type: string }[] }[]>
}

export class World {
  readonly user = new ClaudeUser()
  /** Requests that a hook sent to the proxy of the agent's environment. */
  proxied = 0
  /** Address of the model: the one thing the proxy passes on. */
  model = ''
  private readonly proxy = passingProxy(
    () => this.model,
    (response) => {
      this.proxied++
      response.end(this.pass)
    },
  )
  private proxyUrl = ''
  private impostors: StandIn[] = []
  /** Port of the http hooks; 0 for other ways in. */
  private port = 0
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
      ...{ home, userHome, version, sourceDir: 'dist', mode: 'enforce', failMode: 'closed' },
      // Where calls come by http, only command hooks start the collector: they get the time that a busy machine takes.
      deadlines: this.way === 'http' ? { ...DEADLINES, start: 20 } : DEADLINES,
      hookSocket: this.socket,
      curl: INSTALL[this.way].curl(),
    })
    const { file } = INSTALL[this.way]
    const { command } = staged
    if (!command.includes(file)) throw new Error(`${file} was asked for and ${command} was staged`)
    const installed = installClaude({
      ...{ home, userHome, command, mode: 'enforce', failMode: 'closed', now: new Date() },
      ...(this.way === 'http' ? { http: await this.openDoor() } : {}),
    })
    if (!installed.ok) throw new Error(installed.message)
    await new Promise<void>((done) => this.proxy.listen(0, '127.0.0.1', done))
    const address = this.proxy.address()
    const proxy = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    this.proxyUrl = proxy
    const all = JSON.parse(readFileSync(settings, 'utf8'))
    all.hooks.PreToolUse[0].hooks[0].timeout = AGENT_SECONDS[this.way]
    const rewriter = { type: 'command', command: `'${process.execPath}' '${REWRITER}'` }
    all.hooks.PreToolUse.push({ hooks: [rewriter] })
    all.env = { HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy, all_proxy: proxy }
    writeFileSync(settings, JSON.stringify(all))
    return this
  }

  /** `init --fast`, with the real agent where its installer puts it. */
  private async openDoor(): Promise<{ port: number; token: string }> {
    const { home, userHome, settings } = this.user
    this.port = await freePort()
    mkdirSync(`${userHome}/.local/bin`, { recursive: true })
    symlinkSync(await claudeBinary(), `${userHome}/.local/bin/claude`)
    chmodSync(settings, 0o600)
    const init = await this.user.run(['init', '--yes', '--fast', '--fast-port', String(this.port)])
    if (init.status !== 0) throw new Error(`init --fast failed: ${init.stderr}`)
    return { port: this.port, token: readFileSync(this.tokenFile(home), 'utf8').trim() }
  }

  private tokenFile(home: string): string {
    return homePaths(home).httpToken
  }

  get pass(): string {
    return INSTALL[this.way].pass
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
    await this.leave()
    this.proxy.close()
    await this.user.remove()
  }

  /** Another program on the collector's socket and port. The collector is back when the returned function has run. */
  async impersonate(behave: Behaviour): Promise<() => Promise<void>> {
    this.behave = behave
    if (this.impostors.length === 0) {
      await this.user.run(['down'])
      rmSync(this.socket, { force: true })
      for (const where of this.port === 0 ? [this.socket] : [this.socket, this.port])
        this.impostors.push(await standIn(where, (socket, request) => this.behave(socket, request)))
    }
    return async () => {
      await this.leave()
      await this.up()
    }
  }

  private async leave(): Promise<void> {
    await Promise.all(this.impostors.map((impostor) => impostor.close()))
    this.impostors = []
  }

  /** Events that came to the impostors. */
  received(event: string): number {
    return this.impostors.flatMap(({ received }) => received).filter(({ path }) => path.includes(`/${event}?`)).length
  }

  /** Another program has the port of the http hooks while the collector runs. */
  async takePort(body: string): Promise<() => Promise<void>> {
    await this.user.run(['down'])
    const other = await standIn(this.port, always(body, '200 OK', 'application/json'))
    await this.up()
    return async () => {
      await other.close()
      await this.user.run(['down'])
      await this.up()
    }
  }

  /** The collector is started with another token than the settings hold. */
  async otherToken(): Promise<() => Promise<void>> {
    const file = this.tokenFile(this.user.home)
    const kept = readFileSync(file, 'utf8')
    const restart = async (token: string) => {
      await this.user.run(['down'])
      writeFileSync(file, token)
      await this.up()
    }
    await restart('A'.repeat(43))
    return () => restart(kept)
  }

  /** Nothing brings it back but a hook. */
  async kill(): Promise<() => void> {
    await this.user.killCollector()
    return () => {}
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
      INSTALL[this.way].file === 'hook.sh'
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

  /** The project has settings of its own. */
  projectSettings(settings: object): () => void {
    const folder = `${this.user.project}/.claude`
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/settings.json`, JSON.stringify(settings))
    return () => rmSync(folder, { recursive: true })
  }

  /** By the project's own settings, everything of the agent goes through the proxy; the model is asked through it, too. */
  proxyEverything(): () => void {
    const url = this.proxyUrl
    return this.projectSettings({ env: { HTTPS_PROXY: url, https_proxy: url, NO_PROXY: '', no_proxy: '' } })
  }

  /** Takes every command hook out of the settings. */
  keepHttpOnly(): () => void {
    return this.changeSettings((settings) => ({
      ...settings,
      hooks: Object.fromEntries(
        Object.entries(settings.hooks).filter(([, groups]) => groups[0]?.hooks[0]?.type === 'http'),
      ),
    }))
  }

  private changeSettings(change: (settings: Settings) => Settings): () => void {
    const { settings } = this.user
    const whole = readFileSync(settings, 'utf8')
    writeFileSync(settings, JSON.stringify(change(JSON.parse(whole))))
    return () => writeFileSync(settings, whole)
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
