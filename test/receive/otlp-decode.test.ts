import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DecodeResult, decodeTraces, spansOf } from '../../collector/receive/otlp/decode.ts'
import type { AnyValue, Span } from '../../conventions/otlp.ts'
import {
  bodies,
  encodeRequest,
  field,
  listedSpans,
  SPAN_ID,
  TRACE_ID,
  typeNamed,
  utf8,
  withSpan,
} from './otlp-support.ts'

function accepted(result: DecodeResult) {
  if (!result.ok) throw new Error(result.message)
  return result
}
const json = (value: unknown) => decodeTraces(utf8(value), 'json')
const spans = (result: DecodeResult): Span[] => [...spansOf(accepted(result).request)]
const onlySpan = (value: unknown) => spans(json(value))[0] as Span
const value = (any: unknown): AnyValue | undefined =>
  onlySpan(withSpan({ attributes: [{ key: 'k', value: any }] })).attributes?.[0]?.value
const refusal = (input: unknown) => {
  const result = json(input)
  if (result.ok) throw new Error('was taken')
  return result
}
const idBytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))

describe('real bodies', () => {
  it('are there for ten libraries in both encodings', () => {
    expect(bodies.map(({ name }) => name).sort()).toEqual(Object.keys(listedSpans).sort())
    expect(bodies.length).toBe(13)
  })

  it.each(bodies)('$name: every span as another decoder listed it', ({ name, encoding, body }) => {
    const decoded = accepted(decodeTraces(body, encoding))
    const listed = [...spansOf(decoded.request)].map((span) => [
      span.traceId.slice(0, 8),
      span.spanId,
      span.parentSpanId ?? null,
      span.kind ?? 0,
      span.status?.code ?? 0,
      span.name,
      span.attributes?.length ?? 0,
      span.events?.length ?? 0,
    ])
    expect(listed).toEqual(listedSpans[name])
    expect(decoded.spans).toEqual({ valid: listed.length, invalid: [] })
  })

  it.each(bodies.filter(({ encoding }) => encoding === 'protobuf'))(
    '$name: equal to what protobufjs reads itself',
    ({ body }) => {
      const type = typeNamed('ExportTraceServiceRequest')
      const theirs = type.toObject(type.decode(body), { longs: String, bytes: Array }) as object
      const ours = accepted(decodeTraces(body, 'protobuf')).request
      // Through JSON.parse's eyes: their ids are byte arrays, ours are hex, so ours are turned into bytes.
      const asBytes = JSON.parse(JSON.stringify(ours), (key, entry) =>
        ['traceId', 'spanId', 'parentSpanId'].includes(key) ? [...idBytes(entry)] : entry,
      )
      expect(asBytes).toEqual(JSON.parse(JSON.stringify(theirs)))
    },
  )
})

describe('64-bit numbers', () => {
  const NANOS = '1790000000000000021'

  it('are exact in protobuf', () => {
    const span = { traceId: idBytes(TRACE_ID), spanId: idBytes(SPAN_ID), name: 'x', startTimeUnixNano: NANOS }
    const attributes = ['9007199254740993', '-9223372036854775808'].map((intValue) => ({
      key: 'k',
      value: { intValue },
    }))
    const body = encodeRequest({
      resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, endTimeUnixNano: '18446744073709551615', attributes }] }] }],
    })
    const [read] = spans(decodeTraces(body, 'protobuf'))
    expect(read).toMatchObject({ startTimeUnixNano: NANOS, endTimeUnixNano: '18446744073709551615', attributes })
  })

  it.each([
    ['a string', `"${NANOS}"`],
    ['a number, which JSON.parse would round', NANOS],
  ])('are exact in JSON as %s', (_what, token) => {
    const text = JSON.stringify(withSpan({ startTimeUnixNano: 'HERE' })).replace('"HERE"', token)
    expect(onlySpan(text).startTimeUnixNano).toBe(NANOS)
  })

  it('are exact beside text that looks like one', () => {
    const tricky = 'a\\"1790000000000000021,\\\\'
    const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${TRACE_ID}","spanId":"${SPAN_ID}","name":"${tricky}",
      "attributes":[{"key":"1790000000000000022","value":{"arrayValue":{"values":[{"intValue":-9007199254740993},{"doubleValue":12345678901234567}]}}}]}]}]}]}`
    const span = onlySpan(text)
    expect(span.name).toBe('a"1790000000000000021,\\')
    expect(span.attributes).toEqual([
      {
        key: '1790000000000000022',
        value: { arrayValue: { values: [{ intValue: '-9007199254740993' }, { doubleValue: 12345678901234568 }] } },
      },
    ])
  })

  it('do not make valid JSON of what is none', () => {
    for (const text of ['{1790000000000000021:1}', '{"a":01790000000000000021}', '{"a":1790000000000000021x}']) {
      expect(refusal(text).message).toBe('the body is not valid JSON')
    }
    expect(refusal(JSON.stringify(withSpan({ name: 'N' })).replace('"N"', NANOS)).message).toContain('must be a string')
  })

  it.each([
    ['3.f14', '"3.f14"'],
    ['true', 'true'],
    ['a fraction', '1.5'],
    ['a number that was rounded before we saw it', '1.790000000000000021e18'],
    ['a number too long for 64 bits', '9223372036854775808'],
    ['an endless number', `"${'9'.repeat(100_000)}"`],
    ['an endless bare number', '9'.repeat(100_000)],
    ['an empty string', '""'],
    ['a list', '["5"]'],
  ])('are refused as %s, with the field named', (_what, token) => {
    const text = JSON.stringify(withSpan({ attributes: [{ key: 'k', value: { intValue: 'HERE' } }] }))
    const { field, message } = refusal(text.replace('"HERE"', token))
    expect(field).toBe('resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.intValue')
    expect(message.startsWith(`${field} must be `)).toBe(true)
    expect(message.length).toBeLessThan(250)
  })

  it('that cannot be negative are refused when they are', () => {
    expect(refusal(withSpan({ startTimeUnixNano: '-1' })).field).toMatch(/spans\[0\]\.startTimeUnixNano$/)
    expect(refusal(withSpan({ droppedAttributesCount: 4294967296 })).field).toMatch(/droppedAttributesCount$/)
  })

  it('small ones may be numbers, also with an exponent', () => {
    const text = JSON.stringify(withSpan({ startTimeUnixNano: 5, endTimeUnixNano: 'E' })).replace('"E"', '1e3')
    expect(onlySpan(text)).toMatchObject({ startTimeUnixNano: '5', endTimeUnixNano: '1000' })
  })
})

describe('OTLP/JSON', () => {
  it('takes snake_case keys, enum names and ids in any case', () => {
    const span = {
      trace_id: TRACE_ID.toUpperCase(),
      span_id: SPAN_ID.toUpperCase(),
      parent_span_id: 'AAAAAAAAAAAAAAAA',
      name: 'x',
      kind: 'SPAN_KIND_CLIENT',
      start_time_unix_nano: '1',
      status: { code: 'STATUS_CODE_ERROR' },
      attributes: [{ key: 'k', value: { string_value: 'v' } }],
    }
    expect(onlySpan({ resource_spans: [{ scope_spans: [{ spans: [span] }] }] })).toEqual({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      parentSpanId: 'aaaaaaaaaaaaaaaa',
      name: 'x',
      kind: 3,
      startTimeUnixNano: '1',
      endTimeUnixNano: '0',
      status: { code: 2 },
      attributes: [{ key: 'k', value: { stringValue: 'v' } }],
    })
  })

  it('refuses what has two meanings', () => {
    expect(refusal({ resourceSpans: [], resource_spans: [] }).message).toBe('resource_spans comes under two names')
    const { message } = refusal(withSpan({ attributes: [{ key: 'k', value: { stringValue: 'a', intValue: 1 } }] }))
    expect(message).toMatch(/value\.intValue comes beside another value$/)
    expect(refusal(withSpan({ kind: 'CLIENT' })).field).toMatch(/kind$/)
    expect(refusal(withSpan({ kind: 1.5 })).field).toMatch(/kind$/)
  })

  it('ignores unknown keys and null, keeps unknown enum numbers', () => {
    const span = onlySpan({ ...withSpan({ kind: 99, status: null, attributes: null, later: { a: [1] } }), more: true })
    expect(span).toEqual({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      name: 'x',
      kind: 99,
      startTimeUnixNano: '0',
      endTimeUnixNano: '0',
    })
  })

  it('reads every shape of attribute value', () => {
    expect(value({ stringValue: '' })).toEqual({ stringValue: '' })
    expect(value({ boolValue: false })).toEqual({ boolValue: false })
    expect(value({ intValue: 0 })).toEqual({ intValue: '0' })
    expect(value({ doubleValue: 'NaN' })).toEqual({ doubleValue: Number.NaN })
    expect(value({ doubleValue: '-Infinity' })).toEqual({ doubleValue: Number.NEGATIVE_INFINITY })
    expect(value({ doubleValue: '1.5e3' })).toEqual({ doubleValue: 1500 })
    expect(value({ bytesValue: '-_8' })).toEqual({ bytesValue: '+/8=' })
    expect(value({ bytesValue: '' })).toEqual({ bytesValue: '' })
    expect(value({ arrayValue: {} })).toEqual({ arrayValue: {} })
    expect(value({ kvlistValue: { values: [{ key: 'a', value: {} }] } })).toEqual({
      kvlistValue: { values: [{ key: 'a', value: {} }] },
    })
    expect(value({})).toEqual({})
    expect(value(null)).toBeUndefined()
    expect(value({ stringValueStrindex: 5 })).toEqual({})
  })

  it('refuses values of another type, with the path to them', () => {
    const wrong = [
      [{ stringValue: 5 }, 'stringValue must be a string'],
      [{ boolValue: 'true' }, 'boolValue must be true or false'],
      [{ doubleValue: '1,5' }, 'doubleValue must be a number'],
      [{ bytesValue: 'a' }, 'bytesValue must be base64'],
      [{ bytesValue: 'ä===' }, 'bytesValue must be base64'],
      [{ arrayValue: { values: {} } }, 'arrayValue.values must be a list'],
      [{ arrayValue: { values: [{}, 5] } }, 'arrayValue.values[1] must be an object'],
    ] as const
    for (const [any, message] of wrong) {
      expect(refusal(withSpan({ attributes: [{ key: 'k', value: any }] })).message).toBe(
        `resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.${message}`,
      )
    }
    const huge = JSON.stringify(withSpan({ attributes: [{ key: 'k', value: { doubleValue: 'H' } }] }))
    expect(refusal(huge.replace('"H"', '1e999')).message).toMatch(/is too large for a double$/)
  })

  it('keeps attribute keys that JavaScript has a meaning for', () => {
    const keys = ['__proto__', 'constructor', 'toString']
    const attributes = keys.map((key) => ({ key, value: { stringValue: 'v' } }))
    expect(onlySpan(withSpan({ attributes })).attributes).toEqual(attributes)
    const text = `{"__proto__":{"resourceSpans":[]},"constructor":{"prototype":{"polluted":1}},${JSON.stringify(withSpan({})).slice(1)}`
    expect(spans(json(text))).toHaveLength(1)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('replaces half a surrogate pair, as protobuf clients do, and refuses bytes that are not UTF-8', () => {
    expect(onlySpan(JSON.stringify(withSpan({ name: 'cut \ud83d' }))).name).toBe('cut \ufffd')
    const bytes = utf8(withSpan({ name: '!' }))
    bytes[bytes.indexOf(0x21)] = 0xff
    expect(decodeTraces(bytes, 'json')).toMatchObject({ ok: false, message: 'the body is not valid UTF-8' })
  })

  it('never repeats the text around a syntax error', () => {
    expect(refusal('{"resourceSpans": secret').message).toBe('the body is not valid JSON')
  })
})

describe('ids', () => {
  it.each(['traceId', 'spanId', 'parentSpanId'])('%s of the wrong length or not hex refuses the request', (field) => {
    for (const id of ['ab', `${TRACE_ID}ab`, 'zz'.repeat(16), 'zz'.repeat(8)]) {
      expect(refusal(withSpan({ [field]: id })).field).toBe(`resourceSpans[0].scopeSpans[0].spans[0].${field}`)
    }
    const ids = { traceId: idBytes(TRACE_ID), spanId: idBytes(SPAN_ID), [field]: idBytes('abcd') }
    const body = encodeRequest({
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'ok' }, { name: 'x', ...ids }] }] }],
    })
    const size = field === 'traceId' ? 16 : 8
    expect(decodeTraces(body, 'protobuf')).toEqual({
      ok: false,
      field: `resourceSpans[0].scopeSpans[0].spans[1].${field}`,
      message: `resourceSpans[0].scopeSpans[0].spans[1].${field} must be ${size} bytes, and is 2`,
      tooLarge: false,
    })
  })

  it('that are missing or zero, and a missing name, cost only their span', () => {
    const good = { traceId: TRACE_ID, spanId: SPAN_ID, name: 'x' }
    const list = [
      good,
      { ...good, traceId: '0'.repeat(32) },
      { ...good, spanId: '' },
      { traceId: TRACE_ID, spanId: SPAN_ID },
      { ...good, parentSpanId: '0'.repeat(16) },
    ]
    const result = accepted(
      json({ resourceSpans: [{ scopeSpans: [{ spans: list.slice(0, 2) }, { spans: list.slice(2) }] }] }),
    )
    expect(result.spans).toEqual({
      valid: 2,
      invalid: [
        { index: 1, reason: 'traceId is missing or zero' },
        { index: 2, reason: 'spanId is missing or zero' },
        { index: 3, reason: 'name is missing' },
      ],
    })
    expect(spans(result)[4]).not.toHaveProperty('parentSpanId')
  })
})

describe('limits', () => {
  const text = [...utf8('deep')]
  const lists = {
    json: (inner: object) => ({ arrayValue: { values: [inner] } }),
    protobuf: (inner: number[]) => field(5, ...field(1, ...inner)),
  }
  const maps = {
    json: (inner: object) => ({ kvlistValue: { values: [{ key: 'a', value: inner }] } }),
    protobuf: (inner: number[]) => field(6, ...field(1, ...field(1, 0x61), ...field(2, ...inner))),
  }
  const both = (levels: number, wrap: typeof lists | typeof maps): DecodeResult[] => {
    let inJson: object = { stringValue: 'deep' }
    let inProtobuf = field(1, ...text)
    for (let i = 0; i < levels; i++) {
      inJson = wrap.json(inJson)
      inProtobuf = wrap.protobuf(inProtobuf)
    }
    const attribute = field(9, ...field(1, 0x6b), ...field(2, ...inProtobuf))
    const span = [...field(1, ...idBytes(TRACE_ID)), ...field(2, ...idBytes(SPAN_ID)), ...field(5, 0x78), ...attribute]
    const body = Uint8Array.from(field(1, ...field(2, ...field(2, ...span))))
    return [json(withSpan({ attributes: [{ key: 'k', value: inJson }] })), decodeTraces(body, 'protobuf')]
  }

  it.each([
    ['lists', lists, 47],
    ['maps', maps, 31],
  ])('nested %s: the same depth in both encodings', (_what, wrap, most) => {
    const [fromJson, fromProtobuf] = both(most, wrap)
    expect(fromJson).toMatchObject({ ok: true, spans: { valid: 1 } })
    expect(fromProtobuf).toEqual(fromJson)
    const tooDeep = both(most + 1, wrap)
    for (const result of tooDeep) {
      expect(result).toMatchObject({ ok: false, tooLarge: false })
      expect('message' in result && result.message).toMatch(/nested deeper than 100 messages$/)
    }
    expect(tooDeep[1]).toEqual(tooDeep[0])
  })

  it('refuses millions of empty messages before they are in memory', () => {
    const body = new Uint8Array(2 * 4_000_001)
    for (let i = 0; i < body.length; i += 2) body[i] = 0x0a
    expect(decodeTraces(body, 'protobuf')).toMatchObject({ ok: false, tooLarge: true })
    expect(decodeTraces(utf8(`{"resourceSpans":[${'{},'.repeat(2_000_001)}{}]}`), 'json')).toMatchObject({
      ok: false,
      tooLarge: true,
    })
  })

  it('refuses brackets without end, closed or not', () => {
    for (const text of ['['.repeat(1_000_000), `{"x":${'['.repeat(301)}${']'.repeat(301)}}`]) {
      expect(refusal(text).message).toMatch(/nested deeper than 300 levels$/)
    }
  })
})

describe('protobuf', () => {
  it('merges a message that comes twice and takes the last of alternatives', () => {
    const stringValue = [0x0a, 1, 0x61]
    const boolValue = [0x10, 1]
    const attribute = field(9, ...field(1, 0x6b), ...field(2, ...stringValue, ...boolValue))
    const status = [...field(15, 0x12, 1, 0x6d), ...field(15, 0x18, 2)]
    const span = [...field(1, ...idBytes(TRACE_ID)), ...field(2, ...idBytes(SPAN_ID)), ...field(5, 0x78)]
    const body = Uint8Array.from(field(1, ...field(2, ...field(2, ...span, ...attribute, ...status))))
    expect(spans(decodeTraces(body, 'protobuf'))[0]).toMatchObject({
      attributes: [{ key: 'k', value: { boolValue: true } }],
      status: { message: 'm', code: 2 },
    })
  })

  it('reads AnyValue.string_value_strindex as absent', () => {
    // resource_spans { resource { attributes { key: "k" value { string_value_strindex: 7 } } } }
    const body = Uint8Array.of(0x0a, 11, 0x0a, 9, 0x0a, 7, 0x0a, 1, 0x6b, 0x12, 2, 0x40, 7)
    expect(accepted(decodeTraces(body, 'protobuf')).request).toEqual({
      resourceSpans: [{ resource: { attributes: [{ key: 'k', value: {} }] } }],
    })
  })

  it('keeps a name or version that reads 0 or false', () => {
    const span = { traceId: idBytes(TRACE_ID), spanId: idBytes(SPAN_ID), name: '0' }
    const scope = { name: 'false', version: '0' }
    const body = encodeRequest({ resourceSpans: [{ scopeSpans: [{ scope, spans: [span] }] }] })
    expect(accepted(decodeTraces(body, 'protobuf')).request.resourceSpans[0]?.scopeSpans?.[0]).toMatchObject({
      scope,
      spans: [{ name: '0' }],
    })
  })
})

describe('both encodings', () => {
  const anyValue = fc.letrec<{ any: object }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.record({ stringValue: fc.string({ unit: 'grapheme' }) }),
      fc.record({ boolValue: fc.boolean() }),
      fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
      fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
      fc.record({ bytesValue: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')) }),
      fc.constant({}),
      fc.record({ arrayValue: fc.record({ values: fc.array(tie('any'), { maxLength: 3 }) }) }),
      fc.record({
        kvlistValue: fc.record({
          values: fc.array(fc.record({ key: fc.string(), value: tie('any') }), { maxLength: 3 }),
        }),
      }),
    ),
  })).any
  const attributes = fc.array(fc.record({ key: fc.string(), value: anyValue }), { maxLength: 4 })
  const hex = (bytes: number) =>
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString('hex'))
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
  const span = fc.record({
    traceId: hex(16),
    spanId: hex(8),
    parentSpanId: hex(8),
    name: fc.string(),
    kind: fc.integer({ min: 0, max: 5 }),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
    events: fc.array(fc.record({ timeUnixNano: nanos, name: fc.string(), attributes }), { maxLength: 2 }),
    links: fc.array(fc.record({ traceId: hex(16), spanId: hex(8), attributes }), { maxLength: 2 }),
    status: fc.record({ code: fc.integer({ min: 0, max: 2 }), message: fc.string() }),
    flags: fc.nat(),
  })
  const request = fc.record({
    resourceSpans: fc.array(
      fc.record({
        resource: fc.record({ attributes }),
        scopeSpans: fc.array(
          fc.record({ scope: fc.record({ name: fc.string() }), spans: fc.array(span, { maxLength: 2 }) }),
        ),
      }),
      { maxLength: 2 },
    ),
  })

  it('give the same request', () => {
    fc.assert(
      fc.property(request, (given) => {
        const text = JSON.stringify(given)
        // protobufjs takes bytes where OTLP/JSON has hex.
        const object = JSON.parse(text, (key, entry) =>
          ['traceId', 'spanId', 'parentSpanId'].includes(key) ? Buffer.from(entry, 'hex') : entry,
        )
        expect(decodeTraces(encodeRequest(object), 'protobuf')).toEqual(decodeTraces(utf8(text), 'json'))
      }),
      { numRuns: 200 },
    )
  })
})
