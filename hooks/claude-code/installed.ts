// The Claude Codes of this machine and their versions: what can be relied on in settings they all read is what the oldest knows.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** Milliseconds. `--version` does nothing but print; a cold disk may be slow. */
const VERSION_MS = 20_000

export interface FoundClaude {
  file: string
  /** As it says itself; null when it can't be run or says something else. */
  version: string | null
}

/**
 * Every `claude` on PATH and in the usual places: the native installer's, npm's, Homebrew's, and those inside editor extensions. The same
 * file under several names counts once. One that lies elsewhere is not found.
 */
export async function findClaudes(env: NodeJS.ProcessEnv, userHome: string): Promise<FoundClaude[]> {
  const folders = [
    ...(env.PATH ?? '').split(':').filter(isAbsolute),
    ...['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'],
    ...['.local/bin', '.claude/local', '.npm-global/bin', '.bun/bin', 'bin'].map((folder) => join(userHome, folder)),
    ...EDITORS.flatMap((editor) => insideExtensions(join(userHome, editor, 'extensions'))),
  ]
  const files = new Map<string, string>()
  for (const file of folders.map((folder) => join(folder, 'claude'))) {
    if (!existsSync(file)) continue
    const real = realpathSync(file)
    if (!files.has(real)) files.set(real, file)
  }
  return Promise.all([...files.values()].map(async (file) => ({ file, version: await versionOf(file, env, userHome) })))
}

/** Whether `version` is `least` or newer; both as 1.2.3. */
export function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map(Number))
  for (const i of [0, 1, 2]) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

const EDITORS = ['.vscode', '.vscode-server', '.vscode-insiders', '.cursor', '.cursor-server', '.windsurf']

function insideExtensions(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.startsWith('anthropic.claude-code-'))
    .map((name) => join(folder, name, 'resources/native-binary'))
}

function versionOf(file: string, { PATH }: NodeJS.ProcessEnv, HOME: string): Promise<string | null> {
  // PATH: npm's `claude` is a script that looks for its Node there.
  const options = { timeout: VERSION_MS, cwd: '/', env: { HOME, ...(PATH === undefined ? {} : { PATH }) } }
  return new Promise((resolve) => {
    execFile(file, ['--version'], options, (error, stdout) =>
      resolve(error === null ? (/^(\d+\.\d+\.\d+)(?:[ -]|$)/m.exec(stdout)?.[1] ?? null) : null),
    )
  })
}
