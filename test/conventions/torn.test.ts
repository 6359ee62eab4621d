// What lies behind the last whole record: left of the group that was being written, whatever of it is there, or damage to what was durable.
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, encodeLogPayload, MAX_GROUP_FRAMES } from '../../conventions/frame.ts'
import { isTornGroup, MAX_GROUP_BYTES } from '../../conventions/torn.ts'

const signed = { kid: new Uint8Array(32).fill(7), signature: new Uint8Array(64).fill(9) }
const frame = (seq: number, place: number, fill = 40) => {
  const record = Buffer.from(JSON.stringify({ v: 1, log: { seq }, body: 'x'.repeat(fill) }))
  return encodeFrame(encodeLogPayload({ ...signed, record }), crc32, place)
}
/** Groups of records, from record `first` on. */
const groups = (sizes: number[], first: number) => {
  let seq = first
  return sizes.map((size) => Array.from({ length: size }, (_, place) => frame(seq++, place)))
}
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 })

describe('the rest behind the last whole record', () => {
  it('is torn when any bytes of the last group are zeros, from any byte on', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.nat(), { minLength: 1 }),
        fc.nat(),
        (size, holes, cut) => {
          const group = groups([size], 40).flat()
          const bytes = Buffer.concat(group)
          // The first record has a hole: otherwise it would not be the last whole one.
          bytes.fill(0, 0, 12)
          for (const hole of holes)
            bytes.fill(0, hole % bytes.length, Math.min(bytes.length, (hole % bytes.length) + 100))
          expect(isTornGroup(bytes, 40, crc32)).toBe(true)
          expect(isTornGroup(bytes.subarray(0, cut % bytes.length), 40, crc32)).toBe(true)
        },
      ),
    )
  })

  it('is torn when the hole is further on in the group', () => {
    const group = groups([6], 40).flat()
    const tail = Buffer.concat(group.slice(2))
    tail.fill(0, 0, 20)
    expect(isTornGroup(tail, 42, crc32)).toBe(true)
  })

  it('is damage when a later group follows, whatever is damaged before it', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12 }), fc.nat(), (before, last, at) => {
        const all = groups([...before, last], 40)
        const damaged = all.slice(0, -1).flat()
        const from = at % damaged.length
        const tail = Buffer.concat([...damaged.slice(from), ...(all.at(-1) ?? [])])
        tail.fill(0, 0, Buffer.concat(damaged.slice(from)).length)
        expect(isTornGroup(tail, 40 + from, crc32)).toBe(false)
        // Also where the damage takes the beginning of the last group with it.
        if (last > 1) {
          tail.fill(0, 0, Buffer.concat(damaged.slice(from)).length + 50)
          expect(isTornGroup(tail, 40 + from, crc32)).toBe(false)
        }
      }),
    )
  })

  it('is damage when it holds what no collector writes there', () => {
    expect(isTornGroup(frame(39, 0), 40, crc32)).toBe(false)
    expect(isTornGroup(encodeFrame(Buffer.alloc(120, 0x7b), crc32), 40, crc32)).toBe(false)
    expect(isTornGroup(Buffer.alloc(MAX_GROUP_BYTES + 1), 40, crc32)).toBe(false)
  })

  it('has room for the largest group there is', () => {
    const largest = groups([MAX_GROUP_FRAMES - 1], 1).flat().length * (4_000 + 104) + 60_000 + 104
    expect(largest).toBeLessThan(MAX_GROUP_BYTES)
  })
})
