import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { otlpApp } from '../../collector/receive/otlp/app.ts'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { bodies, typeNamed } from './otlp-support.ts'

const small = bodies.filter(({ body }) => body.length < 12_000)

/** A real body with bytes changed, cut out, doubled or cut off. */
const mutated = fc
  .record({
    from: fc.constantFrom(...small),
    edits: fc.array(
      fc.record({
        at: fc.nat(12_000),
        kind: fc.constantFrom('set', 'cut', 'double', 'end'),
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
      if (kind === 'double') bytes.splice(place, 0, ...bytes.slice(place, place + length))
      if (kind === 'end') bytes = bytes.slice(0, place)
    }
    return { encoding: from.encoding, body: Uint8Array.from(bytes) }
  })

const anything = fc.record({
  encoding: fc.constantFrom('protobuf' as const, 'json' as const),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => new TextEncoder().encode(text)),
  ),
})

const contentType = { protobuf: 'application/x-protobuf', json: 'application/json' }

describe('damaged bodies', () => {
  it('decode to a value, never an exception, and take no span with a malformed id', () => {
    fc.assert(
      fc.property(
        fc.oneof({ weight: 4, arbitrary: mutated }, { weight: 1, arbitrary: anything }),
        ({ encoding, body }) => {
          const result = decodeTraces(body, encoding)
          if (!result.ok) {
            expect(result.message.length).toBeGreaterThan(result.field.length)
            return
          }
          for (const resource of result.request.resourceSpans) {
            for (const scope of resource.scopeSpans ?? []) {
              for (const span of scope.spans ?? []) {
                expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
                expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
                expect(span.startTimeUnixNano).toMatch(/^[0-9]{1,20}$/)
              }
            }
          }
        },
      ),
      { numRuns: 1_500 },
    )
  })

  it('are protobuf to us exactly when they are to protobufjs', () => {
    const type = typeNamed('ExportTraceServiceRequest')
    const theirs = (body: Uint8Array) => {
      try {
        type.decode(body)
        return true
      } catch {
        return false
      }
    }
    const ours = (body: Uint8Array) => {
      const result = decodeTraces(body, 'protobuf')
      // Wrong lengths of ids are our rule, not protobuf's.
      return result.ok || /must be (?:8|16) bytes/.test(result.message) ? 'taken' : 'refused'
    }
    fc.assert(
      fc.property(mutated, ({ encoding, body }) => {
        fc.pre(encoding === 'protobuf')
        if (!theirs(body)) expect(decodeTraces(body, 'protobuf').ok).toBe(false)
        else expect(ours(body)).toBe('taken')
      }),
      { numRuns: 500 },
    )
  })

  it('are answered 200 or 400 in their encoding, and accepted only with 200', async () => {
    await fc.assert(
      fc.asyncProperty(mutated, fc.boolean(), async ({ encoding, body }, gzip) => {
        let accepted = 0
        const faults: unknown[] = []
        const app = otlpApp({
          accept: async () => {
            accepted++
            return { ok: true }
          },
          onFault: (error) => faults.push(error),
        })
        const response = await app.request('/v1/traces', {
          method: 'POST',
          headers: { 'content-type': contentType[encoding], ...(gzip && { 'content-encoding': 'gzip' }) },
          body: gzip ? gzipSync(body) : Buffer.from(body),
        })
        expect(faults).toEqual([])
        expect([200, 400]).toContain(response.status)
        expect(response.headers.get('content-type')).toBe(contentType[encoding])
        expect(accepted).toBeLessThanOrEqual(response.status === 200 ? 1 : 0)
      }),
      { numRuns: 300 },
    )
  })

  it('are answered 400 when gzip itself is damaged', async () => {
    const app = otlpApp({ accept: async () => ({ ok: true }) })
    const whole = gzipSync(small[0]?.body ?? new Uint8Array(0))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: whole.length - 1 }), async (length) => {
        const response = await app.request('/v1/traces', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: whole.subarray(0, length),
        })
        expect(response.status).toBe(400)
        expect(await response.json()).toEqual({ code: 3, message: expect.stringMatching(/^gzip: /) })
      }),
      { numRuns: 100 },
    )
  })
})
