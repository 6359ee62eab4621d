// A name that is known by its bytes is the name that was decoded from them, whatever else was kept before.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { KeyCache } from '../../collector/receive/otlp/key-cache.ts'
import { encodeRequest, SPAN_ID, TRACE_ID } from './otlp-support.ts'

const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  // Many that are nearly alike, and of one length.
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 9, maxLength: 9 }),
  fc.string({ minLength: 60, maxLength: 70 }),
)

it('gives the text of these bytes or nothing', () => {
  const cache = new KeyCache()
  let hits = 0
  fc.assert(
    fc.property(name, fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 3 }), (text, before, after) => {
      const bytes = Buffer.concat([before, Buffer.from(text), after])
      const [start, end] = [before.length, bytes.length - after.length]
      const known = cache.get(bytes, start, end)
      if (known !== undefined) hits++
      expect(known ?? text).toBe(text)
      expect(cache.put(bytes, start, end, text)).toBe(text)
    }),
    { numRuns: 5_000 },
  )
  expect(hits).toBeGreaterThan(100)
})

it('keeps nothing of a body that is gone', () => {
  const cache = new KeyCache()
  const bytes = Buffer.from('gen_ai.tool.name')
  cache.put(bytes, 0, bytes.length, 'gen_ai.tool.name')
  bytes.fill(0x78)
  expect(cache.get(bytes, 0, bytes.length)).toBeUndefined()
  expect(cache.get(Buffer.from('gen_ai.tool.name'), 0, 16)).toBe('gen_ai.tool.name')
})

it('names come out as they were sent, in whatever order bodies come', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const attributes = names.map((key, n) => ({ key, value: { intValue: `${n}` } }))
      const ids = { traceId: Buffer.from(TRACE_ID, 'hex'), spanId: Buffer.from(SPAN_ID, 'hex'), name: 'x' }
      const body = encodeRequest({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...ids, attributes }] }] }] })
      const decoded = decodeTraces(body, 'protobuf')
      const span = decoded.ok ? decoded.request.resourceSpans[0]?.scopeSpans?.[0]?.spans?.[0] : undefined
      expect((span?.attributes ?? []).map(({ key }) => key)).toEqual(names)
    }),
    { numRuns: 500 },
  )
})
