// Decisions and tiers: the two closed vocabularies everything else speaks.

/** What the gate says of a call, strictest first. */
export const DECISIONS = ['deny', 'ask', 'flag', 'allow'] as const
export type Decision = (typeof DECISIONS)[number]

/** The strictest of several decisions; `allow` when there is none. */
export function strictest(decisions: Iterable<Decision>): Decision {
  let worst = DECISIONS.length - 1
  for (const decision of decisions) worst = Math.min(worst, DECISIONS.indexOf(decision))
  return DECISIONS[worst] ?? 'allow'
}

/**
 * How far to trust a record: T1 = our hook or SDK reported it, T2 = an enforcing gateway decided it, T3 = someone else's word,
 * receipt only. Set from the listener and credential the bytes came in by, never from what they say.
 */
export const TIERS = ['T1', 'T2', 'T3'] as const
export type Tier = (typeof TIERS)[number]

/** Who put a record into the log. `collector` and `person` report no agent activity and carry no tier. */
export const SOURCE_KINDS = ['hook', 'sdk', 'gateway', 'otlp', 'transcript', 'collector', 'person'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

/**
 * By which way in a hook's event came. `sh`: hook.sh with the system's curl. `node`: hook.cjs, where there is no such curl. `http`: the
 * agent's own HTTP request. Each needs its rows in the fault table of test/e2e/claude.
 */
export const WAYS_IN = ['sh', 'node', 'http'] as const
export type WayIn = (typeof WAYS_IN)[number]

/** The only tier each source may have. */
export const TIER_OF_SOURCE: Readonly<Record<SourceKind, Tier | undefined>> = {
  hook: 'T1',
  sdk: 'T1',
  transcript: 'T1',
  gateway: 'T2',
  otlp: 'T3',
  collector: undefined,
  person: undefined,
}

/** Why what a key signed is doubted. */
export const KEY_REVOCATIONS = ['stolen', 'lost', 'other'] as const

/** Why content is no longer kept: its time was over, or a person took it away. */
export const EXPIRY_REASONS = ['retention', 'purge'] as const

/**
 * Why an approval, or an answer to one, was refused. replayed: it was used or answered before. unsigned: there are approvers, and none
 * signed. signature: by none of them, or over something else.
 */
export const REFUSALS = [
  'unknown',
  'replayed',
  'not_approved',
  'rejected',
  'expired',
  'wrong_run',
  'wrong_call',
  'args_mismatch',
  'unsigned',
  'signature',
] as const
export type Refusal = (typeof REFUSALS)[number]
