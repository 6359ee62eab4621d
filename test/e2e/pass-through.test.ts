// Spans of others through the built collector to a stand-in for a backend: marked, resolved, once each, over restarts and refusals.
import { readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MAX_BATCH_ITEMS } from '../../collector/forward/batch.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { LOG_START } from '../../conventions/log.ts'
import { attribute, type KeyValue, type Span } from '../../conventions/otlp.ts'
import { Backend, text } from '../support/backend.ts'
import { runCli } from '../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

let backend: Backend
let collector: Collector

interface Stream {
  name: string
  state: string
  sent: number
  quarantined: number
  withheld: number
  unreadable: number
  next_seq: number
}

beforeEach(async () => {
  backend = await new Backend().start()
  collector = await started([{ name: 'backend', url: backend.url, pass_through: true }])
})

afterEach(async () => {
  await collector.remove()
  await backend.stop()
})

function started(forward: object[]): Promise<Collector> {
  return new Collector({ config: JSON.stringify({ version: 1, otlp: { port: 0 }, forward }) }).start()
}

let made = 0
const hex = (chars: number) => (++made).toString(16).padStart(chars, 'a')

function span(attributes: KeyValue[] = [], more: Partial<Span> = {}): Span {
  return {
    traceId: hex(32),
    spanId: hex(16),
    name: 'chat gpt',
    kind: 3,
    startTimeUnixNano: '1790000000000000001',
    endTimeUnixNano: '1790000000000000009',
    attributes,
    ...more,
  }
}

async function send(spans: Span[], resource: KeyValue[] = [attribute('service.name', 'their-app')]): Promise<void> {
  const answer = await fetch(`${collector.endpoint().otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: 'their-sdk' }, spans }] }],
    }),
  })
  expect(answer.status).toBe(200)
}

async function stream(name = 'backend'): Promise<Stream> {
  const { forward } = (await collector.status()) as unknown as { forward: Stream[] }
  return forward.find((each) => each.name === name) as Stream
}

/** Waits until the destination was sent all there is. */
async function served(name = 'backend'): Promise<Stream> {
  for (;;) {
    const { records } = (await collector.status()) as unknown as { records: number }
    const now = await stream(name)
    if (now.next_seq >= records) return now
    await sleep(20)
  }
}

const theirs = (of = backend) => of.spans().filter((each) => text(each, 'spanseal.tier') === 'T3')
const ids = (spans: Span[]) => spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`).sort()

it('sends what others sent, with its ids, marked as theirs; check span resolves all of it', async () => {
  const parent = span([attribute('gen_ai.request.model', 'm1'), attribute('spanseal.tier', 'T1')])
  const child = span([attribute('gen_ai.usage.input_tokens', 7)], {
    traceId: parent.traceId,
    parentSpanId: parent.spanId,
    links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }],
    status: { code: 2 },
  })
  await send([parent, child, span([], { spanId: '0'.repeat(16) })])
  expect(await served()).toMatchObject({ sent: 2, withheld: 0, unreadable: 0, quarantined: 0 })
  const [first, second] = theirs()
  const imported = collector.records().find(({ type }) => type === 'spans.imported')
  expect(first).toMatchObject({ traceId: parent.traceId, spanId: parent.spanId, name: 'chat gpt', kind: 3 })
  expect(second).toMatchObject({ parentSpanId: parent.spanId, links: child.links, status: { code: 2 } })
  expect(second?.attributes).toContainEqual(attribute('gen_ai.usage.input_tokens', 7))
  for (const each of [first, second]) {
    expect(each?.attributes?.filter(({ key }) => key === 'spanseal.tier')).toEqual([attribute('spanseal.tier', 'T3')])
    expect(each?.attributes).toContainEqual(attribute('spanseal.receipt_only', true))
    expect(each?.attributes).toContainEqual(attribute('spanseal.seq', imported?.log.seq ?? -1))
  }
  const { resourceSpans } = JSON.parse(backend.bodies.find((body) => body.includes('their-app')) ?? '{}')
  expect(resourceSpans[0]).toMatchObject({
    resource: { attributes: [attribute('service.name', 'their-app')] },
    scopeSpans: [{ scope: { name: 'their-sdk' } }],
  })

  const copy = `${collector.root}/copy.jsonl`
  const check = () =>
    runCli(['--home', collector.root, 'check', 'span', parent.traceId, '--in', `file=${copy}`, '--json'])
  writeFileSync(copy, `${backend.bodies.join('\n')}\n`)
  await collector.stop()
  const honest = await check()
  expect(JSON.parse(honest.stdout)).toMatchObject({ agree: 2, of: 2, log: 'self_consistent' })
  expect(honest.status).toBe(0)
  // The receipt of one request says nothing of a span that was not in it.
  writeFileSync(
    copy,
    `${backend.bodies.join('\n').replaceAll(`"spanId":"${child.spanId}"`, `"spanId":"${'e'.repeat(16)}"`)}\n`,
  )
  const moved = await check()
  expect(JSON.parse(moved.stdout)).toMatchObject({ agree: 1, of: 2 })
  expect(moved.status).toBe(1)
})

it('sends nothing of others unless the destination asked for it', async () => {
  await collector.remove()
  collector = await started([{ name: 'backend', url: backend.url }])
  await send([span()])
  expect(await served()).toMatchObject({ sent: 0, withheld: 0 })
  expect(backend.bodies).toEqual([])
})

it('sends no content, no host, no owner, no command line; to the destination that asked for it, content', async () => {
  const trusted = await new Backend().start()
  await collector.remove()
  collector = await started([
    { name: 'backend', url: backend.url, pass_through: true },
    { name: 'trusted', url: trusted.url, pass_through: true, content: true },
  ])
  const said = span([attribute('gen_ai.input.messages', 'CONTENT-PROMPT'), attribute('tool.name', 'Bash')], {
    events: [{ timeUnixNano: '5', name: 'exception', attributes: [attribute('exception.message', 'CONTENT-EVENT')] }],
    status: { code: 2, message: 'CONTENT-STATUS' },
  })
  await send(
    [said],
    [
      attribute('service.name', 'their-app'),
      attribute('process.owner', 'PRIVATE-OWNER'),
      attribute('host.name', 'PRIVATE-HOST'),
      { key: 'process.command_args', value: { arrayValue: { values: [{ stringValue: 'PRIVATE-ARGS' }] } } },
    ],
  )
  await served()
  await served('trusted')
  expect(theirs()).toHaveLength(1)
  expect(text(theirs()[0] as Span, 'tool.name')).toBe('Bash')
  expect(backend.bodies.join()).not.toMatch(/CONTENT|PRIVATE/)
  const all = trusted.bodies.join()
  for (const piece of ['PROMPT', 'EVENT', 'STATUS']) expect(all).toContain(`CONTENT-${piece}`)
  expect(all).not.toContain('PRIVATE')
  await trusted.stop()
})

it('withholds the spans of a session that hooks speak for, and counts them', async () => {
  await collector.hook('SessionStart', event('S1', 'SessionStart', { source: 'startup' }))
  await collector.hook('PreToolUse', preToolUse('S1', 'c1'))
  await collector.hook('PostToolUse', postToolUse('S1', 'c1'))
  await collector.hook('SessionEnd', event('S1', 'SessionEnd', { reason: 'other' }))
  const named = span([attribute('session.id', 'S1')])
  const inTrace = span([], { traceId: named.traceId })
  const other = span([attribute('session.id', 'S2')])
  await send([named, inTrace, other])
  await send([span()], [attribute('session.id', 'S1')])
  expect(await served()).toMatchObject({ withheld: 3 })
  expect(ids(theirs())).toEqual(ids([other]))
  expect((await runCli(['--home', collector.root, 'status'])).stdout).toContain('3 of others withheld')
  // Known after a restart, too, and not counted twice.
  await collector.kill()
  await collector.start()
  await send([span([attribute('session.id', 'S1')])])
  expect(await served()).toMatchObject({ withheld: 4 })
})

it('ends every loop: what a collector of ours sent is not sent again', async () => {
  const origin = span()
  await send([origin])
  await served()
  const [back] = theirs()
  // By way of somebody else's Collector, beside a span of others; and from another collector of ours.
  const beside = span()
  await send([back as Span, beside])
  await send([span([attribute('spanseal.log.id', 'f'.repeat(32))])])
  expect(await served()).toMatchObject({ sent: 2, withheld: 1 })
  expect(ids(theirs())).toEqual(ids([origin, beside]))
})

it('sends each span once over a dead backend and kills on both sides', async () => {
  const { port } = backend
  const spans = Array.from({ length: 2 * MAX_BATCH_ITEMS + 100 }, () => span())
  await backend.stop()
  await send(spans)
  await send([span([], { name: 'last' })])
  await sleep(500)
  await collector.kill()
  await collector.start()
  expect((await stream()).sent).toBe(0)
  backend = new Backend()
  // Away again after the first batch, which is a part of the one request.
  backend.refuses = () => {
    if (backend.bodies.length === 1) backend.answer = 503
    return false
  }
  await backend.start(port)
  while ((await stream()).state !== 'retrying') await sleep(20)
  expect(theirs()).toHaveLength(MAX_BATCH_ITEMS)
  await collector.kill()
  backend.refuses = () => false
  backend.answer = 200
  await collector.start()
  expect(await served()).toMatchObject({ sent: spans.length + 1 })
  expect(theirs()).toHaveLength(spans.length + 1)
  expect(new Set(ids(theirs())).size).toBe(spans.length + 1)
})

it('leaves out the one span that a backend refuses', async () => {
  const poisoned = span([], { name: 'poison' })
  const good = [span(), span(), span()]
  backend.refuses = (body) => body.includes('"poison"')
  await send([...good.slice(0, 2), poisoned, ...good.slice(2)])
  expect(await served()).toMatchObject({ sent: 3, quarantined: 1 })
  expect(ids(theirs())).toEqual(ids(good))
  expect(collector.stderr).toContain(poisoned.spanId)
})

it('sends nothing under a receipt of something else: a body that was changed on disk is counted as unreadable', async () => {
  const { port } = backend
  await backend.stop()
  await send([span([attribute('tool.name', 'ORIGINAL')]), span()])
  await collector.kill()
  const [segment = ''] = readdirSync(`${collector.root}/vault`)
  expect(readFrames(`${collector.root}/vault`, LOG_START, 1)).toHaveLength(1)
  await rewriteVault(`${collector.root}/vault/${segment}`)
  await collector.start()
  backend = await new Backend().start(port)
  expect(await served()).toMatchObject({ sent: 0, unreadable: 2 })
  expect(theirs()).toEqual([])
  expect(collector.stderr).toContain("2 spans of others can't be read any more")
})

/** As someone who can write the vault: another word of the same length, with a checksum that fits. */
async function rewriteVault(path: string): Promise<void> {
  const { crc32 } = await import('node:zlib')
  const { encodeFrame } = await import('../../conventions/frame.ts')
  const frames = readFrames(`${collector.root}/vault`, LOG_START, Number.POSITIVE_INFINITY)
  const changed = frames.map(({ payload }) =>
    Buffer.from(Buffer.from(payload).toString('latin1').replace('ORIGINAL', 'FORGED!!'), 'latin1'),
  )
  writeFileSync(path, Buffer.concat(changed.map((payload) => encodeFrame(payload, crc32))))
}
