// One decision: facts of the call, every rule that matches, the strictest of what they say.
import type { Decision } from '../../conventions/decision.ts'
import { DECISIONS, strictest } from '../../conventions/decision.ts'
import type { Facts, GateCall, GateDecision, OpaqueKind } from './call.ts'
import type { Policy } from './compile.ts'
import { beyondScope, broken, inWords } from './constraints/index.ts'
import { emptyFacts } from './facts/sink.ts'
import { readCall } from './facts/tools.ts'
import { type PathLists, View } from './match.ts'

/** Rules that hold under every policy; their strictness comes from the policy's defaults. */
export const ENGINE_RULES = {
  oversize: 'SP-OVERSIZE',
  unreadable: 'SP-UNREADABLE',
  error: 'SP-ERROR',
  unknownTool: 'SP-UNKNOWN-TOOL',
  unknownProgram: 'SP-UNKNOWN-PROGRAM',
  constraint: 'SP-CONSTRAINT',
  constraintsLost: 'SP-CONSTRAINTS-LOST',
  scope: 'SP-SCOPE',
} as const

/** Says something about a call without making it unreadable; rules speak of them. */
const READABLE: ReadonlySet<OpaqueKind> = new Set<OpaqueKind>(['oversize', 'fork_bomb', 'sandbox_off'])

const WHY: Partial<Record<OpaqueKind, string>> = {
  syntax: 'it is no complete shell syntax',
  hidden: 'it holds characters that hide or imitate text',
  too_long: 'it is longer than 10,000 characters; put long text into a file with the Write tool',
  too_deep: 'it is nested too deeply',
  too_many_steps: 'it takes too many steps to follow',
  dynamic_command: 'the program is only known at run time; name it directly',
  odd_name: 'a name in it is not written plainly',
  foreign_shell: 'it hands text to a shell that the gate does not read',
  no_command: 'it names nothing to check',
  arguments: 'its arguments are not an object',
  reader_failed: 'reading it failed',
}

interface Matched {
  id: string
  decision: Decision
  reason: string
}

/** Decides a call. Never throws: a failure of the gate is a decision, too. */
export function decide(policy: Policy, call: GateCall): GateDecision {
  let facts: Facts
  let matched: Matched[]
  try {
    facts = readCall(call)
    matched = [...byDefaults(policy, facts), ...byRules(policy, call, facts), ...byConstraints(call, facts)]
  } catch {
    facts = emptyFacts(call.tool)
    matched = [
      {
        id: ENGINE_RULES.error,
        decision: policy.defaults.error,
        reason: 'The gate could not read this call. Try a simpler form of it.',
      },
    ]
  }
  const sorted = DECISIONS.flatMap((decision) => matched.filter((one) => one.decision === decision))
  const decision = strictest(sorted.map((one) => one.decision))
  return {
    decision,
    rules: sorted.map(({ id }) => id),
    // A denied call is not told to ask a person because a weaker rule matched, too.
    reasons: sorted.filter((one) => one.decision === decision).map(({ reason }) => reason),
    facts,
    policyHash: policy.hash,
  }
}

function byRules(policy: Policy, { home, project, spansealHome }: GateCall, facts: Facts): Matched[] {
  const lists = listsFor(policy, [home, project, spansealHome].join('\n'))
  return policy.index.matching(new View(facts, { home, project, spansealHome }, lists)).flatMap((number) => {
    const rule = policy.rules[number]
    return rule === undefined ? [] : [{ id: rule.id, decision: rule.then, reason: rule.reason }]
  })
}

function byConstraints(call: GateCall, facts: Facts): Matched[] {
  const { constraints = [], constraintsLost = false } = call
  if (constraints.length === 0 && !constraintsLost) return []
  const out: Matched[] = []
  const held = broken(constraints, call, facts)
  if (held.length > 0) {
    out.push({
      id: ENGINE_RULES.constraint,
      decision: 'ask',
      reason: `The person's request in this run said not to ${inWords(held)}; ask the person.`,
    })
  }
  if (constraintsLost && [...facts.writes, ...facts.deletes].some(({ zone }) => zone !== 'temp')) {
    out.push({
      id: ENGINE_RULES.constraintsLost,
      decision: 'ask',
      reason: 'More was forbidden in this run than can be kept, so every change of a file waits for the person.',
    })
  }
  if (held.length === 0 && beyondScope(constraints, call, facts)) {
    out.push({ id: ENGINE_RULES.scope, decision: 'flag', reason: 'It changes more than the person asked for.' })
  }
  return out
}

/** Homes and projects whose compiled path lists are kept; one machine has few at a time. */
const MAX_PLACES_KEPT = 32

function listsFor({ lists }: Policy, where: string): PathLists {
  const kept = lists.get(where)
  if (kept !== undefined) return kept
  if (lists.size >= MAX_PLACES_KEPT) lists.clear()
  const made: PathLists = new Map()
  lists.set(where, made)
  return made
}

function byDefaults({ defaults }: Policy, facts: Facts): Matched[] {
  const out: Matched[] = []
  if (facts.opaque.some(({ kind }) => kind === 'oversize')) {
    out.push({
      id: ENGINE_RULES.oversize,
      decision: 'deny',
      reason: 'The command is longer than 64 KiB. Write long text with the Write tool and keep the command short.',
    })
  }
  const unreadable = [...new Set(facts.opaque.map(({ kind }) => kind))].filter((kind) => !READABLE.has(kind))
  if (unreadable.length > 0) {
    const why = unreadable.map((kind) => WHY[kind] ?? kind).join('; ')
    out.push({
      id: ENGINE_RULES.unreadable,
      decision: defaults.unreadable,
      reason: `The gate can't tell what this would do: ${why}. Use a plain form of the command.`,
    })
  }
  if (!facts.knownTool)
    out.push({
      id: ENGINE_RULES.unknownTool,
      decision: defaults.unknown_tool,
      reason: 'The gate does not know this tool; it looked at its arguments only.',
    })
  if (facts.runs.some((run) => !run.known))
    out.push({
      id: ENGINE_RULES.unknownProgram,
      decision: defaults.unknown_program,
      reason: 'The gate does not know one of these programs.',
    })
  return out
}
