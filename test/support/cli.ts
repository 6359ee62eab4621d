// The built `spanseal` as a person runs it: in a temporary user's home, as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { lockHolder } from '../../collector/lock.ts'
import { homeSockets } from '../../collector/sockets.ts'
import { homePaths } from '../../conventions/home.ts'

export const CLI = resolve('dist/spanseal.mjs')

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  /** Everything of the environment, instead of PATH and HOME. */
  wholeEnv?: Record<string, string>
  cwd?: string
  input?: string | Uint8Array
  /** Another copy of the command. */
  cli?: string
}

export class TempUser {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'spanseal-cli-')))
  readonly userHome: string
  readonly project: string
  /** The Spanseal home. */
  readonly home: string

  /** `name` of the user's home folder: anything a file system takes. */
  constructor(name = 'home') {
    this.userHome = `${this.root}/${name}`
    this.project = `${this.userHome}/project`
    this.home = `${this.userHome}/.spanseal`
    mkdirSync(this.project, { recursive: true })
  }

  /** A folder of the Spanseal home with a free OTLP port, without anything else. */
  withConfig(text = 'version: 1\notlp: { port: 0 }\n'): this {
    mkdirSync(this.home, { mode: 0o700, recursive: true })
    writeFileSync(`${this.home}/config.yaml`, text, { mode: 0o600 })
    return this
  }

  run(args: string[], options: RunOptions = {}): Promise<Ran> {
    return finish(this.start(args, options), options.input)
  }

  start(args: string[], options: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [options.cli ?? CLI, ...args], {
      cwd: options.cwd ?? this.project,
      env: options.wholeEnv ?? { PATH: '/usr/bin:/bin', HOME: this.userHome, ...options.env },
    })
  }

  /** JSON that a command prints. Fails the test when it did not end well. */
  async json(args: string[], options: RunOptions = {}): Promise<unknown> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], options)
    if (status !== 0) throw new Error(`spanseal ${args.join(' ')} ended with ${status}: ${stderr}`)
    return JSON.parse(stdout)
  }

  /** The hook that is installed for an event, run as the agent runs it. */
  hook(event: string, payload: object, settings = `${this.userHome}/.claude/settings.json`): Promise<Ran> {
    const command = hookCommand(settings, event)
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: this.project,
      env: { PATH: '/usr/bin:/bin', HOME: this.userHome },
    })
    return finish(child, JSON.stringify(payload))
  }

  get collectorPid(): number | null {
    return lockHolder(`${this.home}/run/collector.lock`)
  }

  /** Stops the collector and removes everything. */
  async remove(): Promise<void> {
    await this.run(['down'])
    const left = this.collectorPid
    if (left !== null) process.kill(left, 'SIGKILL')
    for (const dir of [homeSockets(homePaths(this.home)).dir, this.root]) rmSync(dir, { recursive: true, force: true })
  }
}

/** The built command, run by nobody in particular: for homes that are not a user's. */
export function runCli(args: string[]): Promise<Ran> {
  return finish(spawn(process.execPath, [CLI, ...args], { env: { PATH: '/usr/bin:/bin', HOME: tmpdir() } }))
}

/** Command line of our hook for an event in a settings file. */
export function hookCommand(settings: string, event: string): string {
  const { hooks } = JSON.parse(readFileSync(settings, 'utf8')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
  }
  const command = hooks[event]
    ?.flatMap((group) => group.hooks)
    .find((hook) => hook.command.includes('.spanseal'))?.command
  if (command === undefined) throw new Error(`no hook of ours for ${event} in ${settings}`)
  return command
}

function finish(child: ChildProcess, input?: string | Uint8Array): Promise<Ran> {
  return new Promise((done, fail) => {
    const out = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8')
      child[name]?.on('data', (chunk: string) => {
        out[name] += chunk
      })
    }
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    child.on('error', fail)
    child.on('close', (status) => done({ status, ...out }))
  })
}
