// Reads conventions/registry/metrics.yaml and generates what stands on it: the table of metrics and docs/metrics.md.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import type { Registry } from './generate.ts'

const metricsSchema = z.object({
  groups: z.array(
    z.strictObject({
      id: z.string(),
      type: z.literal('metric'),
      metric_name: z.string().regex(/^[a-z]+(\.[a-z_]+)+$/),
      instrument: z.enum(['counter', 'gauge', 'histogram']),
      unit: z.string(),
      stability: z.literal('development'),
      brief: z.string(),
      attributes: z.array(z.strictObject({ ref: z.string() })).default([]),
      annotations: z.strictObject({ since: z.enum(['log', 'destination', 'process']) }),
    }),
  ),
})
type Metrics = z.infer<typeof metricsSchema>['groups']

/** The metrics as written in the registry. Throws on a malformed file, and on a label that is no attribute of the registry. */
export function readMetrics(registry: Registry): Metrics {
  const { groups } = metricsSchema.parse(parse(readFileSync('conventions/registry/metrics.yaml', 'utf8')))
  for (const { metric_name, attributes } of groups)
    for (const { ref } of attributes) classOf(registry, ref, metric_name)
  return groups
}

function classOf(registry: Registry, id: string, metric: string): string {
  const found = registry.groups.flatMap(({ attributes }) => attributes).find((attribute) => attribute.id === id)
  if (found === undefined) throw new Error(`${metric}: ${id} is not in conventions/registry/attributes.yaml`)
  if (!['id', 'enum'].includes(found.annotations.class)) throw new Error(`${metric}: ${id} is no name and no enum`)
  return found.annotations.class
}

/** Text of conventions/metrics.ts: one entry a metric, with the labels in the order the code gives their values. */
export function metricsTable(registry: Registry): string {
  const lines = [
    '// Generated from conventions/registry/metrics.yaml by conventions/generate-metrics.ts. Do not edit.',
    '',
    '/** Each label with whether its values are open: names that somebody else gives, bounded in number. */',
    'export const METRICS = {',
  ]
  for (const { metric_name, instrument, unit, brief, attributes, annotations } of readMetrics(registry)) {
    const labels = attributes.map(({ ref }) => `['${ref}', ${classOf(registry, ref, metric_name) === 'id'}]`)
    lines.push(
      `  '${metric_name}': {`,
      `    instrument: '${instrument}',`,
      `    unit: '${unit}',`,
      `    since: '${annotations.since}',`,
      ...list('labels', labels),
      ...text('brief', brief),
      '  },',
    )
  }
  lines.push('} as const')
  return `${lines.join('\n')}\n`
}

/** Columns, as in biome.json. */
const LINE = 120

function list(name: string, items: string[]): string[] {
  const line = `    ${name}: [${items.join(', ')}],`
  return items.length < 2 ? [line] : [`    ${name}: [`, ...items.map((item) => `      ${item},`), '    ],']
}

function text(name: string, value: string): string[] {
  const line = `    ${name}: '${value}',`
  return line.length <= LINE ? [line] : [`    ${name}:`, `      '${value}',`]
}

/** The name that Prometheus gives a metric (OpenTelemetry specification, compatibility/prometheus_and_openmetrics). */
export function prometheusName(name: string, unit: string, instrument: string): string {
  const suffix = { s: '_seconds', By: '_bytes' }[unit] ?? ''
  return `${name.replaceAll('.', '_')}${suffix}${instrument === 'counter' ? '_total' : ''}`
}

const SINCE = {
  log: 'the log',
  destination: 'the destination’s cursor',
  process: 'each start',
} as const

/** Text of docs/metrics.md. */
export function metricsPage(registry: Registry, head: string): string {
  const lines = [
    head,
    '',
    ...INTRODUCTION,
    '',
    '| metric | kind | counts from | labels | meaning |',
    '|---|---|---|---|---|',
  ]
  for (const { metric_name, instrument, unit, brief, attributes, annotations } of readMetrics(registry)) {
    const labels = attributes.map(({ ref }) => `\`${ref.replaceAll('.', '_')}\``).join(', ')
    const since = instrument === 'gauge' ? '' : SINCE[annotations.since]
    const name = prometheusName(metric_name, unit, instrument)
    lines.push(`| \`${name}\` | ${instrument} | ${since} | ${labels} | ${brief} |`)
  }
  lines.push('', '## Labels', '', '| label | values |', '|---|---|')
  const used = new Set(readMetrics(registry).flatMap(({ attributes }) => attributes.map(({ ref }) => ref)))
  for (const { id, brief, annotations } of registry.groups.flatMap(({ attributes }) => attributes)) {
    if (!used.has(id)) continue
    const bound = annotations.class === 'id' ? ' At most 200 values, then `other`.' : ''
    lines.push(`| \`${id.replaceAll('.', '_')}\` | ${brief}${bound} |`)
  }
  lines.push('')
  return lines.join('\n')
}

const INTRODUCTION = [
  '# Metrics',
  '',
  'A running collector answers `GET /metrics` on its OTLP address (`http://127.0.0.1:4318/metrics`; `spanseal status` prints it) in',
  'Prometheus’ text format, or as OpenMetrics where the client asks for it. With `metrics.url` in `config.yaml` it pushes the same as',
  'OTLP, under the names of the registry: dots for underscores, without the suffixes `_total`, `_seconds` and `_bytes`, cumulative,',
  'with `service.instance.id` = log id. What to alert on is in [operations.md](operations.md).',
  '',
  'There is nothing in a metric but names and counts: no prompt, argument, path, session id or address.',
  '',
  'Where a counter begins is said for each. From the log: it is counted over all records, so it survives a restart. From each start:',
  'it begins at 0 when the collector starts. Both say when they began: `_created` in OpenMetrics, the start time in OTLP.',
  '',
  'A label whose values are names somebody else gives takes 200 of them, and a metric at most 1,000 combinations (histograms 100);',
  'everything later is counted under `other`, and `spanseal_metrics_folded_total` says how often. What is `other` depends on what',
  'came first: on a log that somebody flooded with invented tool names, real ones may be in it.',
]
