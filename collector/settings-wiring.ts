// The settings gate: after a change of an agent's settings, are our hooks still in force?
import type { Claim } from '../conventions/claim.ts'
import type { HomePaths } from '../conventions/home.ts'
import type { Body } from '../conventions/record.ts'
import { httpHandlers, readInstalls, settingsProblem } from '../hooks/install.ts'
import { readRegularFile } from './read-file.ts'

/** Bytes. A longer settings file is cut, which makes it unreadable as JSON, which is a problem. */
const MAX_SETTINGS_BYTES = 4 * 1024 * 1024

type Problem = Body<'settings.changed'>['problem']

/** Looks at the file the agent names and at every file we are installed in; the first problem counts. */
export function settingsProblemOf(home: HomePaths): (claim: Claim) => Problem {
  return ({ agent, file }) => {
    try {
      const installs = readInstalls(home.root).filter((install) => install.agent === agent)
      const files = new Set([...installs.map((install) => install.file), ...(file === undefined ? [] : [file])])
      const http = installs.some((install) => httpHandlers(install).length > 0)
      for (const path of files) {
        const problem = settingsProblem(
          readRegularFile(path, MAX_SETTINGS_BYTES),
          installs.find((install) => install.file === path) ?? null,
          http,
        )
        if (problem !== 'none') return problem
      }
      return 'none'
    } catch {
      // What can't be read can't be known to be intact.
      return 'unreadable'
    }
  }
}
