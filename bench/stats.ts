// Numbers out of repeated measurements.

/** The value below which `p` percent of the values lie (nearest rank). Throws on no values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)]
  if (value === undefined) throw new RangeError('no values')
  return value
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Median over the rounds of value / baseline: what is slow for both in one round says nothing. */
export function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  return median(values.map((value, i) => value / (baselines[i] ?? Number.NaN)))
}
