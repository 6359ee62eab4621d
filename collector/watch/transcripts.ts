// Finds transcripts under an agent's session folder. Looks at names only; follows no link, and gives up on no error.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionFolder } from '../../hooks/adapter.ts'

/** Project folders and transcripts that are watched at most: what is beyond is counted, so that a huge folder costs no more. */
const MAX_FOLDERS = 2_000
const MAX_FILES = 10_000

export interface Found {
  path: string
  session: string
}

export interface Search {
  found: Found[]
  /** Folders that can't be read, and files and folders beyond the limits. */
  errors: number
}

/** The transcripts in `<root>/<project>/`: entries that are folders and regular files by their own kind, not by what they link to. */
export async function findTranscripts(
  { root, project }: SessionFolder,
  sessionOf: (fileName: string) => string | undefined,
): Promise<Search> {
  const search: Search = { found: [], errors: 0 }
  const projects = (await list(root, search))
    .filter((entry) => entry.isDirectory() && (project === undefined || entry.name === project))
    .map(({ name }) => name)
  search.errors += Math.max(0, projects.length - MAX_FOLDERS)
  for (const name of projects.slice(0, MAX_FOLDERS)) {
    for (const entry of await list(join(root, name), search)) {
      const session = entry.isFile() ? sessionOf(entry.name) : undefined
      if (session === undefined) continue
      if (search.found.length < MAX_FILES) search.found.push({ path: join(root, name, entry.name), session })
      else search.errors++
    }
  }
  return search
}

async function list(folder: string, search: Search) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    // An agent that was never started has no folder yet.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') search.errors++
    return []
  }
}
