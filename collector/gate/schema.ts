// The policy file as zod sees it: what a rule may say, field by field.
import * as z from 'zod'
import { DECISIONS } from '../../conventions/decision.ts'
import { ruleIdText } from '../../conventions/names.ts'
import { CARGO, COVERS, ENV_KINDS, FEED_SOURCES, HOST_KINDS, OPAQUE_KINDS, ZONES } from './call.ts'

/** Characters. A rule's reason is one or two sentences for the model. */
const MAX_REASON_CHARS = 500
const MAX_PATTERN_CHARS = 2_000
/** Rules of one file; the built-in pack has about fifty. */
const MAX_RULES = 1_000
/** Test calls of one file: each is decided when it is loaded. */
export const MAX_TESTS = 2_000
/** Entries of a list that people write by hand. */
const MAX_ENTRIES = 100

const pattern = z.string().min(1).max(MAX_PATTERN_CHARS)
/** One value or a list of them; any may match. */
const many = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)])
const patterns = many(pattern)

const pathTest = z.union([
  patterns,
  z.strictObject({
    /** Path patterns or `$set`. */
    in: patterns.optional(),
    zone: many(z.enum(ZONES)).optional(),
    covers: many(z.enum(COVERS)).optional(),
    recursive: z.boolean().optional(),
    by: patterns.optional(),
    not_by: patterns.optional(),
    /** Path patterns or `$set` that must not match. */
    not_in: patterns.optional(),
  }),
])

const netTest = z.strictObject({
  dir: z.enum(['in', 'out']).optional(),
  kind: many(z.enum(HOST_KINDS)).optional(),
  carries: many(z.enum(CARGO)).optional(),
  host: patterns.optional(),
  scheme: patterns.optional(),
  port: patterns.optional(),
  path: patterns.optional(),
  userinfo: z.boolean().optional(),
  by: patterns.optional(),
})

const feedTest = z.strictObject({
  from: many(z.enum(FEED_SOURCES)).optional(),
  into: many(z.enum(['shell', 'interpreter'])).optional(),
  by: patterns.optional(),
})

const envTest = z.strictObject({ name: patterns.optional(), kind: many(z.enum(ENV_KINDS)).optional() })

export type PathTest = z.infer<typeof pathTest>
export type NetTest = z.infer<typeof netTest>
export type FeedTest = z.infer<typeof feedTest>
export type EnvTest = z.infer<typeof envTest>
type OneOrMany = string | string[]

/** All keys of one condition must hold. Keys from `sub` to `known` speak of the run that `run` found, also inside all/any/not. */
export interface Condition {
  run?: OneOrMany | undefined
  sub?: OneOrMany | undefined
  word?: OneOrMany | undefined
  flag?: OneOrMany | undefined
  arg?: OneOrMany | undefined
  to_branch?: OneOrMany | undefined
  via?: OneOrMany | undefined
  /** Whether the gate knows the program. */
  known?: boolean | undefined
  tool?: OneOrMany | undefined
  reads?: PathTest | undefined
  writes?: PathTest | undefined
  deletes?: PathTest | undefined
  net?: NetTest | undefined
  feeds?: FeedTest | undefined
  env?: EnvTest | undefined
  opaque?: OneOrMany | undefined
  all?: Condition[] | undefined
  any?: Condition[] | undefined
  not?: Condition | undefined
}

const condition: z.ZodType<Condition> = z.lazy(() =>
  z
    .strictObject({
      run: patterns.optional(),
      sub: patterns.optional(),
      word: patterns.optional(),
      flag: patterns.optional(),
      arg: patterns.optional(),
      to_branch: patterns.optional(),
      via: patterns.optional(),
      known: z.boolean().optional(),
      tool: patterns.optional(),
      reads: pathTest.optional(),
      writes: pathTest.optional(),
      deletes: pathTest.optional(),
      net: netTest.optional(),
      feeds: feedTest.optional(),
      env: envTest.optional(),
      opaque: many(z.enum(OPAQUE_KINDS)).optional(),
      all: z.array(condition).min(1).optional(),
      any: z.array(condition).min(1).optional(),
      not: condition.optional(),
    })
    .refine(
      (value) => Object.values(value).some((item) => item !== undefined),
      'says nothing; it would match every call',
    ),
)

/** A test call: shell text for Bash, or a tool with its arguments. */
const testCall = z.union([z.string().min(1), z.looseObject({ tool: z.string() })])

/** The decision's key in the file. Named by a constant: an object literal with this key would look like a promise. */
export const THEN = 'then'

export const ruleSchema = z.strictObject({
  id: ruleIdText,
  // `allow` is what happens when nothing matches; a rule can only be stricter.
  [THEN]: z.enum(DECISIONS).exclude(['allow']),
  when: condition,
  reason: z.string().min(1).max(MAX_REASON_CHARS),
  tests: z.strictObject({ hit: z.array(testCall).default([]), miss: z.array(testCall).default([]) }).optional(),
})
export type RuleSource = z.infer<typeof ruleSchema>
export type TestCall = z.infer<typeof testCall>

const stop = z.enum(['ask', 'deny'])
const note = z.enum(['flag', 'ask', 'deny'])

/** What is decided where no rule speaks. */
export const defaultsSchema = z.strictObject({
  /** Shell text that can't be read to the end, or that hides something. */
  unreadable: stop.default('ask'),
  /** The gate itself failed. */
  error: stop.default('ask'),
  unknown_tool: note.default('flag'),
  unknown_program: note.default('flag'),
})
export type Defaults = z.infer<typeof defaultsSchema>

/** A stricter decision for a rule of a policy that the file extends. */
export const tighteningSchema = z.strictObject({
  id: ruleIdText,
  [THEN]: z.enum(DECISIONS).exclude(['allow']),
  reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
})
export type Tightening = z.infer<typeof tighteningSchema>

/** One named loosening of what the file extends. */
const overrideSchema = z
  .strictObject({
    rule: ruleIdText.optional(),
    set: z.string().optional(),
    default: z.enum(['unreadable', 'error', 'unknown_tool', 'unknown_program']).optional(),
    /** The milder decision of a rule or default; without it, or as `off`, a rule is taken out. */
    [THEN]: z.enum(['off', 'flag', 'ask']).optional(),
    /** What no longer belongs to a set. */
    without: z.array(pattern).min(1).max(MAX_ENTRIES).optional(),
    /** Items of a set of exceptions. */
    add: z.array(pattern).min(1).max(MAX_ENTRIES).optional(),
    reason: z.string('is missing: say why this is loosened').min(1).max(MAX_REASON_CHARS),
  })
  .superRefine((value, context) => {
    const named = [value.rule, value.set, value.default].filter((one) => one !== undefined).length
    const say = (message: string) => context.addIssue({ code: 'custom', message })
    if (named !== 1) say('names one of rule, set and default')
    if (value.set !== undefined && value.without === undefined && value.add === undefined)
      say('says what a set is without, or what is added to it')
  })
export type Override = z.infer<typeof overrideSchema>

const reference = z
  .string()
  .max(MAX_REASON_CHARS)
  .refine(
    (text) => text.startsWith('builtin:') || (/\.ya?ml$/.test(text) && !/^(?:\/|~|[a-z]+:)/i.test(text)),
    'must be builtin:NAME, or the relative path of a .yaml file',
  )

/** The file without its rules, which are read one by one so that every error is found. */
export const fileSchema = z.strictObject({
  version: z.literal(1),
  extends: z.union([reference.transform((one) => [one]), z.array(reference).min(1).max(MAX_ENTRIES)]).default([]),
  override: z.array(overrideSchema).max(MAX_ENTRIES).default([]),
  defaults: defaultsSchema.prefault({}),
  sets: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), z.array(pattern).min(1)).default({}),
  rules: z.array(z.unknown()).max(MAX_RULES).default([]),
})
export type PolicyFile = z.infer<typeof fileSchema>
