// What a claim must have before anything is recorded of it. Ids are never invented: a missing or unusable one is a refusal.
import type { Claim } from '../conventions/claim.ts'
import { MAX_ID_CHARS, MAX_NAME_CHARS } from '../conventions/limits.ts'
import { idText, nameText } from '../conventions/names.ts'
import type { Reporter } from './record/context.ts'

const REQUIRED = ['agent', 'session'] as const
const REQUIRED_OF_CALLS = ['callId', 'tool'] as const
const IDS = ['session', 'turn', 'sub', 'callId', 'launched', 'approval'] as const
const NAMES = ['agent', 'agentVersion', 'subType', 'tool', 'permissionMode', 'reason', 'nativeEvent'] as const
const COMPLETIONS: ReadonlySet<Claim['event']> = new Set(['tool.after', 'tool.failed'])
const CALL_EVENTS: ReadonlySet<Claim['event']> = new Set(['tool.before', 'tool.after', 'tool.failed', 'tool.reported'])

/**
 * Names the first field that can't be used and why; null when all can. `kind`: who says it. A program that was written to ask must also
 * say what ran; an agent's hook tells what the agent tells it.
 */
export function claimProblem(claim: Claim, kind: Reporter['kind']): string | null {
  const required = CALL_EVENTS.has(claim.event) ? [...REQUIRED, ...REQUIRED_OF_CALLS] : REQUIRED
  for (const field of required) if (claim[field] === undefined) return `${field} is missing`
  for (const field of IDS) if (!fits(idText, claim[field])) return unusable(field, MAX_ID_CHARS)
  for (const field of NAMES) if (!fits(nameText, claim[field])) return unusable(field, MAX_NAME_CHARS)
  if (claim.durationMs !== undefined && claim.durationMs < 0) return 'durationMs must not be negative'
  const mustTellArgs = claim.event === 'tool.before' || (kind !== 'hook' && COMPLETIONS.has(claim.event))
  if (mustTellArgs && claim.args === undefined) return 'the arguments (gen_ai.tool.call.arguments) are missing'
  return null
}

const fits = (schema: typeof idText, value: string | undefined) =>
  value === undefined || schema.safeParse(value).success

const unusable = (field: string, max: number) =>
  `${field} must be 1 to ${max} printable ASCII characters without spaces`
