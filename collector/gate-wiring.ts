// Wires the gate to a run: what it is told of a call, and which policy is in force.
import { readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Claim } from '../conventions/claim.ts'
import type { Stated } from '../conventions/constraint.ts'
import type { HomePaths } from '../conventions/home.ts'
import type { Json } from '../conventions/strict-json.ts'
import { parseStrict } from '../conventions/strict-json.ts'
import {
  decide,
  explain,
  type GateCall,
  loadPolicy,
  type Policy,
  type PolicyResult,
  problemText,
  statedIn,
} from './gate/index.ts'
import { isThere, readRegularFile } from './read-file.ts'
import type { Verdict } from './record/calls.ts'
import type { Run } from './record/state.ts'

export interface Gate {
  policyHash: string
  origin: 'builtin' | 'file'
  rules: number
  decide(run: Run, claim: Claim): Verdict & { explanation: string }
  /** What a prompt forbids. */
  stated(prompt: string): Stated
}

/** The policy can't be used; the message lists every error. */
export class PolicyError extends Error {
  override name = 'PolicyError'
}

/** Bytes of .git/HEAD that are read: a ref name is far shorter. */
const MAX_HEAD_BYTES = 1024

/** Loads the home's policy.yaml, or the built-in pack where there is none. Throws PolicyError. */
export function openGate(home: HomePaths, userHome?: string): Gate {
  const read = readGate(home, userHome)
  if (!read.ok) throw new PolicyError(`${home.policy} can't be used:\n  ${read.errors.join('\n  ')}`)
  return read.gate
}

export type GateResult = { ok: true; gate: Gate } | { ok: false; errors: string[] }

/** The home's policy, or all errors of its file. */
export function readHomePolicy(home: HomePaths): PolicyResult {
  if (!isThere(home.policy)) return loadPolicy()
  try {
    return loadPolicy({ text: readFileSync(home.policy, 'utf8'), path: home.policy, readFile: readPolicyFile })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return { ok: false, errors: [{ path: '', message: `can't be read (${error.code})` }] }
  }
}

/** Bytes. A longer file is no policy. */
const MAX_POLICY_BYTES = 4 * 1024 * 1024

/** Text of a file that a policy extends; null when it can't be read. */
export function readPolicyFile(path: string): string | null {
  try {
    return readRegularFile(path, MAX_POLICY_BYTES)
  } catch {
    return null
  }
}

/** The same with all errors as a list, each naming its field. */
export function readGate(home: HomePaths, userHome: string = homedir()): GateResult {
  const own = isThere(home.policy)
  const loaded = readHomePolicy(home)
  if (!loaded.ok) return { ok: false, errors: loaded.errors.map(problemText) }
  const { policy } = loaded
  const gate: Gate = {
    policyHash: policy.hash,
    origin: own ? 'file' : 'builtin',
    rules: policy.rules.length,
    decide: (run, claim) => judge(policy, home, userHome, run, claim),
    stated: statedIn,
  }
  return { ok: true, gate }
}

function judge(
  policy: Policy,
  home: HomePaths,
  userHome: string,
  run: Run,
  claim: Claim,
): Verdict & { explanation: string } {
  const parsed = parseStrict(claim.args ?? '', { looseNumbers: true })
  const cwd = claim.cwd ?? run.project ?? '/'
  const project = run.project ?? cwd
  const decision = decide(policy, {
    agent: claim.agent,
    tool: claim.tool ?? '',
    // Text that is no JSON is no object: the gate sees a call whose arguments it can't read.
    args: parsed.ok ? parsed.value : (claim.args ?? ''),
    ...projectOf(project),
    cwd,
    home: userHome,
    spansealHome: home.root,
    constraints: run.constraints,
    constraintsLost: run.constraintsLost,
  })
  return {
    decision: decision.decision,
    rules: decision.rules,
    policyHash: decision.policyHash,
    facts: JSON.parse(JSON.stringify(decision.facts)) as Json,
    explanation: explain(decision),
  }
}

/** What the gate asks of a project on this machine: its branch, and where links in it lead. */
export function projectOf(project: string): Pick<GateCall, 'cwd' | 'project' | 'branch' | 'realpath'> {
  const branch = branchOf(project)
  return { cwd: project, project, ...(branch === undefined ? {} : { branch }), realpath }
}

function realpath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** The branch checked out in a project, where git says one. */
function branchOf(project: string): string | undefined {
  try {
    const head = readRegularFile(resolve(project, '.git/HEAD'), MAX_HEAD_BYTES) ?? ''
    return /^ref: refs\/heads\/(\S+)/.exec(head)?.[1]
  } catch {
    return undefined
  }
}
