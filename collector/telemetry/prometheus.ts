// Metrics as text: the Prometheus text format 0.0.4, and OpenMetrics 1.0.0 for those who ask for it.
import { METRICS } from '../../conventions/metrics.ts'
import type { Definition, Distribution, Family } from './metrics.ts'
import type { Starts, Target } from './target.ts'

export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

type Labels = readonly (readonly [name: string, value: string])[]

/** `open`: as OpenMetrics, with the time each counter began. */
export function exposition(families: readonly Family[], target: Target, open: boolean): string {
  const lines = [
    `# HELP target${open ? '' : '_info'} What these metrics are of.`,
    `# TYPE target${open ? ' info' : '_info gauge'}`,
    `target_info${braces(Object.entries(target.attributes))} 1`,
  ]
  for (const family of families) writeFamily(lines, family, target.starts, open)
  if (open) lines.push('# EOF')
  return `${lines.join('\n')}\n`
}

function writeFamily(lines: string[], { name, points }: Family, starts: Starts, open: boolean): void {
  const { instrument, unit, since, labels, brief }: Definition = METRICS[name]
  const suffix = { s: '_seconds', By: '_bytes' }[unit] ?? ''
  const base = `${name.replaceAll('.', '_')}${suffix}`
  const sample = instrument === 'counter' ? `${base}_total` : base
  const head = open ? base : sample
  lines.push(`# HELP ${head} ${escaped(brief)}`, `# TYPE ${head} ${instrument}`)
  if (open && suffix !== '') lines.push(`# UNIT ${head} ${suffix.slice(1)}`)
  for (const point of points) {
    const pairs: Labels = labels.map(([label], i) => [label, point.labels[i] ?? ''])
    if ('value' in point) lines.push(`${sample}${braces(pairs)} ${number(point.value)}`)
    else writeDistribution(lines, base, pairs, point.distribution, open)
    if (open && instrument !== 'gauge') lines.push(`${base}_created${braces(pairs)} ${number(starts[since] / 1000)}`)
  }
}

function writeDistribution(lines: string[], base: string, pairs: Labels, of: Distribution, open: boolean): void {
  let below = 0
  of.counts.forEach((count, i) => {
    below += count
    const bound = of.bounds[i]
    const le = bound === undefined ? '+Inf' : open && Number.isInteger(bound) ? `${bound}.0` : String(bound)
    lines.push(`${base}_bucket${braces([...pairs, ['le', le]])} ${below}`)
  })
  lines.push(`${base}_sum${braces(pairs)} ${number(of.sum)}`, `${base}_count${braces(pairs)} ${of.count}`)
}

/** Label names have underscores for dots; an empty value is an absent label. */
function braces(pairs: Labels): string {
  const given = pairs.filter(([, value]) => value !== '')
  if (given.length === 0) return ''
  return `{${given.map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(value).replaceAll('"', '\\"')}"`).join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function number(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
