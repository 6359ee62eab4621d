import { describe, expect, it } from 'vitest'
import { decodeTraces, spansOf } from '../../collector/receive/otlp/decode.ts'
import { stripReserved } from '../../collector/receive/otlp/strip.ts'
import { bodies, listedSpans, readSpans, SPAN_ID, TRACE_ID, utf8, withSpan } from './otlp-support.ts'

const string = (key: string, stringValue: string) => ({ key, value: { stringValue } })

describe('stripReserved', () => {
  it('removes and counts spanseal.* wherever attributes are, and nothing else', () => {
    const mixed = [string('spanseal.record', 'forged'), string('spanseal', 'kept'), string('a.spanseal.b', 'kept')]
    const kept = mixed.slice(1)
    const span = {
      attributes: [...mixed, string('spanseal.claim.event', 'tool.before'), string('spanseal.tier', 'T1')],
      events: [{ timeUnixNano: '1', name: 'e', attributes: mixed }],
      links: [{ traceId: TRACE_ID, spanId: SPAN_ID, attributes: mixed }],
    }
    const given = withSpan(span, { attributes: mixed })
    Object.assign(given.resourceSpans[0]?.scopeSpans[0] ?? {}, { scope: { name: 's', attributes: mixed } })
    const body = utf8(given)
    const decoded = decodeTraces(body, 'json')
    if (!decoded.ok) throw new Error(decoded.message)
    expect(stripReserved(decoded.request)).toBe(7)
    expect(JSON.stringify(decoded.request)).not.toContain('"spanseal.')
    const [read] = spansOf(decoded.request)
    expect(read?.attributes).toEqual(kept)
    expect(read?.events?.[0]?.attributes).toEqual(kept)
    expect(read?.links?.[0]?.attributes).toEqual(kept)
    expect(stripReserved(decoded.request)).toBe(0)
    // What a record commits to is the body, which says what was sent.
    expect(new TextDecoder().decode(body)).toContain('spanseal.record')
  })
})

describe('readImport', () => {
  it.each(bodies)('$name: the listed spans, all valid', ({ name, encoding, body }) => {
    const spans = readSpans(body, encoding)
    expect(
      spans.map(({ span_id, parent_span_id, kind, status, name: called, attributes }) => [
        span_id,
        parent_span_id ?? null,
        kind,
        status,
        called,
        Object.keys(attributes).length,
      ]),
    ).toEqual(
      listedSpans[name]?.map(([, id, parent, kind, status, called, count]) => [
        id,
        parent,
        kind,
        status,
        called,
        count,
      ]),
    )
    for (const span of spans) {
      expect(span.valid).toBe(true)
      expect(span.trace_id).toMatch(/^[0-9a-f]{32}$/)
      expect(BigInt(span.end_ns) >= BigInt(span.start_ns)).toBe(true)
      expect(BigInt(span.start_ns) > 1_700_000_000_000_000_000n).toBe(true)
    }
  })

  it('gives one row with exact times, service, scope and plain attributes', () => {
    const attributes = [
      string('s', 'text'),
      { key: 'big', value: { intValue: '9007199254740993' } },
      { key: 'int', value: { intValue: 7 } },
      { key: 'nan', value: { doubleValue: 'NaN' } },
      { key: 'double', value: { doubleValue: 1.5 } },
      { key: 'bytes', value: { bytesValue: 'AAE=' } },
      { key: 'empty', value: {} },
      { key: 'none' },
      { key: 'list', value: { arrayValue: { values: [{ boolValue: true }, {}] } } },
      { key: 'map', value: { kvlistValue: { values: [string('__proto__', 'p')] } } },
      string('__proto__', 'q'),
      string('twice', 'first'),
      string('twice', 'last'),
      string('spanseal.tier', 'T1'),
    ]
    const given = withSpan(
      {
        kind: 3,
        startTimeUnixNano: '1790000000000000021',
        endTimeUnixNano: '1790000000000000022',
        status: { code: 2 },
        attributes,
      },
      { attributes: [string('service.name', 'checkout')] },
    )
    Object.assign(given.resourceSpans[0]?.scopeSpans[0] ?? {}, { scope: { name: 'lib' } })
    const [row] = readSpans(utf8(given), 'json')
    expect(row).toMatchObject({
      trace_id: TRACE_ID,
      span_id: SPAN_ID,
      name: 'x',
      kind: 3,
      start_ns: '1790000000000000021',
      end_ns: '1790000000000000022',
      service: 'checkout',
      scope: 'lib',
      status: 2,
      valid: true,
    })
    expect(row).not.toHaveProperty('parent_span_id')
    expect(JSON.stringify(row?.attributes)).toBe(
      '{"s":"text","big":"9007199254740993","int":7,"nan":"NaN","double":1.5,"bytes":"AAE=","empty":null,"none":null,' +
        '"list":[true,null],"map":{"__proto__":"p"},"__proto__":"q","twice":"last"}',
    )
  })

  it('marks the spans that do not count, in their place', () => {
    const good = { traceId: TRACE_ID, spanId: SPAN_ID, name: 'x' }
    const spans = [good, { ...good, name: '' }, { ...good, traceId: '0'.repeat(32) }, good]
    const rows = readSpans(utf8({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), 'json')
    expect(rows.map(({ valid }) => valid)).toEqual([true, false, false, true])
  })

  it('throws when a recorded body does not decode', () => {
    expect(() => readSpans(utf8('{'), 'json')).toThrow(/does not decode: the body is not valid JSON/)
  })
})
