// What leaves of a span of others, and how the reader takes such spans a piece at a time.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchReader, MAX_BATCH_ITEMS } from '../../collector/forward/batch.ts'
import { MAX_CONTENT_BYTES } from '../../collector/forward/content.ts'
import type { Passed, PassSource, Recorded } from '../../collector/forward/pass-through.ts'
import { passedSpans } from '../../collector/forward/passed-spans.ts'
import { encodeTraces } from '../../collector/forward/protobuf.ts'
import { type EncodedSpan, encodePassed, exportRequest } from '../../collector/forward/request.ts'
import { traces } from '../../collector/forward/traces.ts'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { readPassable } from '../../collector/receive/otlp/passable.ts'
import { SESSION_KEYS } from '../../conventions/import.ts'
import { attribute, type ExportTraceServiceRequest, type KeyValue, type Span } from '../../conventions/otlp.ts'
import { MemoryLog, Session } from './support.ts'

const MARK = attribute('spanseal.tier', 'T3')
const SETTINGS = { resourceAttributes: { team: 'x', 'service.name': 'configured' }, version: '1' }

const spanOf = (attributes: KeyValue[] = [], more: Partial<Span> = {}): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name: 'chat',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes,
  ...more,
})

const requestOf = (spans: Span[], resource: KeyValue[] = []): ExportTraceServiceRequest => ({
  resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: 'sdk' }, spans }] }],
})

const passed = (request: ExportTraceServiceRequest, content = false, hooked: string[] = []) => [
  ...passedSpans(request, { marks: [MARK], content, hooked: new Set(hooked) }),
]

const only = (span: Span, content = false): Span => JSON.parse(passed(requestOf([span]), content)[0]?.json ?? '{}')

test('without content, no text leaves but names under keys that are known to hold one', () => {
  const text = fc.string({ minLength: 6, maxLength: 20 }).map((each) => `CONTENT${each}`)
  const value = fc.oneof(
    text.map((stringValue) => ({ stringValue })),
    text.map((stringValue) => ({ arrayValue: { values: [{ stringValue }] } })),
    text.map((stringValue) => ({ kvlistValue: { values: [{ key: 'k', value: { stringValue } }] } })),
    text.map((each) => ({ bytesValue: Buffer.from(each).toString('base64') })),
  )
  const unknown = fc.record({ key: fc.string().map((key) => `x.${key}`), value })
  fc.assert(
    fc.property(fc.array(unknown, { maxLength: 5 }), (attributes) => {
      const event = { timeUnixNano: '1', name: 'e', attributes }
      const link = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes }
      const span = spanOf(attributes, { events: [event], links: [link], status: { code: 2, message: 'CONTENT' } })
      const request = requestOf([span], attributes)
      if (request.resourceSpans[0]?.scopeSpans?.[0] !== undefined)
        request.resourceSpans[0].scopeSpans[0].scope = { name: 'sdk', attributes }
      const [out] = passed(request)
      expect(JSON.parse(out?.json ?? '').attributes).toEqual([MARK])
      for (const text of [out?.json, out?.origin]) expect(text).not.toContain('CONTENT')
    }),
  )
})

test('numbers, booleans and names leave; a long text under a known key is content by mistake', () => {
  const kept = [attribute('x.count', 3), attribute('x.flag', true), attribute('tool.name', 'Bash')]
  const host = attribute('server.address', 'db.internal')
  const long = attribute('gen_ai.tool.name', 'x'.repeat(257))
  expect(only(spanOf([...kept, long, host])).attributes).toEqual([...kept, MARK])
  expect(only(spanOf([], { name: 'n'.repeat(300) })).name).toHaveLength(256)
})

test('content is cut at its limit and says so; a value that is no text and too long is left out', () => {
  const out = only(
    spanOf([
      attribute('long', 'ü'.repeat(MAX_CONTENT_BYTES)),
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'y'.repeat(MAX_CONTENT_BYTES) }] } } },
      attribute('short', 'said'),
    ]),
    true,
  )
  expect(out.attributes?.map(({ key }) => key)).toEqual(['long', 'short', 'spanseal.content.cut', 'spanseal.tier'])
  const value = out.attributes?.[0]?.value
  expect(value !== undefined && 'stringValue' in value && Buffer.byteLength(value.stringValue)).toBe(MAX_CONTENT_BYTES)
})

test.each(SESSION_KEYS)('a session of hooks is known by %s, on a span, its trace or its resource', (key) => {
  const named = spanOf([attribute(key, 'S1')])
  const other = spanOf([attribute(key, 'S2')], { traceId: 'f'.repeat(32) })
  expect(passed(requestOf([spanOf(), named, other]), false, ['S1']).map((each) => each !== null)).toEqual([
    false,
    false,
    true,
  ])
  expect(passed(requestOf([other], [attribute(key, 'S1')]), false, ['S1'])).toEqual([null])
})

test('what invalid, own and relayed spans there are stays here, and no reserved attribute of a sender leaves', () => {
  const log = (id: string) => attribute('spanseal.log.id', id)
  const spans = [
    spanOf([attribute('spanseal.record', 'x')], {
      links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: [MARK] }],
    }),
    spanOf([], { traceId: '0'.repeat(32) }),
    spanOf([log('own')]),
    spanOf([log('foreign')]),
    spanOf([{ key: 'spanseal.log.id', value: { intValue: '1' } }]),
  ]
  const read = readPassable(Buffer.from(JSON.stringify(requestOf(spans))), 'json', 'own')
  if (!read.ok) throw new Error('it decodes')
  expect(read.relayed).toBe(2)
  const out = passed(read.request, true)
  expect(out).toHaveLength(1)
  expect(JSON.parse(out[0]?.json ?? '')).toMatchObject({ attributes: [MARK], links: [{ attributes: [] }] })
  const whole = readPassable(Buffer.from(JSON.stringify(requestOf(spans.slice(0, 1), [log('foreign')]))), 'json', 'own')
  expect(whole).toMatchObject({ ok: true, relayed: 1 })
  expect(readPassable(Buffer.from('{'), 'json', 'own')).toEqual({ ok: false })
})

test('a request of every kind of value says the same as JSON and as protobuf, under the resource it came with', () => {
  const values: KeyValue[] = [
    { key: 'nan', value: { doubleValue: Number.NaN } },
    { key: 'infinite', value: { doubleValue: Number.NEGATIVE_INFINITY } },
    { key: 'bytes', value: { bytesValue: 'AAEC' } },
    { key: 'map', value: { kvlistValue: { values: [attribute('k', 'v'), { key: 'none' }] } } },
    { key: 'empty', value: {} },
    {
      key: 'list',
      value: { arrayValue: { values: [{}, { kvlistValue: { values: [] } }, { intValue: '9007199254740993' }] } },
    },
  ]
  const span = spanOf(values, {
    events: [{ timeUnixNano: '3', name: 'e', attributes: values }],
    links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: values }],
    status: { code: 2, message: 'why' },
  })
  const origin = {
    resource: [attribute('service.name', 'app')],
    scope: { name: 'sdk', version: '2', attributes: values },
  }
  const json = exportRequest([encodePassed(span, origin)], SETTINGS)
  const decoded = decodeTraces(encodeTraces(JSON.parse(json)), 'protobuf')
  expect(decoded).toEqual(decodeTraces(Buffer.from(json), 'json'))
  expect(JSON.parse(json).resourceSpans[0].resource.attributes).toEqual([
    attribute('team', 'x'),
    attribute('service.name', 'app'),
  ])
  expect(decoded).toMatchObject({ ok: true, spans: { valid: 1 } })
})

/** Stand-in for the thread: `spans` of each request in pieces of 100; fails when `failing`. */
class StandInSource implements PassSource {
  failing = false
  readonly sessions: string[] = []
  private readonly spans: number
  constructor(spans: number) {
    this.spans = spans
  }
  hook(session: string): void {
    this.sessions.push(session)
  }
  async read({ seq }: Recorded, from: number): Promise<Passed> {
    if (this.failing) throw new Error('not now')
    const until = Math.min(this.spans, from + 100)
    const spans: EncodedSpan[] = []
    for (let i = from; i < until; i++)
      spans.push(encodePassed(spanOf([], { name: `${seq}/${i}` }), { resource: [], scope: {} }))
    return { spans, done: until === this.spans, withheld: until === this.spans ? 2 : 0, unreadable: false }
  }
}

function logOfImports(requests: number): MemoryLog {
  const log = new MemoryLog()
  for (let i = 0; i < requests; i++) {
    const body = { count: 5, rejected: 0, spoofed: 0, loops: 0, bytes: 9, encoding: 'json', sessions: 0 } as const
    log.append({ type: 'spans.imported', source: { kind: 'otlp' }, body })
  }
  return log
}

const names = (items: EncodedSpan[]) => items.map(({ json }) => (JSON.parse(json) as Span).name)

test('wherever a reader stops, the next one goes on with the next span, and what was left out counts once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 1_300 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 7 }),
      async (spans, requests, stopAfter) => {
        const log = logOfImports(requests)
        const all = Array.from({ length: requests }, (_, seq) =>
          Array.from({ length: spans }, (_none, i) => `${seq}/${i}`),
        ).flat()
        const sent: string[] = []
        let withheld = 0
        let at = { nextSeq: 0, itemsOfNext: 0 }
        for (const batches of [stopAfter, Number.POSITIVE_INFINITY]) {
          const reader = new BatchReader(log, traces({ evidence: true, passThrough: new StandInSource(spans) }))
          await reader.skipTo(at.nextSeq, at.itemsOfNext)
          for (let n = 0; n < batches; n++) {
            const batch = await reader.next(undefined)
            if (batch.items.length === 0 && batch.nextSeq === at.nextSeq) break
            expect(batch.items.length).toBeLessThanOrEqual(MAX_BATCH_ITEMS)
            sent.push(...names(batch.items))
            withheld += batch.leftOut.withheld
            at = batch
          }
        }
        expect(sent).toEqual(all)
        expect(withheld).toBe(2 * requests)
      },
    ),
    { numRuns: 40 },
  )
})

test('a read that fails loses nothing: what waits is sent, the rest when it works again', async () => {
  const source = new StandInSource(250)
  const reader = new BatchReader(logOfImports(2), traces({ evidence: true, passThrough: source }))
  source.failing = true
  await expect(reader.next(undefined)).rejects.toThrow('not now')
  source.failing = false
  const { items } = await reader.next(undefined)
  expect(items).toHaveLength(500)
  expect(new Set(names(items)).size).toBe(500)
})

test('a session counts as hooked when a hook opened its run, sent before or not', async () => {
  const log = new MemoryLog()
  new Session(log, 'transcript').open()
  const body = {
    session: 'hooked',
    agent: 'a',
    ordinal: 0,
    mode: 'enforce',
    fail_mode: 'closed',
    reason: 'startup',
  } as const
  const hook = { kind: 'hook', adapter: 'a', version: '1' } as const
  for (const session of ['hooked', 'later'])
    log.append({ type: 'run.opened', run: { id: 'f'.repeat(32), part: 0 }, source: hook, body: { ...body, session } })
  const source = new StandInSource(0)
  const reader = new BatchReader(log, traces({ evidence: true, passThrough: source }))
  await reader.skipTo(2)
  await reader.next(undefined)
  expect(source.sessions).toEqual(['hooked', 'later'])
})
