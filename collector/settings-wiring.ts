// The settings gate: after a change of an agent's settings, are our hooks still in force?
import { readFileSync } from 'node:fs'
import type { Claim } from '../conventions/claim.ts'
import type { HomePaths } from '../conventions/home.ts'
import type { Body } from '../conventions/record.ts'
import { readInstalls, settingsProblem } from '../hooks/install.ts'

type Problem = Body<'settings.changed'>['problem']

/** Looks at the file the agent names and at every file we are installed in; the first problem counts. */
export function settingsProblemOf(home: HomePaths): (claim: Claim) => Problem {
  return ({ agent, file }) => {
    try {
      const installs = readInstalls(home.root).filter((install) => install.agent === agent)
      const files = new Set([...installs.map((install) => install.file), ...(file === undefined ? [] : [file])])
      for (const path of files) {
        const problem = settingsProblem(read(path), installs.find((install) => install.file === path) ?? null)
        if (problem !== 'none') return problem
      }
      return 'none'
    } catch {
      // What can't be read can't be known to be intact.
      return 'unreadable'
    }
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
