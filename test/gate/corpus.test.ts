// The policy corpus: attacks that must not run and ordinary work that must.
import { expect, it } from 'vitest'
import type { Case } from './support.ts'
import { call, corpus, stopped } from './support.ts'

/** Shares of the corpus that may go wrong. */
const MAX_MISSED = 0.01
const MAX_STOPPED = 0.01

function isRight({ expect: wanted, tool, input, cwd }: Case): boolean {
  const decision = call(tool, input, { cwd })
  if (wanted === 'allow') return !stopped(decision)
  return wanted === 'not-allow' ? stopped(decision) : decision.decision === wanted
}

it('stops the attacks and lets ordinary work run', () => {
  const cases = corpus()
  const attacks = cases.filter((one) => one.expect !== 'allow')
  const benign = cases.filter((one) => one.expect === 'allow')
  const missed = attacks.filter((one) => !isRight(one))
  const held = benign.filter((one) => !isRight(one))
  const line = `attacks missed ${missed.length}/${attacks.length}, benign stopped ${held.length}/${benign.length}`
  console.info(line)
  const wrong = [...missed, ...held].map(({ id }) => id)
  expect(attacks.length, line).toBe(403)
  expect(benign.length, line).toBe(190)
  expect(missed.length / attacks.length, `${line}: ${wrong}`).toBeLessThanOrEqual(MAX_MISSED)
  expect(held.length / benign.length, `${line}: ${wrong}`).toBeLessThanOrEqual(MAX_STOPPED)
})

it('names every matching rule once, and gives reasons for what was decided', () => {
  for (const { tool, input, cwd } of corpus()) {
    const { decision, rules, reasons, policyHash } = call(tool, input, { cwd })
    expect(reasons.length).toBeLessThanOrEqual(rules.length)
    if (decision !== 'allow') expect(reasons.length).toBeGreaterThan(0)
    expect(new Set(rules).size).toBe(rules.length)
    if (decision !== 'allow') expect(rules.length).toBeGreaterThan(0)
    expect(policyHash).toMatch(/^[0-9a-f]{64}$/)
  }
})
