// The numbers and the table: what is missed is printed as missed, what did not run says why.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, linesOf, table } from '../../bench/report.ts'
import { median, medianRatio, percentile } from '../../bench/stats.ts'
import { type Finding, type Suite, TARGETS, type Target, verdictOf } from '../../bench/targets.ts'

const target = (goal?: Target['goal']): Target => ({
  suite: 'query',
  id: 'x',
  figure: 'x',
  unit: 'x',
  ...(goal === undefined ? {} : { goal }),
})

describe('percentile', () => {
  it('is a value that was measured, with the asked share at or below it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
        fc.integer({ min: 0, max: 100 }),
        (values, p) => {
          const found = percentile(values, p)
          expect(values).toContain(found)
          expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual((p / 100) * values.length)
          expect(values.filter((value) => value < found).length).toBeLessThanOrEqual((p / 100) * values.length)
        },
      ),
    )
  })

  it('sorts numbers as numbers, and has no value for nothing', () => {
    expect(median([10, 9, 100])).toBe(10)
    expect(percentile([1, 2, 3, 4], 99)).toBe(4)
    expect(() => median([])).toThrow(RangeError)
  })

  it('compares round with round', () => {
    expect(medianRatio([2, 200, 3], [1, 100, 1])).toBe(2)
    expect(medianRatio([1], [])).toBeNaN()
  })
})

describe('a verdict', () => {
  it('says missed of everything that does not reach the target', () => {
    const atMost = target({ is: '<=', value: 2 })
    const atLeast = target({ is: '>=', value: 2 })
    expect([1.9, 2, 2.01, Number.NaN].map((value) => verdictOf(atMost, value))).toEqual([
      'met',
      'met',
      'MISSED',
      'MISSED',
    ])
    expect([1.9, 2, 2.01, Number.NaN].map((value) => verdictOf(atLeast, value))).toEqual([
      'MISSED',
      'met',
      'met',
      'MISSED',
    ])
    expect(verdictOf(target(), 5)).toBe('no target')
    expect(verdictOf(atMost, undefined)).toBe('not run')
  })
})

describe('the table', () => {
  const findings = (found: Finding[] | Error) => new Map<Suite, Finding[] | Error>([['query', found]])

  it('prints figure, ratio, target, result, rounds and absolute figures', () => {
    const found: Finding = { id: 'query.run', value: 1.75, rounds: '40', shown: 'p50 9 ms' }
    const text = table(linesOf(findings([found])))
    const [, , line = ''] = text.split('\n')
    expect(line.split(/ {2,}/)).toEqual([
      'query',
      'one run of 1,000 records at ten times the rows / at the rows',
      '1.75x',
      '<= 1.50x',
      'MISSED',
      '40',
      'p50 9 ms',
    ])
    expect(text).toContain('0 met, 1 missed, 0 not run')
  })

  it('says why a row or a suite did not run', () => {
    const row = linesOf(findings([{ id: 'query.run', notRun: 'no disk' }]))
    expect(row).toMatchObject([{ verdict: 'not run', shown: 'no disk' }])
    const suite = linesOf(findings(new Error('it fell over\nat length')))
    expect(suite).toMatchObject([{ verdict: 'not run', shown: 'the suite failed: it fell over' }])
    expect(table(suite)).toContain('0 met, 0 missed, 1 not run')
  })

  it('leaves out no target of a suite that ran', () => {
    expect(() => linesOf(findings([]))).toThrow('query.run')
  })

  it('is the same in JSON', () => {
    const lines = linesOf(findings([{ id: 'query.run', value: 1.25, rounds: '3', shown: '' }]))
    expect(JSON.parse(json(lines, 'tiny', 1, [0, 0, 0]))).toMatchObject({
      size: 'tiny',
      rows: [{ id: 'query.run', value: 1.25, verdict: 'met', goal: { is: '<=', value: 1.5 } }],
    })
  })
})

describe('the targets', () => {
  it('have one name each, and a reason where no suite measures them', () => {
    expect(new Set(TARGETS.map(({ id }) => id)).size).toBe(TARGETS.length)
    for (const { suite, id, notRun } of TARGETS) {
      expect(id.startsWith(`${suite}.`)).toBe(true)
      if (suite === 'crash') expect(notRun).toMatch(/^asserted by test\//)
    }
  })
})
