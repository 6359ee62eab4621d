// What a claim must have before anything is recorded of it. Ids are never invented: a missing or unusable one is a refusal.
import type { Claim } from '../conventions/claim.ts'
import { idText } from '../conventions/record.ts'

const REQUIRED = ['agent', 'session'] as const
const REQUIRED_OF_CALLS = ['callId', 'tool'] as const
const OPTIONAL = [
  'turn',
  'sub',
  'subType',
  'tool',
  'callId',
  'agentVersion',
  'permissionMode',
  'reason',
  'launched',
  'nativeEvent',
] as const
const CALL_EVENTS: ReadonlySet<Claim['event']> = new Set(['tool.before', 'tool.after', 'tool.failed', 'tool.reported'])

/** Names the first field that can't be used and why; null when all can. */
export function claimProblem(claim: Claim): string | null {
  const required = CALL_EVENTS.has(claim.event) ? [...REQUIRED, ...REQUIRED_OF_CALLS] : REQUIRED
  for (const field of required) if (claim[field] === undefined) return `${field} is missing`
  for (const field of [...REQUIRED, ...OPTIONAL]) {
    const value = claim[field]
    if (value !== undefined && !idText.safeParse(value).success)
      return `${field} must be 1 to 128 printable ASCII characters without spaces`
  }
  if (claim.event === 'tool.before' && claim.args === undefined)
    return 'the arguments (gen_ai.tool.call.arguments) are missing'
  return null
}
