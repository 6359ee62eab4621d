// What a running collector says of itself: metrics that are in the registry and hold no content, readiness that does not lie, a push
// whose silence can be seen.
import { unlinkSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { Definition } from '../../collector/telemetry/metrics.ts'
import { METRICS } from '../../conventions/metrics.ts'
import { Backend } from '../support/backend.ts'
import { Collector, preToolUse } from '../support/collector.ts'
import { claimsBody, mixedSession, postSpan, samples, scrape, total } from '../telemetry/support.ts'

let collector: Collector
let backend: Backend | undefined
afterEach(async () => {
  await collector.remove()
  await backend?.stop()
  backend = undefined
})

/** Labels by the name of a sample as a scraper sees it. */
const REGISTERED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<Definition>(METRICS).flatMap(([name, { instrument, unit, labels }]): [string, string[]][] => {
    const base = name.replaceAll('.', '_') + ({ s: '_seconds', By: '_bytes' }[unit] ?? '')
    const own = labels.map(([label]) => label.replaceAll('.', '_'))
    if (instrument === 'counter') return [[`${base}_total`, own]]
    if (instrument === 'gauge') return [[base, own]]
    const bucket: [string, string[]] = [`${base}_bucket`, [...own, 'le']]
    return [bucket, [`${base}_sum`, own], [`${base}_count`, own]]
  }),
)

it('every exposed metric and label is in the registry, nearly every one of the registry shows, and nothing is content', async () => {
  backend = await new Backend().start()
  collector = await new Collector({
    config: `version: 1\notlp: {port: 0}\nforward: [{name: test, url: "${backend.url}"}]\nmetrics: {url: "${backend.url}"}\n`,
  }).start()
  for (let n = 0; n < 3; n++) await mixedSession(collector, n)
  expect([await postSpan(collector), await postSpan(collector, true)]).toEqual([200, 400])
  await collector.admin('POST', '/verified', { time: new Date().toISOString(), status: 'intact' })
  await collector.admin('POST', '/reload')
  const { otlp } = collector.endpoint()
  let all = await scrape(collector)
  // The forwarder reads its cursor in the background.
  for (let i = 0; i < 100 && total(all, 'spanseal_outside_size') === 0; i++) {
    await sleep(50)
    all = await scrape(collector)
  }
  const unknown = all.filter(({ name, labels }) => {
    const allowed = name === 'target_info' ? Object.keys(labels) : REGISTERED.get(name)
    return allowed === undefined || Object.keys(labels).some((label) => !allowed.includes(label))
  })
  expect(unknown).toEqual([])
  const shown = new Set(all.map(({ name }) => name))
  // No agent changed its settings, there is no webhook, and nothing was folded.
  const absent = [
    'spanseal_settings_changes_total',
    'spanseal_approvals_notices_total',
    'spanseal_metrics_folded_total',
  ]
  expect([...REGISTERED.keys()].filter((name) => !shown.has(name))).toEqual(absent)

  for (const accept of ['text/plain', 'application/openmetrics-text']) {
    const text = await (await fetch(`${otlp}/metrics`, { headers: { accept } })).text()
    for (const planted of ['CONTENT-', 'SESSION-', collector.root, '/home/dev', backend.url])
      expect(text).not.toContain(planted)
  }
  expect(total(all, 'spanseal_decisions_total', { spanseal_decision: 'deny' })).toBe(3)
  expect(total(all, 'spanseal_violations_total')).toBe(3)
  expect(total(all, 'spanseal_gaps_total', { spanseal_gap_kind: 'completed_not_decided' })).toBe(3)
  expect(total(all, 'spanseal_approvals_total', { spanseal_approval_authentication: 'unauthenticated' })).toBe(3)
  expect(total(all, 'spanseal_tokens_total', { spanseal_token_type: 'cache_read' })).toBe(300)
  // Of each session a message whose model has a price: 5 in at 4 USD a million, 7 out at 20, 100 read at 0.20, 10 written at 5.
  expect(total(all, 'spanseal_cost_usd_total', { spanseal_usage_scope: 'session' })).toBeCloseTo(3 * 0.00023, 12)
  expect(total(all, 'spanseal_tokens_unpriced_total', { gen_ai_request_model: 'nobody-knows' })).toBe(21)
  expect(total(all, 'spanseal_claims_total', { spanseal_outcome: 'refused' })).toBe(3)
  expect(total(all, 'spanseal_claims_total', { spanseal_outcome: 'duplicate' })).toBe(3)
  expect(total(all, 'spanseal_otlp_requests_total', { http_response_status_code: '200' })).toBe(1)
  expect(total(all, 'spanseal_otlp_requests_total', { http_response_status_code: '400' })).toBe(1)
  expect(total(all, 'spanseal_import_spans_total')).toBe(1)
  expect(total(all, 'spanseal_verify_status', { spanseal_verify_status: 'intact' })).toBe(1)
  expect(total(all, 'spanseal_ready')).toBe(1)
  expect(total(all, 'spanseal_hook_duration_seconds_count', { spanseal_claim_native_event: 'PreToolUse' })).toBe(18)
  expect(total(all, 'spanseal_gate_duration_seconds_count')).toBe(12)
})

it('what is counted from the log survives a kill; what counts from the start says that it began anew', async () => {
  collector = await new Collector().start()
  await mixedSession(collector, 0)
  const before = await scrape(collector)
  const created = async (name: string) => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' }
    const text = await (await fetch(`${collector.endpoint().otlp}/metrics`, { headers })).text()
    return total(samples(text), name)
  }
  const [log, process] = [
    await created('spanseal_collector_starts_created'),
    await created('spanseal_gate_duration_seconds_created'),
  ]
  await collector.kill()
  await collector.start()
  const after = await scrape(collector)
  for (const name of [
    'spanseal_decisions_total',
    'spanseal_violations_total',
    'spanseal_tokens_total',
    'spanseal_calls_total',
  ]) {
    expect(total(after, name), name).toBeGreaterThan(0)
    expect(total(after, name), name).toBe(total(before, name))
  }
  expect(total(after, 'spanseal_collector_starts_total', { spanseal_start_after: 'crash' })).toBe(1)
  expect(total(after, 'spanseal_gate_duration_seconds_count')).toBe(0)
  expect(total(before, 'spanseal_cost_usd_total')).toBeGreaterThan(0)
  expect(total(after, 'spanseal_cost_usd_total')).toBe(0)
  // Two kinds of starts now, both as old as the log.
  expect(await created('spanseal_collector_starts_created')).toBeCloseTo(2 * log, 3)
  expect(await created('spanseal_gate_duration_seconds_created')).toBeGreaterThan(process)
})

it('answers this machine only, and no web page', async () => {
  collector = await new Collector().start()
  const { otlp } = collector.endpoint()
  const status = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<number>((done, fail) => {
      request(`${otlp}${path}`, { method, headers }, (res) => done(res.resume().statusCode ?? 0))
        .on('error', fail)
        .end()
    })
  for (const path of ['/metrics', '/livez', '/readyz']) {
    expect(await status(path)).toBe(200)
    expect(await status(path, {}, 'HEAD')).toBe(200)
    expect(await status(path, { host: 'evil.example' })).toBe(403)
    expect(await status(path, { origin: 'http://evil.example' })).toBe(403)
    expect(await status(path, {}, 'POST')).toBe(405)
  }
})

it('is not ready once hooks can’t reach it, and says why; alive all the same', async () => {
  collector = await new Collector().start()
  const get = async (path: string) => {
    const response = await fetch(`${collector.endpoint().otlp}${path}`)
    return { status: response.status, text: await response.text() }
  }
  expect(await get('/readyz')).toEqual({ status: 200, text: '{"ready":true,"reasons":[]}' })
  unlinkSync(`${collector.root}/run/hook.sock`)
  await sleep(1_100)
  const now = await get('/readyz')
  expect(now.status).toBe(503)
  expect(now.text).toContain('hooks can’t reach the collector')
  expect(total(await scrape(collector), 'spanseal_ready')).toBe(0)
  expect((await get('/livez')).status).toBe(200)
})

it('pushes the same as OTLP with a heartbeat, makes good what a dead destination missed, and a last time when it stops', async () => {
  backend = await new Backend().start()
  const { port } = backend
  collector = await new Collector({
    config: `version: 1\notlp: {port: 0}\nmetrics: {url: "${backend.url}", headers: {authorization: SECRET-TOKEN}, interval_seconds: 1}\n`,
  }).start()
  const id = (await collector.status()).log_id
  const pushed = async (count: number) => {
    for (let i = 0; (backend?.bodies.length ?? 0) < count; i++) {
      if (i > 200) throw new Error('no push came')
      await sleep(50)
    }
    return JSON.parse(backend?.bodies.at(-1) ?? '').resourceMetrics[0]
  }
  // Nothing happens, and it is heard all the same.
  const first = await pushed(3)
  expect(first.resource.attributes).toContainEqual({ key: 'service.instance.id', value: { stringValue: id } })
  await backend.stop()
  await collector.hook('PreToolUse', preToolUse('S1', 'c1', 'git push --force origin main'))
  for (
    let i = 0;
    i < 200 && total(await scrape(collector), 'spanseal_metrics_pushes_total', { spanseal_outcome: 'failed' }) === 0;
    i++
  )
    await sleep(50)
  backend = await new Backend().start(port)
  const names = (of: { scopeMetrics: { metrics: { name: string }[] }[] }) =>
    of.scopeMetrics[0]?.metrics.map(({ name }) => name)
  expect(names(await pushed(1))).toContain('spanseal.decisions')
  const before = backend.bodies.length
  await collector.stop()
  expect(backend.bodies.length).toBeGreaterThan(before)
  expect(collector.stderr).toMatch(/metrics don't get to .*: ECONNREFUSED/)
  expect(collector.stderr).toContain('again')
  expect(collector.stderr).not.toContain('SECRET-TOKEN')
})

it('thousands of agents, sessions, tools and paths leave the series bounded and their counts whole', async () => {
  collector = await new Collector().start()
  const most = async (from: number, to: number) => {
    for (let at = from; at < to; at += 500) {
      const claims = Array.from({ length: 500 }, (_, i) => ({
        event: 'tool.after' as const,
        agent: `agent-${at + i}`,
        session: `SESSION-${at + i}`,
        callId: `c${at + i}`,
        tool: `tool-${at + i}`,
        args: '{}',
        cwd: `/home/dev/${at + i}`,
      }))
      expect((await collector.gate(claimsBody(claims))).status).toBe(200)
    }
    return scrape(collector)
  }
  const half = await most(0, 1_000)
  const all = await most(1_000, 2_000)
  expect(all.length).toBeLessThan(2_000)
  // What a doubled load adds: at most the counts of how much was folded.
  expect(all.length - half.length).toBeLessThanOrEqual(5)
  expect(total(all, 'spanseal_calls_total')).toBe(2_000)
  expect(total(all, 'spanseal_runs_total')).toBe(2_000)
  expect(all.filter(({ name }) => name === 'spanseal_calls_total')).toHaveLength(201)
  expect(total(all, 'spanseal_calls_total', { gen_ai_tool_name: 'other' })).toBe(1_800)
})
