// A real Prometheus scrapes a collector that recorded mixed sessions; promtool checks what it exposes and the alert rules.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DASHBOARDS } from '../../../dashboards/panels.ts'
import { Backend } from '../../support/backend.ts'
import { Collector } from '../../support/collector.ts'
import { mixedSession, postSpan } from '../../telemetry/support.ts'
import { Prometheus, promtool } from './server.ts'

let backend: Backend
let collector: Collector
let prometheus: Prometheus
beforeAll(async () => {
  backend = await new Backend().start()
  const config = `version: 1\notlp: {port: 0}\nforward: [{name: test, url: "${backend.url}"}]\nmetrics: {url: "${backend.url}"}\n`
  collector = await new Collector({ config }).start()
  for (let n = 0; n < 3; n++) await mixedSession(collector, n)
  await postSpan(collector)
  await collector.admin('POST', '/verified', { time: new Date().toISOString(), status: 'intact' })
  prometheus = await new Prometheus().start(new URL(collector.endpoint().otlp).host)
  await prometheus.until('two scrapes', async () => (await value('scrape_samples_scraped')) > 50)
  await sleep(2_000)
})
afterAll(async () => {
  await prometheus?.remove()
  await collector?.remove()
  await backend?.stop()
})

/** A query as Grafana asks it, with its variables filled in. */
function asked(promql: string): string {
  return promql.replaceAll('$instance', '.+').replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h')
}

async function value(promql: string): Promise<number> {
  return (await prometheus.query(promql))[0]?.value ?? Number.NaN
}

it('promtool finds nothing to say about /metrics', async () => {
  const text = await (await fetch(`${collector.endpoint().otlp}/metrics`)).text()
  expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' })
})

it('promtool takes the rules, and each does what its tests say', () => {
  expect(promtool(['check', 'rules', 'dashboards/prometheus/rules.yaml'])).toMatchObject({ status: 0 })
  const tested = promtool(['test', 'rules', 'dashboards/prometheus/rules.test.yaml'])
  expect(tested.said).toContain('SUCCESS')
  expect(tested.status).toBe(0)
  const rules: string[] = parse(readFileSync('dashboards/prometheus/rules.yaml', 'utf8')).groups.flatMap(
    ({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert),
  )
  const tests = readFileSync('dashboards/prometheus/rules.test.yaml', 'utf8')
  for (const alert of rules) expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`))
})

it('the questions a dashboard asks have answers', async () => {
  const questions = [
    'up{job="spanseal"} == 1',
    'sum by (spanseal_decision) (spanseal_decisions_total)',
    'sum by (gen_ai_tool_name) (rate(spanseal_decisions_total{spanseal_decision="deny"}[5m]))',
    'topk(10, sum by (spanseal_rule_id) (spanseal_rule_matches_total))',
    'sum by (spanseal_status) (spanseal_calls_total) / ignoring (spanseal_status) group_left sum(spanseal_calls_total)',
    'spanseal_violations_total > 0',
    'sum by (spanseal_gap_kind) (spanseal_gaps_total) > 0',
    'sum by (spanseal_approval_answer, spanseal_approval_authentication) (spanseal_approvals_total)',
    'spanseal_approval_pending',
    'histogram_quantile(0.95, sum by (le) (spanseal_approval_wait_seconds_bucket))',
    'sum by (gen_ai_request_model, spanseal_token_type) (spanseal_tokens_total)',
    'sum by (gen_ai_request_model, spanseal_usage_scope) (spanseal_cost_usd_total)',
    'sum by (gen_ai_request_model) (spanseal_tokens_unpriced_total)',
    'sum by (spanseal_mode, spanseal_tier) (spanseal_runs_total)',
    'sum by (spanseal_tier) (spanseal_records_total{spanseal_tier!=""})',
    'histogram_quantile(0.99, sum by (le) (spanseal_gate_duration_seconds_bucket))',
    'histogram_quantile(0.99, sum by (le, spanseal_claim_native_event) (spanseal_hook_duration_seconds_bucket))',
    'histogram_quantile(0.99, sum by (le, spanseal_storage) (spanseal_log_sync_duration_seconds_bucket))',
    'histogram_quantile(0.95, sum by (le) (spanseal_turn_duration_seconds_bucket))',
    'spanseal_forward_lag',
    'spanseal_forward_state == 1',
    'sum by (spanseal_destination, spanseal_outcome) (spanseal_forward_spans_total)',
    'spanseal_checkpoint_lag',
    'spanseal_checkpoint_age_seconds',
    'spanseal_outside_size > 0',
    'spanseal_verify_status == 1',
    'time() - spanseal_verify_timestamp_seconds',
    'sum by (http_response_status_code) (spanseal_otlp_requests_total)',
    'spanseal_storage_size_bytes',
    'spanseal_disk_free_bytes',
    'spanseal_index_lag_bytes',
    'process_memory_usage_bytes',
    'spanseal_ready == 1',
    'spanseal_decisions_total * on (job, instance) group_left (service_instance_id) target_info',
  ]
  const silent: string[] = []
  for (const question of questions) if ((await prometheus.query(question)).length === 0) silent.push(question)
  expect(silent).toEqual([])
  expect(await value('sum(spanseal_decisions_total{spanseal_decision="deny"})')).toBe(3)
  expect(await value('histogram_quantile(0.99, sum by (le) (spanseal_gate_duration_seconds_bucket))')).toBeGreaterThan(
    0,
  )
})

it('every query of every dashboard has an answer', async () => {
  // Nothing waits for a checkpoint or outside at a quiet moment; the query must be taken all the same.
  const quiet = new Set(['Checkpoint age while records wait'])
  const silent: string[] = []
  for (const { title, rows } of DASHBOARDS) {
    for (const [, panels] of rows) {
      for (const { title: panel, queries } of panels) {
        for (const [promql] of queries) {
          const answer = await prometheus.query(asked(promql))
          if (answer.length === 0 && !quiet.has(panel)) silent.push(`${title}: ${panel}: ${promql}`)
        }
      }
    }
  }
  expect(silent).toEqual([])
})

it('its scrapes are OpenMetrics with the time each counter began', async () => {
  expect(await value('spanseal_decisions_created')).toBeGreaterThan(1e9)
})

it('it takes every rule, and what happens next fires the alerts that are meant for it', async () => {
  const { groups } = (await prometheus.get('/api/v1/rules')) as { groups: { rules: { health: string }[] }[] }
  expect(groups.flatMap(({ rules }) => rules.map(({ health }) => health))).toEqual(new Array(9).fill('ok'))
  expect(await prometheus.firing()).toEqual([])
  await mixedSession(collector, 3)
  await collector.admin('POST', '/verified', { time: new Date().toISOString(), status: 'broken' })
  const expected = ['SpansealDenyNotEnforced', 'SpansealGap', 'SpansealVerificationFailed']
  await prometheus.until(expected.join(), async () => (await prometheus.firing()).join() === expected.join())
})

it('after a kill what was counted is still there, and no counter looks as if it began anew', async () => {
  const denied = 'sum(spanseal_decisions_total{spanseal_decision="deny"})'
  await prometheus.until('the fourth denial', async () => (await value(denied)) === 4)
  // The same port again, as a configured one would be.
  const { port } = new URL(collector.endpoint().otlp)
  await collector.kill()
  const again = new Collector({ root: collector.root, config: `version: 1\notlp: {port: ${port}}\n` })
  collector = await again.start()
  await prometheus.until(
    'scrapes of the new process',
    async () => (await value('spanseal_collector_starts_total{spanseal_start_after="crash"}')) === 1,
  )
  expect(await value(denied)).toBe(4)
  expect(await value('sum(resets(spanseal_decisions_total[10m]))')).toBe(0)
})
