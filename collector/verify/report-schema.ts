// The report's shape as a schema: published as docs/schema/report.schema.json for whoever reads `verify --json`. Nothing is parsed with
// it when verifying; tests hold every golden report to it, and the types hold it to the report.
import * as z from 'zod'
import { APPROVER_KINDS } from '../../conventions/approval.ts'
import { CODES, type Code } from './findings.ts'
import type { Report } from './report.ts'

const count = z.int().min(0)
const covered = z.strictObject({ size: count, key: z.string() })
const hex = (chars: number) => z.string().regex(new RegExp(`^[0-9a-f]{${chars}}$`))
const verdicts = [
  'agrees',
  'receipt',
  'damaged',
  'not_signed',
  'beyond_log',
  'mismatch',
  'fork',
  'other_key',
  'other_log',
] as const

export const REPORT = z.strictObject({
  v: z.literal(1),
  subject: z.enum(['home', 'bundle', 'index']),
  time: z.iso.datetime(),
  status: z.enum(['intact', 'self_consistent', 'broken', 'unusable']),
  exit: z.literal([0, 1, 2, 3]),
  unusable: z.string().nullable(),
  log: z.strictObject({ id: hex(32), origin: z.string(), log_key: z.string(), genesis: hex(64) }).nullable(),
  scope: z.strictObject({ run: z.string(), part: count.nullable() }).nullable(),
  size: count,
  read: count,
  pinned: z.strictObject({ genesis: z.boolean(), log_key: z.boolean() }),
  checkpoint: covered.nullable(),
  signed_only: count,
  torn_end: z.boolean(),
  outside: covered.nullable(),
  copies: z
    .strictObject({
      from: z.string(),
      not_checked: z.array(z.string()),
      counts: z.strictObject(Object.fromEntries(verdicts.map((verdict) => [verdict, count])) as Verdicts),
      agree_to: count.nullable(),
    })
    .exactOptional(),
  decisions: z
    .strictObject({
      decided: count,
      observed: count,
      ran_against_deny: count,
      ran_without_approval: count,
      other_arguments: count,
      ungated: count,
      approvals_asked: count,
      approvals_used: count,
      approvals_rejected: count,
      approvals_ended: count,
      unauthenticated: count,
      signed: count,
      break_glass: count,
    })
    .nullable(),
  approvers: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(APPROVER_KINDS),
      kid: z.string(),
      added: count,
      removed: count.nullable(),
      vouched: z.enum(['pinned', 'approver', 'nobody']),
      answers: count,
    }),
  ),
  evidence: z
    .strictObject({
      T1: count,
      T2: count,
      T3: count,
      untiered: count,
      unknown_types: count,
      gaps: z.array(z.strictObject({ kind: z.string(), count, first: z.string(), last: z.string() })),
      fail_modes: z.array(z.string()),
    })
    .nullable(),
  content: z
    .strictObject({ matched: count, salt_only: count, expired: count, missing: count, mismatched: count, later: count })
    .nullable(),
  findings: z.array(
    z.strictObject({
      code: z.enum(Object.keys(CODES) as [Code, ...Code[]]),
      severity: z.enum(['broken', 'enforcement', 'warning']),
      count,
      records: z.array(count),
      notes: z.array(z.string()),
    }),
  ),
}) satisfies z.ZodType<Report>

type Verdicts = Record<(typeof verdicts)[number], typeof count>

/** Text of docs/schema/report.schema.json (JSON Schema 2020-12). */
export function reportSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(REPORT), null, 2)}\n`
}
