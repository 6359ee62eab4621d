// Policy files: what is accepted, every error named at once, strictest wins, the hash.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, loadPolicy, type Policy, type PolicyResult } from '../../collector/gate/index.ts'
import { CODING } from '../../collector/gate/packs/coding.ts'
import { builtin, WORLD } from './support.ts'

function loaded(text: string): Policy {
  const result = loadPolicy({ text })
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  return result.policy
}

function errors(text: string): string[] {
  const result: PolicyResult = loadPolicy({ text })
  return result.ok ? [] : result.errors.map(({ path, message }) => `${path}: ${message}`)
}

const ask = (policy: Policy, command: string) => decide(policy, { ...WORLD, tool: 'Bash', args: { command } })

describe('the built-in pack', () => {
  it('passes the inline tests of every rule', () => {
    expect(errors(CODING)).toEqual([])
  })

  it('gives each rule a reason, hits and near misses', () => {
    const written = loadPolicy({ text: CODING })
    if (!written.ok) throw new Error('the pack has errors')
    expect(written.policy.hash).toBe(builtin().hash)
    for (const { id, reason, tests } of written.policy.rules) {
      expect(id).toMatch(/^CO-[A-Z-]+$/)
      expect(reason, id).toMatch(/^[A-Z].*\.$/)
      expect(tests?.hit.length, id).toBeGreaterThan(0)
      expect(tests?.miss.length, id).toBeGreaterThan(0)
    }
  })

  it('flags what it does not know and lets it run', () => {
    expect(ask(builtin(), 'some-unknown-program --x')).toMatchObject({
      decision: 'flag',
      rules: ['SP-UNKNOWN-PROGRAM'],
    })
    const tool = decide(builtin(), { ...WORLD, tool: 'mcp__weather__forecast', args: { city: 'Oslo' } })
    expect(tool).toMatchObject({ decision: 'flag', rules: ['SP-UNKNOWN-TOOL'] })
  })
})

describe('strictest wins', () => {
  const rule = (id: string, then: string, run: string) =>
    `  - {id: ${id}, then: ${then}, when: {run: ${run}}, reason: "Because."}\n`

  it('deny > ask > flag > allow, all ids listed in that order', () => {
    const order = ['deny', 'ask', 'flag'] as const
    const rules = fc.uniqueArray(fc.tuple(fc.constantFrom(...order), fc.integer({ min: 1, max: 99 })), {
      selector: ([, n]) => n,
      maxLength: 8,
    })
    fc.assert(
      fc.property(rules, (list) => {
        const text = `version: 1\nrules:\n${list.map(([then, n]) => rule(`R-${n}`, then, 'ls')).join('') || '  []\n'}`
        const decision = ask(loaded(text), 'ls')
        const expected = order.find((one) => list.some(([then]) => then === one)) ?? 'allow'
        expect(decision.decision).toBe(expected)
        const given = decision.rules.map((id) => list.find(([, n]) => id === `R-${n}`)?.[0] ?? 'deny')
        expect(given).toEqual(order.flatMap((one) => given.filter((then) => then === one)))
        expect(given).toHaveLength(list.length)
      }),
    )
  })

  it('an ask beside a deny is a deny that names both', () => {
    const { decision, rules } = ask(builtin(), 'sudo cat ~/.ssh/id_rsa')
    expect(decision).toBe('deny')
    expect(rules).toEqual(expect.arrayContaining(['CO-PRIVILEGE', 'CO-SECRET-READ']))
    expect(rules.indexOf('CO-PRIVILEGE')).toBeLessThan(rules.indexOf('CO-SECRET-READ'))
  })
})

describe('errors', () => {
  it('lists every error of a file at once, each with its field', () => {
    const found = errors(`
version: 2
extra: 1
defaults: {unreadable: allow}
sets: {Bad: [x], ok: []}
rules:
  - {id: A, then: allow, when: {run: x}, reason: r}
  - {id: B, then: deny, when: {run: x, colour: red}, reason: r}
  - {id: B, then: deny, when: {sub: push}, reason: r}
  - {id: B, then: deny, when: {reads: $nothing}, reason: r}
  - {id: "", then: deny, when: {}, reason: ""}
  - {id: C, then: deny, when: {all: [{flag: -x}, {net: {kind: moon}}]}, reason: r}
  - 7
`)
    for (const field of [
      'version:',
      'extra:',
      'defaults.unreadable:',
      'sets.Bad:',
      'sets.ok:',
      'rules[0].then:',
      'rules[1].when.colour:',
      'rules[2].when.sub:',
      'rules[3].id:',
      'rules[3].when.reads:',
      'rules[4].id:',
      'rules[4].when:',
      'rules[4].reason:',
      'rules[5].when.all[1].net.kind:',
      'rules[6]:',
    ])
      expect(
        found.some((line) => line.startsWith(field)),
        `${field} in ${found.join('\n')}`,
      ).toBe(true)
  })

  it('names a failing inline test', () => {
    const text =
      'version: 1\nrules:\n  - {id: A, then: deny, when: {run: ls}, reason: r, tests: {hit: [pwd, ls], miss: [ls, pwd]}}\n'
    expect(errors(text)).toEqual([
      'rules[0].tests.hit[0]: A does not match this call',
      'rules[0].tests.miss[0]: A matches this call',
    ])
  })

  it.each(['', 'a: [', 'version: 1\nversion: 1', '- 1', 'null', 'version: 1\nrules: {a: 1}', '&a [*a]', '*nobody'])(
    'refuses %j',
    (text) => {
      expect(errors(text).length).toBeGreaterThan(0)
    },
  )

  it('refuses a megabyte', () => {
    expect(errors('x'.repeat(1_000_001))).toHaveLength(1)
  })

  it('never throws on any text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void loadPolicy({ text })))
  })
})

describe('a file that extends the pack', () => {
  it('adds rules and items of sets', () => {
    const policy = loaded(`version: 1
extends: builtin:coding
sets: {protected_branches: [develop]}
rules: [{id: T-NO-YARN, then: ask, when: {run: yarn}, reason: Use npm.}]`)
    expect(ask(policy, 'git push origin develop').decision).toBe('ask')
    expect(ask(policy, 'git push origin main').decision).toBe('ask')
    expect(ask(policy, 'yarn').rules).toEqual(['T-NO-YARN'])
    expect(ask(policy, 'rm -rf /').decision).toBe('deny')
    expect(policy.rules.length).toBe(builtin().rules.length + 1)
  })

  it('cannot take away: no exclusions, no second rule of the same id, no looser defaults', () => {
    expect(errors('version: 1\nextends: builtin:coding\nsets: {secrets: ["!**/.env"]}')).toHaveLength(1)
    expect(
      errors('version: 1\nextends: builtin:coding\nrules: [{id: CO-DISK, then: flag, when: {run: dd}, reason: r}]'),
    ).toEqual([expect.stringMatching(/^rules\[0\]\.id: CO-DISK is a rule that this file extends/)])
    const policy = loaded('version: 1\nextends: builtin:coding\ndefaults: {unknown_program: ask}')
    expect(policy.defaults).toEqual({ unreadable: 'ask', error: 'ask', unknown_tool: 'flag', unknown_program: 'ask' })
    expect(ask(policy, 'some-unknown-program').decision).toBe('ask')
  })

  it('is not needed: without it only the engine rules hold', () => {
    const policy = loaded('version: 1')
    expect(ask(policy, 'rm -rf /').decision).toBe('allow')
    expect(ask(policy, 'echo (').rules).toEqual(['SP-UNREADABLE'])
    expect(ask(policy, `echo ${'a'.repeat(70_000)}`).rules).toContain('SP-OVERSIZE')
  })
})

describe('the hash', () => {
  const one = 'version: 1\nrules: [{id: A, then: deny, when: {run: ls}, reason: r}]'

  it('is the same for the same meaning', () => {
    expect(loaded(one).hash).toBe(
      loaded('# note\nrules:\n  - when: {run: ls}\n    reason: r\n    id: A\n    then: deny\nversion: 1').hash,
    )
    expect(loaded(one).hash).toBe(loaded(one.replace('reason: r', 'reason: r, tests: {hit: [ls]}')).hash)
    expect(builtin().hash).toBe(builtin().hash)
  })

  it.each([
    ['deny', 'ask'],
    ['ls', 'pwd'],
    ['reason: r', 'reason: other'],
    ['version: 1', 'version: 1\ndefaults: {unreadable: deny}'],
    ['version: 1', 'version: 1\nsets: {x: [y]}'],
    ['version: 1', 'version: 1\nextends: builtin:coding'],
  ])('changes when %j becomes %j', (from, to) => {
    expect(loaded(one.replace(from, to)).hash).not.toBe(loaded(one).hash)
  })
})
