// Dashboards and alerts ask for metrics and labels that the registry has, in PromQL that parses, at a datasource with a fixed uid.
import { readdirSync, readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Definition } from '../collector/telemetry/metrics.ts'
import { prometheusName } from '../conventions/generate-metrics.ts'
import { METRICS } from '../conventions/metrics.ts'

/** Labels by metric, as a query names them. */
const KNOWN = new Map(
  Object.entries<Definition>(METRICS).flatMap(([name, { instrument, unit, labels }]): [string, string[]][] => {
    const base = prometheusName(name, unit, instrument)
    const own = labels.map(([label]) => label.replaceAll('.', '_'))
    if (instrument !== 'histogram') return [[base, own]]
    return ['_bucket', '_sum', '_count'].map((suffix) => [`${base}${suffix}`, [...own, 'le']])
  }),
)
/** What Prometheus itself adds. */
const ADDED = ['job', 'instance']

interface Target {
  expr: string
}
interface GrafanaDashboard {
  uid: string
  panels: { type: string; title: string; datasource?: { type: string; uid: string }; targets?: Target[] }[]
}

const dashboards = readdirSync('dashboards/grafana')
  .filter((name) => name.endsWith('.json'))
  .map((name): GrafanaDashboard => JSON.parse(readFileSync(`dashboards/grafana/${name}`, 'utf8')))
const rules: { groups: { rules: { alert: string; expr: string; annotations: { runbook: string } }[] }[] } = parse(
  readFileSync('dashboards/prometheus/rules.yaml', 'utf8'),
)
const alerts = rules.groups.flatMap((group) => group.rules)
const queries = [
  ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))),
  ...alerts.map(({ expr }) => expr),
]

/** What is wrong with a query; Grafana's variables are filled in first. */
function problems(query: string): string[] {
  const text = query.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h').replaceAll('$instance', '.+')
  const found: string[] = []
  const metrics = new Set<string>()
  const labels = new Set<string>()
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      const part = text.slice(from, to)
      if (type.isError) found.push(`can't be parsed at ${from}: ${text.slice(from, from + 20)}`)
      if (type.name === 'Identifier') metrics.add(part)
      if (type.name === 'LabelName') labels.add(part)
    },
  })
  for (const metric of metrics) if (!KNOWN.has(metric)) found.push(`${metric} is in no registry`)
  const own = [...metrics].flatMap((metric) => KNOWN.get(metric) ?? [])
  for (const label of labels) if (![...own, ...ADDED].includes(label)) found.push(`no metric in it has ${label}`)
  if (metrics.size === 0) found.push('it asks for nothing')
  return found
}

it('every query parses and asks for what the registry has', () => {
  expect(queries.length).toBeGreaterThan(40)
  expect(queries.flatMap((query) => problems(query).map((problem) => `${query}: ${problem}`))).toEqual([])
})

it('the check sees a wrong name, a wrong label and a broken query', () => {
  for (const wrong of ['spanseal_denials_total', 'sum by (tool) (spanseal_gaps_total)', 'sum(spanseal_ready', '1'])
    expect(problems(wrong), wrong).not.toEqual([])
})

it('every panel names the provisioned datasource by its uid, and no dashboard is there twice', () => {
  const { datasources } = parse(readFileSync('dashboards/grafana/provisioning/datasources/spanseal.yaml', 'utf8'))
  const known = datasources.map(({ type, uid }: { type: string; uid: string }) => ({ type, uid }))
  for (const panel of dashboards.flatMap(({ panels }) => panels.filter(({ type }) => type !== 'row'))) {
    expect(known, panel.title).toContainEqual(panel.datasource)
    expect(panel.targets?.length, panel.title).toBeGreaterThan(0)
  }
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length)
})

it('every alert leads to a section of docs/operations.md', () => {
  const page = readFileSync('docs/operations.md', 'utf8')
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'))
  for (const { alert, annotations } of alerts) {
    const [file, anchor] = annotations.runbook.split('#')
    expect(file).toBe('docs/operations.md')
    expect(anchors, alert).toContain(anchor)
    expect(page).toContain(alert)
  }
})
