// Through a real OpenTelemetry Collector that runs the project's otel-config.yaml to a real Jaeger.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Backend } from '../../support/backend.ts'
import { runCli } from '../../support/cli.ts'
import { event, postToolUse, preToolUse } from '../../support/collector.ts'
import { allVerified, chain, cleanUp, cleanUpLater, startedOtelcol, startedSending, whileSending } from './chain.ts'
import { Otelcol, validate } from './otelcol.ts'
import { until } from './program.ts'
import { byTrace, calmSession, isRoot, session } from './session.ts'

afterEach(cleanUp)

it('otelcol validate accepts otel-config.yaml, and refuses it with a setting that does not exist', () => {
  expect(validate('otel-config.yaml')).toMatchObject({ status: 0 })
  const folder = mkdtempSync(join(tmpdir(), 'spanseal-validate-'))
  const broken = join(folder, 'broken.yaml')
  writeFileSync(broken, readFileSync('otel-config.yaml', 'utf8').replace('block_on_overflow', 'block_when_full'))
  expect(validate(broken)).toMatchObject({ status: 1, output: expect.stringContaining('block_when_full') })
  rmSync(folder, { recursive: true })
})

it('spans arrive through the OpenTelemetry Collector, and each resolves to a verified record', async () => {
  const { sending, jaeger } = await chain()
  for (const id of ['S1', 'S2']) await session(sending.collector, id)
  const spans = await allVerified({ sending, jaeger }, await sending.expected())
  for (const [, members] of byTrace(spans)) expect(members.filter(isRoot)).toHaveLength(1)
})

it('nothing is lost when the backend is away and the OpenTelemetry Collector is killed with spans in its queue', async () => {
  const { sending, jaeger, otelcol } = await chain()
  await jaeger.kill()
  await session(sending.collector, 'S1')
  const expected = await sending.expected()
  await sending.served('peer')
  // Taken by the OpenTelemetry Collector: from here on our collector doesn't send them again.
  await sending.collector.stop()
  await otelcol.kill()
  await otelcol.start()
  await otelcol.stop()
  await otelcol.start()
  await jaeger.start()
  await allVerified({ sending, jaeger }, expected)
})

it('all spans arrive through an OpenTelemetry Collector that is killed again and again while the backend is away', async () => {
  const { sending, jaeger, otelcol } = await chain()
  await jaeger.kill()
  await whileSending(sending, async () => {
    await otelcol.kill()
    await otelcol.start()
  })
  await jaeger.start()
  await allVerified({ sending, jaeger }, await sending.expected())
})

it('an OpenTelemetry Collector short of memory refuses, and gets everything again when it has some', async () => {
  const { sending, jaeger, otelcol } = await chain()
  await otelcol.stop()
  // Less than the program itself takes.
  const limits = ['limit_percentage: 0', 'spike_limit_percentage: 0', 'limit_mib: 2', 'spike_limit_mib: 1']
  await otelcol.start(limits.map((limit) => `processors::memory_limiter::${limit}`))
  await until('a refusal', async () => (await fetch(`${otelcol.url}/v1/traces`, foreign(1))).status === 503)
  await session(sending.collector, 'S1')
  await until('a repetition', async () => (await sending.forwarded('peer')).retries > 0)
  expect(await sending.forwarded('peer')).toMatchObject({ state: 'retrying', reason: 'HTTP 503', sent: 0 })
  await otelcol.stop()
  await otelcol.start()
  await allVerified({ sending, jaeger }, await sending.expected())
})

it('a full queue makes our collector wait, and loses nothing', async () => {
  // Room for one request of ours at its largest. What a consumer holds is not always counted, so there is one only.
  const settings = ['queue_size: 1048576', 'num_consumers: 1'].map(
    (setting) => `exporters::otlp_http::sending_queue::${setting}`,
  )
  const { sending, jaeger } = await chain({ settings })
  await jaeger.kill()
  const { collector } = sending
  for (let i = 0; i < 900; i++) {
    await collector.hook('PreToolUse', preToolUse('S1', `c${i}`))
    await collector.hook('PostToolUse', postToolUse('S1', `c${i}`))
  }
  await collector.hook('SessionEnd', event('S1', 'SessionEnd', { reason: 'other' }))
  const expected = await sending.expected()
  expect(expected.length).toBeGreaterThanOrEqual(1_800)
  // Our request times out after half a minute in front of the full queue and is repeated.
  await until('a request that has to wait', async () => (await sending.forwarded('peer')).retries > 0)
  expect((await sending.forwarded('peer')).sent).toBeLessThan(expected.length)
  await jaeger.start()
  await sending.served('peer')
  expect(await sending.forwarded('peer')).toMatchObject({ sent: expected.length, rejected: 0, quarantined: 0 })
  await allVerified({ sending, jaeger }, expected)
})

it('with the tail sampling of otel-config.yaml all evidence is kept, and other traces by chance', async () => {
  const settings = ['processors::tail_sampling::decision_wait: 1s']
  const { sending, jaeger, otelcol } = await chain({ settings, processors: ['tail_sampling'] })
  // Chance alone, one in ten, would neither keep all evidence nor all of the others.
  const others = 60
  for (let i = 1; i <= others; i++) expect((await fetch(`${otelcol.url}/v1/traces`, foreign(i))).status).toBe(200)
  for (let i = 0; i < 20; i++) await calmSession(sending.collector, `S${i}`)
  const spans = await allVerified({ sending, jaeger }, await sending.expected())
  expect(spans.filter(({ status }) => status?.code === 2)).toEqual([])
  // Jaeger has the evidence, so the older traces were decided long before.
  expect((await jaeger.spans('other')).length).toBeLessThan(others)
})

it('evidence as logs passes a real OpenTelemetry Collector whole, in both encodings; a Jaeger that takes no logs still gets its spans', async () => {
  const { jaeger } = await startedOtelcol()
  const kept = await new Backend().start()
  cleanUpLater(() => kept.stop())
  const settings = [
    'exporters::otlp_http::encoding: json',
    'service::pipelines::logs: {receivers: [otlp], processors: [memory_limiter], exporters: [otlp_http]}',
  ]
  const otelcol = new Otelcol({ backend: kept.url, settings })
  cleanUpLater(() => otelcol.remove())
  await otelcol.start()
  const sending = await startedSending(jaeger.url, [
    { name: 'protobuf', url: otelcol.url, evidence: 'logs', protocol: 'http/protobuf' },
    { name: 'json', url: otelcol.url, evidence: 'logs' },
    { name: 'jaeger', url: jaeger.url, evidence: 'both', protocol: 'http/protobuf' },
  ])
  const { collector } = sending
  await session(collector, 'S1')
  const expected = await sending.expected()
  for (const name of ['protobuf.logs', 'json.logs', 'jaeger']) await sending.served(name)
  expect(await sending.forwarded('jaeger.logs')).toMatchObject({ state: 'blocked', reason: 'HTTP 404', sent: 0 })
  await allVerified({ jaeger, sending }, expected)
  await collector.stop()
  const records = collector.records().length
  const copies = `${collector.root}/kept.jsonl`
  await until('the logs behind the Collector', async () => {
    writeFileSync(
      copies,
      kept.bodies
        .filter((body) => body.startsWith('{"resourceLogs"'))
        .map((body) => `${body}\n`)
        .join(''),
    )
    const { stdout } = await runCli(['--home', collector.root, 'verify', '--against', `file=${copies}`, '--json'])
    const { counts, agree_to } = JSON.parse(stdout).copies
    return counts.agrees === 2 * records && agree_to === records - 1 && counts.damaged === 0
  })
  expect(kept.bodies.join('').match(/"spanseal\.checkpoint"/g)?.length).toBeGreaterThan(1)
})

/** A request with one span of a program that has nothing to do with us. */
function foreign(number: number): RequestInit {
  const now = `${BigInt(Date.now()) * 1_000_000n}`
  // The sampler decides by a hash of the id.
  const traceId = number.toString(16).padStart(32, '0')
  const span = { traceId, spanId: 'b'.repeat(16), name: 'other', startTimeUnixNano: now, endTimeUnixNano: now }
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'other' } }] }
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }),
  }
}
