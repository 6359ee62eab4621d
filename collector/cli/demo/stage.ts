// The demo's stage: a temporary user with a home, a project and Claude Code's settings; nothing of the real one is touched.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type HookRun, runHook } from '../run-hook.ts'

/** Milliseconds. A hook that is held waits for the approval the demo gives at once. */
const HOOK_MS = 60_000

/** What the temporary user had in the settings before: it must be there again at the end, byte for byte. */
const SETTINGS_BEFORE = '{\n  "model": "opus",\n  "permissions": { "allow": ["Bash(ls:*)"] }\n}\n'

export class Stage {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'spanseal-demo-')))
  readonly userHome = `${this.root}/home`
  readonly project = `${this.userHome}/project`
  readonly home = `${this.userHome}/.spanseal`
  readonly settings = `${this.userHome}/.claude/settings.json`
  private readonly env = { PATH: '/usr/bin:/bin', HOME: this.userHome, LC_ALL: 'C.UTF-8' }

  constructor() {
    mkdirSync(this.project, { recursive: true })
    mkdirSync(`${this.userHome}/.claude`)
    writeFileSync(this.settings, SETTINGS_BEFORE)
  }

  /** A `spanseal` command as a process of its own, in the temporary home. */
  command(...args: string[]): Promise<HookRun> {
    // The bundle this runs from.
    const cli = fileURLToPath(new URL('./spanseal.mjs', import.meta.url))
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [cli, ...args], {
        env: this.env,
        cwd: this.project,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const out = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8')
        child[name].on('data', (chunk: string) => {
          out[name] += chunk
        })
      }
      child.on('error', reject)
      child.on('close', (status) => resolve({ status, ...out }))
    })
  }

  /** The hook of an event as the settings name it, run as Claude Code runs it. */
  hook(event: string, payload: object): Promise<HookRun> {
    const settings = JSON.parse(readFileSync(this.settings, 'utf8')) as {
      hooks?: Record<string, { hooks: { command: string }[] }[] | undefined>
    }
    const command = settings.hooks?.[event]?.[0]?.hooks[0]?.command
    if (command === undefined) throw new Error(`no hook is installed for ${event}`)
    return runHook(command, payload, { env: this.env, cwd: this.project, timeoutMs: HOOK_MS })
  }

  /** A copy of what is recorded, to do harm to. */
  copy(): string {
    const to = `${this.root}/copy`
    for (const folder of ['log', 'vault']) cpSync(`${this.home}/${folder}`, `${to}/${folder}`, { recursive: true })
    return to
  }

  /** Whether the settings are what they were before. */
  settingsRestored(): boolean {
    return readFileSync(this.settings, 'utf8') === SETTINGS_BEFORE
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
