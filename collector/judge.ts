// What a policy says of tool calls that others report, after the fact: `would_deny` and the like. It stops nothing, so it
// is never called a decision, and nothing of it is recorded: it can be said again at any time, under another policy, too.
import { homedir } from 'node:os'
import type { View } from '../conventions/dialects/view.ts'
import { homePaths } from '../conventions/home.ts'
import type { Would } from '../conventions/import.ts'
import { parseStrict } from '../conventions/strict-json.ts'
import { decide, type GateCall } from './gate/index.ts'
import { readHomePolicy } from './gate-wiring.ts'

/**
 * Where a reported call ran is not known. Relative paths are taken to lie in a project of this name, which is nowhere; symbolic links
 * are not followed.
 */
const UNKNOWN_PROJECT = '/unknown-project'

/** Judges by the home's policy as it is at this call. Without one that can be used, nothing is said of any call. */
export function judgeOf(root: string, userHome: string = homedir()): (view: View) => Would | undefined {
  const home = homePaths(root)
  const read = readHomePolicy(home)
  if (!read.ok) return () => undefined
  const { policy } = read
  return ({ operation, tool, agent, content, cut }) => {
    // Of cut arguments nobody can tell what the rest would do.
    if (operation !== 'execute_tool' || tool === undefined || content.arguments === undefined) return undefined
    if (cut.includes('arguments')) return undefined
    const parsed = parseStrict(content.arguments, { looseNumbers: true })
    // Some libraries send one argument alone, or text made of them: that is not what a gate would have been asked.
    if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
      return undefined
    const call: GateCall = {
      agent: agent ?? 'unknown',
      tool,
      args: parsed.value,
      cwd: UNKNOWN_PROJECT,
      project: UNKNOWN_PROJECT,
      home: userHome,
      spansealHome: home.root,
    }
    const { decision, rules, policyHash } = decide(policy, call)
    return { decision, rules, policyHash }
  }
}
