// The quick look at a protobuf body says exactly what the decoder says, or nothing.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { inspect } from '../../collector/receive/otlp/inspect.ts'
import { skim } from '../../collector/receive/otlp/skim.ts'
import { bodies, edgeCases, encodeRequest, utf8 } from './otlp-support.ts'

const skimTraces = (body: Uint8Array) => skim(body, 'ExportTraceServiceRequest')

/** Checks one body; true when the quick look said something. What it leaves alone is decoded, also when it holds reserved keys. */
function agrees(body: Uint8Array): boolean {
  const skimmed = skimTraces(body)
  if (skimmed === null) return false
  const decoded = decodeTraces(body, 'protobuf')
  if (!decoded.ok) throw new Error(`the decoder refuses it: ${decoded.message}`)
  expect(decoded.spans.invalid).toEqual([])
  // The same facts as of the same request in JSON, which is never skimmed.
  const facts = inspect(utf8(decoded.request), 'json', 'traces', '')
  if (!facts.ok) throw new Error(facts.message)
  expect({ ...skimmed, sessions: skimmed.sessions.sort() }).toEqual({
    items: facts.count,
    reserved: facts.spoofed,
    sessions: facts.sessions.sort(),
  })
  return true
}

const real = bodies.filter(({ encoding }) => encoding === 'protobuf')

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 80 }))
const key = fc.oneof(
  text,
  fc.constantFrom('session.id', 'session.ids', 'gen_ai.conversation.id', 'spanseal.', 'spanseal.run', 'spanseal', ''),
)
const { attributes } = fc.letrec<{ value: object; attributes: object[] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ intValue: fc.oneof(fc.integer(), fc.constantFrom('-9223372036854775808', '9223372036854775807')) }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ doubleValue: fc.double() }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 20 }) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: tie('attributes') }) }),
  ),
  attributes: fc.array(fc.record({ key, value: tie('value') }, { requiredKeys: [] }), { maxLength: 4 }),
}))
const id = (length: number) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.uint8Array({ minLength: length, maxLength: length }) },
    fc.uint8Array({ maxLength: 20 }),
  )
const link = fc.record({ traceId: id(16), spanId: id(8), attributes, flags: fc.nat() }, { requiredKeys: [] })
const event = fc.record({ name: text, timeUnixNano: fc.nat(), attributes }, { requiredKeys: [] })
const span = fc.record(
  {
    traceId: id(16),
    spanId: id(8),
    name: fc.oneof({ weight: 40, arbitrary: fc.string({ minLength: 1, maxLength: 90 }) }, fc.constant('')),
    parentSpanId: id(8),
    traceState: text,
    kind: fc.integer({ min: -1, max: 9 }),
    startTimeUnixNano: fc.nat(),
    attributes,
    droppedAttributesCount: fc.nat(),
    events: fc.array(event, { maxLength: 2 }),
    links: fc.array(link, { maxLength: 2 }),
    status: fc.record({ code: fc.nat(3), message: text }),
    flags: fc.nat(),
  },
  { requiredKeys: ['traceId', 'spanId', 'name'] },
)
const scope = fc.record({
  scope: fc.record({ name: text, attributes }),
  spans: fc.array(span, { maxLength: 3 }),
  schemaUrl: text,
})
const resourceSpans = fc.array(
  fc.record(
    { resource: fc.record({ attributes }), scopeSpans: fc.array(scope, { maxLength: 2 }) },
    { requiredKeys: [] },
  ),
  { maxLength: 3 },
)
const body = resourceSpans.map((all) => encodeRequest({ resourceSpans: all }))

const edits = fc.array(
  fc.record({
    at: fc.nat(20_000),
    kind: fc.constantFrom('set', 'cut', 'double', 'end'),
    byte: fc.nat(255),
    length: fc.nat(40),
  }),
  { minLength: 1, maxLength: 4 },
)
const damaged = fc.tuple(fc.oneof(body, fc.constantFrom(...real.map((one) => one.body))), edits).map(([from, all]) => {
  let bytes = [...from]
  for (const { at, kind, byte, length } of all) {
    const place = at % Math.max(1, bytes.length)
    if (kind === 'set') bytes[place] = byte
    if (kind === 'cut') bytes.splice(place, length)
    if (kind === 'double') bytes.splice(place, 0, ...bytes.slice(place, place + length))
    if (kind === 'end') bytes = bytes.slice(0, place)
  }
  return Uint8Array.from(bytes)
})

describe('the quick look', () => {
  it.each(real)('knows all of $name', ({ body }) => {
    expect(agrees(body)).toBe(true)
  })

  it('agrees on the edge cases', () => {
    for (const { bodyBase64 } of edgeCases) agrees(Uint8Array.from(Buffer.from(bodyBase64, 'base64')))
  })

  it('agrees on any request, and knows most of them', () => {
    let known = 0
    let all = 0
    fc.assert(
      fc.property(body, (bytes) => {
        all++
        if (agrees(bytes)) known++
      }),
      { numRuns: 2_000 },
    )
    expect(known).toBeGreaterThan(all / 2)
  })

  it('agrees on damaged bodies', () => {
    fc.assert(
      fc.property(damaged, (bytes) => {
        agrees(bytes)
      }),
      { numRuns: 5_000 },
    )
  })

  it('leaves a depth, a length or bytes that nothing should hold to the decoder', () => {
    const deep = (lists: number) => {
      let bytes: number[] = []
      const wrap = (tag: number) => {
        const { length } = bytes
        bytes = [tag, ...(length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]), ...bytes]
      }
      // A value in a list in a value, and so on; the attribute, the resource, its spans.
      for (let i = 0; i < lists; i++) for (const tag of [0x0a, 0x2a]) wrap(tag)
      for (const tag of [0x12, 0x0a, 0x0a, 0x0a]) wrap(tag)
      return Uint8Array.from(bytes)
    }
    expect(agrees(deep(48))).toBe(true)
    expect(decodeTraces(deep(49), 'protobuf').ok).toBe(false)
    expect(agrees(deep(49))).toBe(false)
    for (const bytes of [[0x0a], [0x0a, 0x05, 0x0a], [0x00], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x8a, 0x00, 0x00]])
      expect(skimTraces(Uint8Array.from(bytes))).toBeNull()
    expect(skimTraces(new Uint8Array(0))).toEqual({ items: 0, reserved: 0, sessions: [] })
  })

  it('leaves a field that comes twice to the decoder: the last one counts', () => {
    const wrap = (tag: number, bytes: number[]) => [tag, bytes.length, ...bytes]
    const text = (letters: string) => [...Buffer.from(letters)]
    const ids = [...wrap(0x0a, Array(16).fill(1)), ...wrap(0x12, Array(8).fill(1))]
    const spanOf = (...names: string[]) =>
      Uint8Array.from(wrap(0x0a, wrap(0x12, wrap(0x12, [...ids, ...names.flatMap((name) => wrap(0x2a, text(name)))]))))
    expect(agrees(spanOf('x'))).toBe(true)
    expect(agrees(spanOf('x', ''))).toBe(false)
    const session = (...values: string[]) =>
      Uint8Array.from(
        wrap(
          0x0a,
          wrap(
            0x0a,
            wrap(0x0a, [
              ...wrap(0x0a, text('session.id')),
              ...wrap(
                0x12,
                values.flatMap((v) => wrap(0x0a, text(v))),
              ),
            ]),
          ),
        ),
      )
    expect(agrees(session('a'))).toBe(true)
    expect(agrees(session('a', 'b'))).toBe(false)
  })
})
