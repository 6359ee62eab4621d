// Where Claude Code keeps its sessions: <settings folder>/projects/<project>/<session>.jsonl. Checked against Claude Code 2.1.332.
import { basename, dirname, join } from 'node:path'
import type { SessionFolder } from '../adapter.ts'

/** A sub-agent's own transcript is called agent-<id>.jsonl, or lies deeper. */
const TRANSCRIPT = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/

/** Claude Code names a project's folder after its path. Longer names it cuts; their sessions are not found by this. */
const UNFIT_FOR_NAME = /[^A-Za-z0-9]/g

/** The person's settings speak for every project; a project's `.claude/settings.local.json` only for sessions in that project. */
export function sessionFolder(settingsFile: string, userHome: string): SessionFolder {
  const folder = dirname(settingsFile)
  if (basename(settingsFile) !== 'settings.local.json') return { root: join(folder, 'projects') }
  return { root: join(userHome, '.claude', 'projects'), project: dirname(folder).replace(UNFIT_FOR_NAME, '-') }
}

export function sessionOf(fileName: string): string | undefined {
  return TRANSCRIPT.exec(fileName)?.[1]
}
