// The built-in policy for coding agents: clear dangers are denied, named dangers wait for a person, everything else runs.
import { DESTROY } from './destroy.ts'
import { GIT } from './git.ts'
import { GUARD } from './guard.ts'
import { REMOTE } from './remote.ts'
import { SECRETS } from './secrets.ts'
import { SETS } from './sets.ts'
import { SYSTEM } from './system.ts'

/** YAML text of `builtin:coding`. */
export const CODING = `version: 1
defaults: {unreadable: ask, error: ask, unknown_tool: flag, unknown_program: flag}
${SETS}
rules:
${[DESTROY, GIT, SECRETS, REMOTE, GUARD, SYSTEM].join('\n')}`
