// Puts the installed hook files of one home into a temporary folder and runs them as the agent would: through sh -c.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { build } from 'esbuild'
import { shellQuote } from '../../../hooks/sh/quote.ts'
import { type HookSettings, renderShHook } from '../../../hooks/sh/render.ts'

export type Kind = 'sh' | 'node'

export interface Installed {
  dir: string
  socket: string
  /** Written where the settings say the CLI is: what `up` does. */
  setCli(code: string): void
  /** The command line an agent's settings would hold, without agent and event. */
  command(kind: Kind, change?: Partial<HookSettings & { curl: string; shell: string }>): string
  remove(): void
}

const template = readFileSync('hooks/sh/hook.sh', 'utf8')
const bundle = build({
  entryPoints: ['hooks/node/hook.ts'],
  bundle: true,
  platform: 'node',
  format: 'cjs',
  minify: true,
  write: false,
}).then((result) => result.outputFiles[0]?.text ?? '')

/** For tests that expect a failure anyway, so that a busy machine changes nothing. */
export const SHORT = { answer: 1, start: 20, wait: 1 }

export async function install(name = 'plain', settings: Partial<HookSettings> = {}): Promise<Installed> {
  const root = realpathSync(mkdtempSync(`${tmpdir()}/sps-`))
  const dir = `${root}/${name}`
  mkdirSync(dir)
  const hookCjs = await bundle
  const cli = `${dir}/cli.mjs`
  writeFileSync(cli, 'console.error("first line\\nno collector in this test"); process.exitCode = 1')
  let count = 0
  return {
    dir,
    socket: `${dir}/hook.sock`,
    setCli: (code) => writeFileSync(cli, code),
    command(kind, change = {}) {
      const { curl = '/usr/bin/curl', shell, ...rest } = change
      const all: HookSettings = {
        home: dir,
        userHome: dir,
        hookSocket: `${dir}/hook.sock`,
        runtime: process.execPath,
        cli,
        mode: 'enforce',
        failMode: 'closed',
        ...settings,
        ...rest,
      }
      const bin = `${dir}/bin ${count++}`
      mkdirSync(bin)
      if (kind === 'sh') {
        writeFileSync(`${bin}/hook.sh`, renderShHook(template, { ...all, curl }), { mode: 0o700 })
        return `${shell === undefined ? '' : `${shell} `}${shellQuote(`${bin}/hook.sh`)}`
      }
      writeFileSync(`${bin}/hook.cjs`, hookCjs)
      writeFileSync(`${bin}/hook.json`, JSON.stringify(all))
      return `/usr/bin/env -i ${shellQuote(process.execPath)} ${shellQuote(`${bin}/hook.cjs`)}`
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

/** Runs a hook command as Claude Code does (`/bin/sh -c`), with the payload on stdin. */
export function run(
  command: string,
  event: string,
  payload: string | Uint8Array = '{}',
  options: { env?: Record<string, string>; cwd?: string; killAfterMs?: number } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `exec ${command} claude-code ${event}`], {
      env: options.env ?? { PATH: '/usr/bin:/bin', HOME: '/nonexistent' },
      cwd: options.cwd ?? '/',
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    // A hook that leaves without reading its input breaks this pipe; that is allowed.
    child.stdin.on('error', () => {})
    child.stdin.end(payload)
    if (options.killAfterMs !== undefined) setTimeout(() => child.kill('SIGTERM'), options.killAfterMs)
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}
