// Log records and data points: real bodies, both encodings, damaged bodies.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { otlpApp } from '../../collector/receive/otlp/app.ts'
import { decodeLogs, decodeMetrics, type Encoding } from '../../collector/receive/otlp/decode.ts'
import { readImport } from '../../collector/receive/otlp/import.ts'
import { inspect } from '../../collector/receive/otlp/inspect.ts'
import { skim } from '../../collector/receive/otlp/skim.ts'
import type { Signal } from '../../conventions/import.ts'
import { typeNamed, utf8 } from './otlp-support.ts'

const DECODERS = { logs: decodeLogs, metrics: decodeMetrics }
const MESSAGES = { logs: 'ExportLogsServiceRequest', metrics: 'ExportMetricsServiceRequest' }
type Other = 'logs' | 'metrics'

const real = (['logs', 'metrics'] as const).flatMap((signal) =>
  (['protobuf', 'json'] as const).map((encoding) => {
    const name = encoding === 'json' ? `claude-agent-sdk-json-${signal}-2.json` : `claude-agent-sdk-${signal}-2.pb`
    const body = new Uint8Array(readFileSync(new URL(`../fixtures/otlp/${name}`, import.meta.url)))
    return { name, signal, encoding, body }
  }),
)

/** Items as another decoder counted them (opentelemetry-proto 1.45.2 for Python). */
const LISTED: Record<string, number> = {
  'claude-agent-sdk-logs-2.pb': 4,
  'claude-agent-sdk-json-logs-2.json': 4,
  'claude-agent-sdk-metrics-2.pb': 11,
  'claude-agent-sdk-json-metrics-2.json': 5,
}

describe('real bodies of Claude Code', () => {
  it.each(real)('$name', ({ name, signal, encoding, body }) => {
    const facts = inspect(body, encoding, signal, '')
    if (!facts.ok) throw new Error(facts.message)
    expect(facts).toMatchObject({ count: LISTED[name], invalid: { total: 0 }, spoofed: 0, loops: 0 })
    expect(facts.sessions).toHaveLength(1)
    const rows = readImport(body, encoding, signal, '')
    expect(rows).toHaveLength(facts.count)
    for (const row of rows) {
      expect(row.service).toBe('claude-code')
      if (row.signal === 'logs')
        expect([row.event, row.time_ns]).toEqual([expect.any(String), expect.stringMatching(/^1[0-9]{18}$/)])
      if (row.signal === 'metrics') {
        expect(row.metric).toMatch(/^claude_code\./)
        expect([typeof row.value, row.temporality]).toEqual(['number', 1])
      }
    }
    if (encoding === 'protobuf') expect(skim(body, MESSAGES[signal])).toMatchObject({ items: facts.count, reserved: 0 })
  })
})

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const nanos = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(String)
const attributes = fc.array(
  fc.record({
    key: fc.oneof(text, fc.constantFrom('session.id', 'gen_ai.conversation.id', 'spanseal.tier')),
    value: fc.oneof(fc.record({ stringValue: text }), fc.record({ intValue: fc.maxSafeInteger().map(String) })),
  }),
  { maxLength: 3 },
)
const id = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => Buffer.from(all).toString('hex'))
const withScopes = (list: string, scopes: string, items: string, item: fc.Arbitrary<object>) =>
  fc
    .array(
      fc.record({
        resource: fc.record({ attributes }),
        [scopes]: fc.array(fc.record({ scope: fc.record({ name: text }), [items]: fc.array(item, { maxLength: 3 }) }), {
          maxLength: 2,
        }),
      }),
      { maxLength: 2 },
    )
    .map((all) => ({ [list]: all }))

const optional = { requiredKeys: [] }
const times = { startTimeUnixNano: nanos, timeUnixNano: nanos }
const double = fc.double({ noNaN: true, noDefaultInfinity: true })
const logs = withScopes(
  'resourceLogs',
  'scopeLogs',
  'logRecords',
  fc.record(
    {
      timeUnixNano: nanos,
      observedTimeUnixNano: nanos,
      severityNumber: fc.integer({ min: 1, max: 24 }),
      severityText: text,
      body: fc.record({ stringValue: text }),
      attributes,
      traceId: id(16),
      spanId: id(8),
      eventName: text,
    },
    optional,
  ),
)
const number = fc.oneof(
  fc.record({ ...times, attributes, asDouble: double }),
  fc.record({ ...times, attributes, asInt: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
)
const summed = fc.record(
  { ...times, attributes, count: nanos, sum: double, min: double, max: double },
  { requiredKeys: ['count'] },
)
const points = (point: fc.Arbitrary<object>) =>
  fc.record({ dataPoints: fc.array(point, { maxLength: 2 }), aggregationTemporality: fc.integer({ min: 0, max: 2 }) })
const metrics = withScopes(
  'resourceMetrics',
  'scopeMetrics',
  'metrics',
  fc
    .tuple(
      fc.record({ name: text, unit: text, description: text }),
      fc.oneof(
        fc.record({ gauge: fc.record({ dataPoints: fc.array(number, { maxLength: 2 }) }) }),
        fc.record({ sum: points(number) }),
        fc.record({ histogram: points(summed) }),
        fc.record({ exponentialHistogram: points(summed) }),
      ),
    )
    .map(([name, data]) => ({ ...name, ...data })),
)

/** Protobuf bytes of a request in OTLP/JSON shapes, written by protobufjs. */
function encode(signal: Other, request: object): Uint8Array {
  const type = typeNamed(MESSAGES[signal])
  const object = JSON.parse(JSON.stringify(request), (key, entry) =>
    ['traceId', 'spanId'].includes(key) ? Buffer.from(entry, 'hex') : entry,
  )
  return type.encode(type.fromObject(object)).finish().slice()
}

describe.each([
  ['logs', logs],
  ['metrics', metrics],
] as const)('any %s', (signal, request) => {
  it('decode to the same from both encodings, and the quick look agrees', () => {
    fc.assert(
      fc.property(request, (given) => {
        const [binary, json] = [encode(signal, given), utf8(given)]
        const decoded = DECODERS[signal](binary, 'protobuf')
        expect(decoded).toEqual(DECODERS[signal](json, 'json'))
        const [one, other] = [inspect(binary, 'protobuf', signal, ''), inspect(json, 'json', signal, '')]
        if (one.ok) one.sessions.sort()
        if (other.ok) other.sessions.sort()
        expect(one).toEqual(other)
        const plain = skim(binary, MESSAGES[signal])
        if (plain === null || !other.ok) return
        expect([plain.items, plain.reserved, plain.sessions.toSorted()]).toEqual([
          other.count,
          other.spoofed,
          other.sessions,
        ])
      }),
      { numRuns: 300 },
    )
  })
})

it('a data point with buckets, quantiles and exemplars is taken in both encodings, which are passed over', () => {
  const point = {
    timeUnixNano: '5',
    count: '3',
    sum: 4.5,
    bucketCounts: ['1', '2'],
    explicitBounds: [1],
    exemplars: [{}],
  }
  const body = utf8({
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', histogram: { dataPoints: [point] } }] }] }],
  })
  expect(readImport(body, 'json', 'metrics', '')).toMatchObject([
    { metric: 'm', kind: 'histogram', count: '3', sum: 4.5 },
  ])
  // The same point with packed buckets (6) and bounds (7), written by hand.
  const field = (tag: number, ...bytes: number[]) => [tag, bytes.length, ...bytes]
  const buckets = [...field(0x32, ...Array(16).fill(1)), ...field(0x3a, ...Array(8).fill(0))]
  const histogram = field(0x4a, ...field(0x0a, 0x21, 3, 0, 0, 0, 0, 0, 0, 0, ...buckets))
  const bytes = Uint8Array.from(field(0x0a, ...field(0x12, ...field(0x12, ...field(0x0a, 0x6d), ...histogram))))
  expect(skim(bytes, MESSAGES.metrics)).toMatchObject({ items: 1 })
  expect(readImport(bytes, 'protobuf', 'metrics', '')).toMatchObject([{ metric: 'm', kind: 'histogram', count: '3' }])
})

it('the quick look leaves a field of the number zero to the decoder, which refuses it', () => {
  const field = (tag: number, ...bytes: number[]) => [tag, bytes.length, ...bytes]
  for (const unknown of [
    [0x00, 1],
    [0x02, 0],
  ]) {
    const gauge = field(0x2a, ...field(0x0a, ...unknown))
    const bytes = Uint8Array.from(field(0x0a, ...field(0x12, ...field(0x12, ...gauge))))
    expect(skim(bytes, MESSAGES.metrics)).toBeNull()
    expect(decodeMetrics(bytes, 'protobuf').ok).toBe(false)
  }
})

it('a sum of zero is a sum', () => {
  const points = [{ count: '2', sum: 0 }, { count: '2' }]
  const body = {
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', histogram: { dataPoints: points } }] }] }],
  }
  expect(readImport(utf8(body), 'json', 'metrics', '').map((row) => 'sum' in row && row.sum)).toEqual([0, false])
  // By hand: a sum (0x29) of eight zero bytes, which most writers leave out.
  const field = (tag: number, ...bytes: number[]) => [tag, bytes.length, ...bytes]
  const histogram = field(0x4a, ...field(0x0a, 0x29, ...Array(8).fill(0)), ...field(0x0a))
  const bytes = Uint8Array.from(field(0x0a, ...field(0x12, ...field(0x12, ...histogram))))
  expect(readImport(bytes, 'protobuf', 'metrics', '').map((row) => 'sum' in row && row.sum)).toEqual([0, false])
})

describe('damaged bodies', () => {
  const damaged = fc
    .record({
      from: fc.constantFrom(...real),
      edits: fc.array(
        fc.record({
          at: fc.nat(12_000),
          kind: fc.constantFrom('set', 'cut', 'end'),
          byte: fc.nat(255),
          length: fc.nat(40),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    })
    .map(({ from, edits }) => {
      let bytes = [...from.body]
      for (const { at, kind, byte, length } of edits) {
        const place = at % Math.max(1, bytes.length)
        if (kind === 'set') bytes[place] = byte
        if (kind === 'cut') bytes.splice(place, length)
        if (kind === 'end') bytes = bytes.slice(0, place)
      }
      return { ...from, body: Uint8Array.from(bytes) }
    })

  it('decode to a value, never an exception; what is taken can be read again', () => {
    fc.assert(
      fc.property(damaged, ({ signal, encoding, body }) => {
        const facts = inspect(body, encoding, signal, '')
        if (facts.ok) expect(readImport(body, encoding, signal, '')).toHaveLength(facts.count)
        else expect(facts.message.length).toBeGreaterThan(facts.field.length)
      }),
      { numRuns: 1_500 },
    )
  })

  it('are answered 200 or 400 in their encoding, whatever door they come to', async () => {
    const types: Record<Encoding, string> = { protobuf: 'application/x-protobuf', json: 'application/json' }
    const doors: Signal[] = ['traces', 'logs', 'metrics']
    await fc.assert(
      fc.asyncProperty(damaged, fc.constantFrom(...doors), async ({ encoding, body }, door) => {
        const faults: unknown[] = []
        const app = otlpApp({ accept: async () => ({ ok: true }), onFault: (error) => faults.push(error) })
        const headers = { 'content-type': types[encoding] }
        const response = await app.request(`/v1/${door}`, { method: 'POST', headers, body: Buffer.from(body) })
        expect(faults).toEqual([])
        expect([200, 400]).toContain(response.status)
        expect(response.headers.get('content-type')).toBe(types[encoding])
      }),
      { numRuns: 300 },
    )
  })
})
