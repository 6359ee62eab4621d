// What `init`, `uninstall` and `doctor` share: which agents can be installed, and where things are.
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Where } from '../../hooks/install.ts'
import { type Context, textOption } from './context.ts'
import { CliError, EXIT_USAGE } from './exit.ts'

const INSTALLABLE = ['claude-code']

/** Throws CliError for an agent that can't be installed. */
export function checkAgent({ options }: Context): string {
  const agent = textOption(options, 'agent') ?? ''
  if (INSTALLABLE.includes(agent)) return agent
  throw new CliError(`the agent "${agent}" is not known; there are: ${INSTALLABLE.join(', ')}`, EXIT_USAGE)
}

/** Where the agent's settings are: the person's, or those of the project in this folder. */
export function whereOf({ home }: Context, project: boolean): Where {
  const { CLAUDE_CONFIG_DIR } = process.env
  return {
    home: home.root,
    userHome: homedir(),
    ...(CLAUDE_CONFIG_DIR ? { configDir: CLAUDE_CONFIG_DIR } : {}),
    ...(project ? { project: process.cwd() } : {}),
  }
}

/** Folder of the bundles that run now. */
export function bundleDir(): string {
  return dirname(fileURLToPath(import.meta.url))
}
