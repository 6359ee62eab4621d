// The index finds exactly the rules that a plain comparison of every rule with every fact finds.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Facts, type PathFact, type Run, UNKNOWN } from '../../collector/gate/call.ts'
import { compilePolicy } from '../../collector/gate/compile.ts'
import { emptyFacts } from '../../collector/gate/facts/sink.ts'
import { decide } from '../../collector/gate/index.ts'
import { View } from '../../collector/gate/match.ts'
import type { Condition, RuleSource } from '../../collector/gate/schema.ts'
import { plainlyHolds } from './plain-rules.ts'
import { builtin, corpus, WORLD } from './support.ts'

it('of the built-in pack, for every call of the corpus', () => {
  const policy = builtin()
  for (const { tool, input, cwd, id } of corpus()) {
    const { rules, facts } = decide(policy, { ...WORLD, tool, args: input, cwd })
    const plain = policy.rules.filter(({ when }) => plainlyHolds(when, { facts, where: WORLD, sets: policy.sets }))
    expect(rules.filter((rule) => !rule.startsWith('SP-')).sort(), id).toEqual(plain.map((rule) => rule.id).sort())
  }
})

const some = <T>(item: fc.Arbitrary<T>, maxLength = 3) => fc.array(item, { minLength: 1, maxLength })
const oneOrSome = (item: fc.Arbitrary<string>) => fc.oneof(item, some(item))

const part = fc.constantFrom(...'home dev project src .git .env * ** a? .* x.pem .ssh [ab] HOME config b'.split(' '))
const folder = fc.constantFrom('', '/home', '/home/dev', '/home/dev/project', '/home/dev/project/src')
const path = fc
  .tuple(folder, fc.array(fc.oneof(part, fc.constant(UNKNOWN)), { maxLength: 2 }))
  .map(([start, parts]) => `${start}/${parts.join('/')}`)
const root = fc.constantFrom('/', '', '~/', '{project}/', '**/', '{spanseal_home}/', '/home/', '!', '!~/', '$s', '/*/')
const pattern = fc
  .tuple(root, some(fc.oneof(part, fc.constantFrom('{src,b}', '{.env,.ssh/{x.pem,*}}')), 4))
  .map(([start, parts]) => (start === '$s' ? start : start + parts.join('/')))
const word = fc.constantFrom(...'git push --force --for* -f main a* * x=1 ma?n --force=yes rm pu*'.split(' '))
const zone = fc.constantFrom('project' as const, 'home' as const, 'unknown' as const)
const covers = fc.constantFrom('project' as const, 'home' as const)
const kind = fc.constantFrom('public' as const, 'local' as const)

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
const defined = <T extends object>(value: fc.Arbitrary<T>) =>
  value.map((all) => Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined)) as T)

const pathTest = fc.oneof(
  oneOrSome(pattern),
  defined(
    fc.record({
      in: optional(oneOrSome(pattern)),
      zone: optional(some(zone)),
      covers: optional(covers),
      recursive: optional(fc.boolean()),
      by: optional(oneOrSome(word)),
      not_by: optional(oneOrSome(word)),
      not_in: optional(oneOrSome(pattern)),
    }),
  ),
)

const runKey = fc.oneof(
  fc.record({ sub: oneOrSome(fc.constantFrom('push', 'push main', 'pu*', 'main')) }),
  fc.record({ word: oneOrSome(word) }),
  fc.record({ flag: oneOrSome(word) }),
  fc.record({ arg: oneOrSome(word) }),
  fc.record({ to_branch: oneOrSome(fc.constantFrom('main', 'release/*')) }),
  fc.record({ via: oneOrSome(word) }),
  fc.record({ known: fc.boolean() }),
)
const key: fc.Arbitrary<Condition> = fc.oneof(
  { arbitrary: fc.record({ run: oneOrSome(word) }), weight: 3 },
  { arbitrary: fc.tuple(oneOrSome(word), runKey).map(([run, more]) => ({ run, ...more })), weight: 5 },
  runKey,
  fc.record({ tool: oneOrSome(fc.constantFrom('Bash', 'mcp__*', 'Read')) }),
  { arbitrary: fc.record({ reads: pathTest }), weight: 3 },
  { arbitrary: fc.record({ writes: pathTest }), weight: 3 },
  { arbitrary: fc.record({ deletes: pathTest }), weight: 3 },
  fc.record({ net: defined(fc.record({ kind: optional(some(kind)), host: optional(oneOrSome(word)) })) }),
  fc.record({ feeds: defined(fc.record({ from: optional(fc.constantFrom('network' as const, 'file' as const)) })) }),
  fc.record({ env: defined(fc.record({ name: optional(oneOrSome(word)) })) }),
  fc.record({ opaque: fc.constantFrom('syntax', 'hidden') }),
)
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: key, weight: 3 },
    fc.tuple(key, key).map(([one, other]) => ({ ...one, ...other })),
    fc.record({ any: some(tie('condition')) }),
    fc.record({ all: some(tie('condition'), 2) }),
    fc.tuple(key, tie('condition')).map(([one, not]) => ({ ...one, not })),
    fc.tuple(key, some(tie('condition'), 2)).map(([one, any]) => ({ ...one, any })),
  ),
}))

const run: fc.Arbitrary<Run> = fc.record({
  program: word,
  words: fc.array(word, { maxLength: 2 }),
  flags: fc.array(word, { maxLength: 2 }),
  argv: fc.array(word, { maxLength: 2 }),
  via: fc.array(word, { maxLength: 1 }),
  dynamic: fc.boolean(),
  known: fc.boolean(),
  to: fc.array(fc.constantFrom('main', 'dev', 'release/1', 'MAIN'), { maxLength: 1 }),
})
const pathFact = defined(
  fc.record({ path, zone, covers: optional(covers), recursive: fc.boolean(), by: word }),
) as fc.Arbitrary<PathFact>
const pathFacts = fc.array(pathFact, { maxLength: 2 })
const facts: fc.Arbitrary<Facts> = fc
  .record({
    tool: fc.constantFrom('Bash', 'mcp__x__y', 'Read'),
    runs: fc.array(run, { maxLength: 3 }),
    reads: pathFacts,
    writes: pathFacts,
    deletes: pathFacts,
    net: fc.array(
      fc.record({
        host: word,
        kind,
        dir: fc.constant('out' as const),
        scheme: fc.constant(''),
        port: fc.constant(''),
        path: fc.constant(''),
        userinfo: fc.boolean(),
        carries: fc.constant('nothing' as const),
        by: word,
      }),
      { maxLength: 1 },
    ),
    feeds: fc.array(
      fc.record({
        from: fc.constantFrom('network' as const, 'file' as const),
        into: fc.constant('shell' as const),
        by: word,
      }),
      { maxLength: 1 },
    ),
    env: fc.array(fc.record({ name: word, kind: fc.constant('plain' as const) }), { maxLength: 1 }),
    opaque: fc.array(fc.record({ kind: fc.constantFrom('syntax' as const, 'hidden' as const), by: word }), {
      maxLength: 1,
    }),
  })
  .map((some) => ({ ...emptyFacts(some.tool), ...some }))

const SETS = new Map([['s', ['~/.ssh/**', '**/*.pem', '!**/x.pem', '/etc']]])
/** A key that an object literal should not spell out. */
const THEN = 'then'
const DEFAULTS = builtin().defaults

it('of any rules, for any facts', () => {
  let held = 0
  fc.assert(
    fc.property(some(condition, 6), facts, (conditions, found) => {
      const rules = conditions.map(
        (when, i): RuleSource => ({ id: `R-${i}`, when, reason: 'Because.', [THEN]: 'deny' }),
      )
      const policy = compilePolicy(rules, DEFAULTS, SETS)
      const world = { facts: found, where: WORLD, sets: SETS }
      const plain = conditions.flatMap((when, i) => (plainlyHolds(when, world) ? [i] : []))
      expect(policy.index.matching(new View(found, WORLD, new Map()))).toEqual(plain)
      held += plain.length
    }),
    { numRuns: 6_000 },
  )
  // Rules that never hold would agree on nothing.
  expect(held).toBeGreaterThan(1_000)
})
