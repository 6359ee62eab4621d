// Policies that extend others: a child tightens, and every loosening is named with a reason or is an error with its place.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, loadPolicy, type Policy, problemText } from '../../collector/gate/index.ts'
import { WORLD } from './support.ts'

/** Loads `/p/policy.yaml` among these files of `/p`. */
function load(text: string, files: Record<string, string> = {}) {
  return loadPolicy({ text, path: '/p/policy.yaml', readFile: (path) => files[path.replace('/p/', '')] ?? null })
}

function loaded(text: string, files?: Record<string, string>): Policy {
  const result = load(text, files)
  if (!result.ok) throw new Error(result.errors.map(problemText).join('\n'))
  return result.policy
}

function errors(text: string, files?: Record<string, string>): string[] {
  const result = load(text, files)
  return result.ok ? [] : result.errors.map(problemText)
}

const ask = (policy: Policy, command: string) => decide(policy, { ...WORLD, tool: 'Bash', args: { command } })

const BASE = `version: 1
sets: {kept: ["vault/**", "!vault/open/**"], branches: [main, develop], free: ["docs/**"]}
defaults: {unreadable: deny, unknown_program: ask}
rules:
  - {id: B-LS, then: ask, when: {run: ls}, reason: r}
  - {id: B-RM, then: deny, when: {run: rm}, reason: r}
  - {id: B-KEPT, then: deny, when: {writes: $kept}, reason: r}
  - {id: B-BRANCH, then: deny, when: {run: git, sub: push, to_branch: $branches}, reason: r}
  - {id: B-REST, then: ask, when: {writes: {zone: project, not_in: $free}}, reason: r}
`
const FILES = { 'base.yaml': BASE }
const child = (text: string) => `version: 1\nextends: ./base.yaml\n${text}`
const REASON = 'reason: we know'

describe('a child', () => {
  it('takes over what it extends, and may make it stricter', () => {
    const policy = loaded(
      child(`sets: {kept: ["safe/**"]}
defaults: {unknown_program: deny}
rules: [{id: B-LS, then: deny}, {id: C-PWD, then: flag, when: {run: pwd}, reason: r}]`),
      FILES,
    )
    expect([ask(policy, 'ls').decision, ask(policy, 'pwd').decision, ask(policy, 'rm x').decision]).toEqual([
      'deny',
      'flag',
      'deny',
    ])
    expect(ask(policy, 'echo x > safe/a').rules).toContain('B-KEPT')
    expect(ask(policy, 'echo x > vault/a').rules).toContain('B-KEPT')
    expect(ask(policy, 'nobody-knows-me').decision).toBe('deny')
    expect(policy.defaults.unreadable).toBe('deny')
  })

  it('loosens only by name, and then does what it says', () => {
    const policy = loaded(
      child(`override:
  - {rule: B-RM, then: flag, ${REASON}}
  - {rule: B-LS, ${REASON}}
  - {set: kept, without: ["vault/shared/**"], ${REASON}}
  - {set: branches, without: [develop], ${REASON}}
  - {set: free, add: ["notes/**"], ${REASON}}
  - {default: unreadable, then: ask, ${REASON}}`),
      FILES,
    )
    expect([ask(policy, 'rm x').decision, ask(policy, 'ls').decision]).toEqual(['flag', 'allow'])
    expect(ask(policy, 'echo x > vault/shared/a').rules).not.toContain('B-KEPT')
    expect(ask(policy, 'echo x > vault/a').rules).toContain('B-KEPT')
    expect(ask(policy, 'git push origin develop').rules).not.toContain('B-BRANCH')
    expect(ask(policy, 'git push origin main').rules).toContain('B-BRANCH')
    expect(ask(policy, 'echo x > notes/a').rules).toEqual([])
    expect(ask(policy, 'echo (').decision).toBe('ask')
  })

  it.each([
    ['rules: [{id: B-RM, then: ask}]', 'rules[0].then: ask would loosen B-RM, which is deny'],
    ['rules: [{id: B-RM, then: deny, when: {run: nothing}, reason: r}]', 'rules[0].id: B-RM is a rule that'],
    ['rules: [{id: X, then: deny}]', 'rules[0].when: is missing; X is no rule'],
    ['sets: {kept: ["!vault/a"]}', 'sets.kept[0]: takes away from $kept'],
    ['sets: {free: ["src/**"]}', 'sets.free: is a set of exceptions'],
    ['defaults: {unreadable: ask}', 'defaults.unreadable: ask is weaker than deny'],
    ['defaults: {unknown_program: flag}', 'defaults.unknown_program: flag is weaker than ask'],
    ['override: [{rule: B-RM}]', 'override[0].reason: is missing: say why'],
    [`override: [{rule: B-NO, ${REASON}}]`, 'override[0].rule: B-NO is no rule'],
    [`override: [{rule: B-LS, then: ask, ${REASON}}]`, 'override[0].then: ask does not loosen B-LS'],
    [`override: [{set: none, without: [x], ${REASON}}]`, 'override[0].set: $none is no set'],
    [`override: [{set: kept, ${REASON}}]`, 'override[0]: says what a set is without'],
    [`override: [{set: branches, without: [nope], ${REASON}}]`, 'override[0].without[0]: nope is no item of $branches'],
    [`override: [{default: error, then: ask, ${REASON}}]`, 'override[0].then: ask does not loosen error'],
    [`override: [{default: unreadable, then: flag, ${REASON}}]`, 'override[0].then: must be ask'],
    [`override: [{rule: B-LS, set: kept, without: [x], ${REASON}}]`, 'override[0]: names one of'],
  ])('%s is refused, with its field, line and column', (text, says) => {
    const [found, ...more] = errors(child(text), FILES)
    expect(more).toEqual([])
    expect(found).toContain(says)
    expect(found).toMatch(/\(line 3, column \d+\)$/)
  })

  it('hears of everything that loosens at once', () => {
    expect(
      errors(child('defaults: {unreadable: ask}\nsets: {kept: ["!a"]}\nrules: [{id: B-RM, then: flag}]'), FILES),
    ).toHaveLength(3)
  })

  it('never becomes milder, whatever it says without an override', () => {
    const decisions = ['flag', 'ask', 'deny'] as const
    const entries = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('B-LS', 'B-RM', 'B-KEPT', 'C-1'),
        decision: fc.constantFrom(...decisions),
        when: fc.boolean(),
      }),
      { selector: ({ id }) => id, maxLength: 4 },
    )
    const order = ['allow', ...decisions]
    const base = loaded(BASE)
    fc.assert(
      fc.property(entries, fc.constantFrom(...decisions), (list, fallback) => {
        const rules = list.map(
          ({ id, decision, when }) => `{id: ${id}, then: ${decision}${when ? ', when: {run: id}, reason: r' : ''}}`,
        )
        const result = load(child(`defaults: {unknown_program: ${fallback}}\nrules: [${rules.join(', ')}]`), FILES)
        if (!result.ok) return
        for (const command of ['ls', 'rm x', 'echo x > vault/a', 'nobody-knows-me', 'echo ('])
          expect(order.indexOf(ask(result.policy, command).decision)).toBeGreaterThanOrEqual(
            order.indexOf(ask(base, command).decision),
          )
      }),
      { numRuns: 60 },
    )
  })
})

describe('what is extended', () => {
  it('may extend in turn, beside the built-in pack and other files', () => {
    const files = {
      ...FILES,
      'team/mid.yaml': 'version: 1\nextends: [builtin:coding, ../base.yaml]\noverride: [{rule: B-LS, reason: r}]',
    }
    const policy = loaded('version: 1\nextends: [team/mid.yaml, base.yaml]', files)
    // Taken out by one and kept by the other: it stays.
    expect(ask(policy, 'ls').decision).toBe('ask')
    expect(ask(policy, 'sudo id').rules).toContain('CO-PRIVILEGE')
    expect(ask(loaded('version: 1\nextends: team/mid.yaml', files), 'ls').decision).toBe('allow')
  })

  it.each([
    ['extends: builtin:moon', 'extends: there is no builtin:moon'],
    ['extends: none.yaml', "extends: none.yaml can't be read"],
    ['extends: /etc/p.yaml', 'extends: '],
    ['extends: loop.yaml', 'extends: policy.yaml extends this file in turn'],
    ['extends: [a.yaml, b.yaml]', 'leaves out other things'],
    ['extends: [a.yaml, c.yaml]', 'rule A stands in both'],
    ['extends: 0.yaml', 'more than 8 files extend one another'],
  ])('%s is refused', (text, says) => {
    const files = {
      'loop.yaml': 'version: 1\nextends: policy.yaml',
      'a.yaml': 'version: 1\nsets: {s: [x, "!y"]}\nrules: [{id: A, then: deny, when: {run: a}, reason: r}]',
      'b.yaml': 'version: 1\nsets: {s: [x]}',
      'c.yaml': 'version: 1\nrules: [{id: A, then: deny, when: {run: c}, reason: r}]',
      ...Object.fromEntries([...Array(9).keys()].map((n) => [`${n}.yaml`, `version: 1\nextends: ${n + 1}.yaml`])),
    }
    expect(errors(`version: 1\n${text}`, files).join('\n')).toContain(says)
  })

  it('is checked and tested like the file itself, and its errors name it', () => {
    const files = {
      'bad.yaml': 'version: 1\nrules:\n  - {id: A, then: deny, when: {run: ls}, reason: r, tests: {hit: [pwd]}}',
    }
    expect(errors('version: 1\nextends: bad.yaml', files)).toEqual([
      '/p/bad.yaml: rules[0].tests.hit[0]: A does not match this call (line 3, column 67)',
    ])
  })

  it('needs something to loosen for an override', () => {
    expect(errors('version: 1\noverride: [{rule: CO-DISK, reason: r}]')).toEqual([
      'override: has nothing to loosen: this file extends no policy (line 2, column 11)',
    ])
  })
})
