// However many names come from outside, a metric has a bounded number of series, and no count is lost.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Label, MAX_LABEL_VALUES, OTHER, Series } from '../../collector/telemetry/series.ts'

const make = (labels: Label[], max: number) => new Series(labels, max, () => ({ value: 0 }))
const sum = (series: Series<{ value: number }>) => series.all().reduce((total, { point }) => total + point.value, 0)

it('takes 200 values of an open label and counts the rest under other', () => {
  const series = make([['tool', true]], 1_000)
  for (let i = 0; i < 10_000; i++) series.find(`t${i}`).value++
  expect(series.all()).toHaveLength(MAX_LABEL_VALUES + 1)
  expect(series.find(OTHER).value).toBe(10_000 - MAX_LABEL_VALUES)
  expect(series.folded).toBe(10_000 - MAX_LABEL_VALUES)
})

it('keeps what is closed when combinations run out: a denied call stays a denied call', () => {
  const labels: Label[] = [
    ['agent', true],
    ['tool', true],
    ['decision', false],
  ]
  const series = make(labels, 50)
  for (let i = 0; i < 150; i++)
    for (const decision of ['allow', 'deny']) series.find(`a${i}`, `t${i}`, decision).value++
  expect(series.all().length).toBe(52)
  const denied = series.all().filter(({ values }) => values[2] === 'deny')
  expect(denied.reduce((total, { point }) => total + point.value, 0)).toBe(150)
  expect(series.all().some(({ values }) => values[0] === OTHER && values[1] === OTHER)).toBe(true)
})

it('an absent label stays absent, and known values cost no room', () => {
  const series = make(
    [
      ['agent', true],
      ['tool', true],
    ],
    10,
  )
  for (let i = 0; i < 30; i++) series.find('', `t${i}`).value++
  for (let i = 0; i < 30; i++) series.find('', 't0').value++
  expect(series.find('', 't0').value).toBe(31)
  expect(series.all().every(({ values }) => values[0] === '')).toBe(true)
})

it('never loses a count and never passes its bounds, whatever comes', () => {
  const name = fc.oneof(fc.string({ maxLength: 6 }), fc.nat(400).map(String), fc.constantFrom('', OTHER, '__proto__'))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, name, fc.constantFrom('x', 'y'))),
      fc.integer({ min: 1, max: 20 }),
      (all, max) => {
        const labels: Label[] = [
          ['a', true],
          ['b', true],
          ['c', false],
        ]
        const series = make(labels, max)
        for (const [a, b, c] of all) series.find(a, b, c).value++
        expect(sum(series)).toBe(all.length)
        // Beyond the bound only `other` and absent values are left for what is open: four combinations, twice.
        expect(series.all().length).toBeLessThanOrEqual(max + 8)
        const keys = series.all().map(({ values }) => JSON.stringify(values))
        expect(new Set(keys).size).toBe(keys.length)
      },
    ),
  )
})
