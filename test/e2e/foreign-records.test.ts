// Signed records of another collector that come in by OTLP: kept as that peer's word where its key is configured, otherwise taken out like
// any other reserved attribute. Both collectors are built ones; the one forwards to the other.
import { createPublicKey, hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { attribute } from '../../conventions/otlp.ts'
import { Backend } from '../support/backend.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

const WAIT = { timeout: 20_000, interval: 50 }
const opened: { remove(): Promise<void> }[] = []

const started = async (config: object) => {
  const collector = await new Collector({
    config: JSON.stringify({ version: 1, otlp: { port: 0 }, ...config }),
  }).start()
  opened.push(collector)
  return collector
}

/** The public half of a collector's record key, as `peers` takes it. */
const recordKey = ({ root }: Collector) =>
  createPublicKey(readFileSync(`${root}/keys/record.pem`))
    .export({ format: 'der', type: 'spki' })
    .toString('base64')

const foreign = async (collector: Collector) =>
  (
    await collector.sql(
      `SELECT peer, log_id, type, peer_tier, same_span, received, receipt_only FROM foreign_records ORDER BY log_seq`,
    )
  ).rows

async function run(collector: Collector, session: string): Promise<void> {
  await collector.hook('SessionStart', event(session, 'SessionStart', { source: 'startup' }))
  await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'list' }))
  await collector.hook('PreToolUse', preToolUse(session, `${session}-1`))
  await collector.hook('PostToolUse', postToolUse(session, `${session}-1`))
  await collector.hook('Stop', event(session, 'Stop'))
}

let receiver: Collector
let sender: Collector
beforeEach(async () => {
  receiver = await started({})
  sender = await started({ forward: [{ name: 'receiver', url: receiver.endpoint().otlp }] })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.remove()))
})

it('are stripped and counted without a key, and kept from the reload on that names one', async () => {
  const received = () => receiver.records().filter(({ type }) => type === 'spans.imported').length
  await run(sender, 'before')
  await vi.waitFor(() => expect(received()).toBeGreaterThan(0), WAIT)
  expect(await foreign(receiver)).toEqual([])
  expect(
    receiver.records().some(({ type, body }) => type === 'gap' && 'kind' in body && body.kind === 'spoofed_attributes'),
  ).toBe(true)

  const config = { version: 1, otlp: { port: 0 }, peers: [{ name: 'laptop-7', key: recordKey(sender) }] }
  writeFileSync(`${receiver.root}/config.yaml`, JSON.stringify(config))
  expect((await receiver.admin('POST', '/reload')).status).toBe(200)
  await run(sender, 'after')
  const logId = sender.records()[0]?.log.id
  // The decision's record is on the gate's span, the result's on the tool's.
  const kept = (type: string) => ['laptop-7', logId, type, 'T1', true, expect.any(String), true]
  await vi.waitFor(async () => {
    const rows = (await foreign(receiver)).map((row) => row.map((value, i) => (i === 5 ? String(value) : value)))
    expect(rows).toContainEqual(kept('tool.decided'))
    expect(rows).toContainEqual(kept('tool.completed'))
  }, WAIT)

  // It is the peer's word and nothing more.
  const tiers = new Set(receiver.records().map(({ tier }) => tier))
  expect([...tiers].filter((tier) => tier !== undefined)).toEqual(['T3'])
  expect((await receiver.sql('SELECT call_id FROM calls')).rows).toEqual([])
  const attributes = (await receiver.sql('SELECT attributes::VARCHAR FROM spans')).rows.flat().join()
  expect(attributes).not.toContain('spanseal.')
  expect((await receiver.verify()).findings.filter(({ severity }) => severity !== 'warning')).toEqual([])
}, 60_000)

it('count once however often they come, and not when they were changed or signed by another', async () => {
  const backend = await new Backend().start()
  opened.push({ remove: () => backend.stop() })
  const other = await started({ forward: [{ name: 'b', url: backend.url }] })
  await run(other, 's')
  const spans = () => backend.spans()
  await vi.waitFor(() => expect(spans().some(({ name }) => name.startsWith('execute_tool'))).toBe(true), WAIT)
  const tool = spans().find(({ name }) => name.startsWith('execute_tool'))
  const signed = tool?.attributes?.find(({ key }) => key === 'spanseal.record')?.value
  if (tool === undefined || signed === undefined || !('stringValue' in signed)) throw new Error('no signed span came')
  const text = signed.stringValue
  const knows = await started({
    peers: [
      { name: 'desk', key: recordKey(other) },
      { name: 'laptop', key: recordKey(sender) },
    ],
  })
  const send = async (record: string, spanId = tool.spanId) => {
    const attributes = [attribute('spanseal.record', record)]
    const span = { traceId: tool.traceId, spanId, name: 'x', startTimeUnixNano: '1', endTimeUnixNano: '2', attributes }
    const answer = await fetch(`${knows.endpoint().otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
    })
    expect(answer.status).toBe(200)
  }
  const [kid = '', signature = '', record = ''] = text.split('.')
  const changed = Buffer.from(record, 'base64url').toString().replace('"T1"', '"T2"')
  expect(changed).toContain('"T2"')
  const laptop = `sha256:${hash('sha256', Buffer.from(recordKey(sender), 'base64'), 'hex')}`
  await send(`${kid}.${signature}.${Buffer.from(changed).toString('base64url')}`)
  await send(`${laptop}.${signature}.${record}`)
  await send(text.slice(0, -8))
  await send('')
  expect(await foreign(knows)).toEqual([])
  // On another span it is still that peer's record, and not about the span it came on.
  await send(text, 'f'.repeat(16))
  expect((await foreign(knows)).map(([peer, , , , same]) => [peer, same])).toEqual([['desk', false]])
  await send(text)
  await send(text)
  const rows = await foreign(knows)
  expect(rows.map(([peer, , type, tier, same, received]) => [peer, type, tier, same, Number(received)])).toEqual([
    ['desk', 'tool.completed', 'T1', true, 3],
  ])
}, 60_000)

it('need a key that is one', async () => {
  const refused = new Collector({
    config: JSON.stringify({ version: 1, otlp: { port: 0 }, peers: [{ name: 'a', key: 'AAAA' }] }),
  })
  opened.push(refused)
  await expect(refused.start()).rejects.toThrow(/peers\.0\.key: must be the base64 SPKI of an Ed25519 public key/)
})
