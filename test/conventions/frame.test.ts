// Frames: what is written is read back; every cut is torn, every changed byte is noticed, and nothing is read past the end.
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeLogPayload,
  decodeVaultPayload,
  encodeFrame,
  encodeLogPayload,
  encodeVaultPayload,
  FRAME_HEAD,
  MAX_GROUP_FRAMES,
  readFrame,
  segmentName,
} from '../../conventions/frame.ts'
import { commitmentInput, leafInput, nodeInput, preAuthEncoding } from '../../conventions/signing.ts'

const payloads = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 })
/** CRC-32 of "abc", going on from a value. */
const checksumAfter = (value: number) => {
  const out = Buffer.alloc(4)
  out.writeUInt32LE(crc32('abc', value))
  return out.toString('hex')
}
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('frames', () => {
  it('have their published bytes', () => {
    expect(hex(encodeFrame(Buffer.from('abc'), crc32))).toBe('03000000' + 'c2412435' + '616263')
    expect(hex(encodeFrame(Buffer.from('abc'), crc32, 5))).toBe(`03000085${checksumAfter(0x85)}616263`)
    expect(segmentName(0)).toBe('00000000.seg')
    expect(segmentName(12_345)).toBe('00012345.seg')
  })

  it('are read back one after the other, up to the end', () => {
    fc.assert(
      fc.property(payloads, fc.nat(9), (list, before) => {
        // In the middle of a larger buffer: offsets are of the view, not of its memory.
        const all = Buffer.concat([Buffer.alloc(before), ...list.map((payload) => encodeFrame(payload, crc32))])
        const bytes = new Uint8Array(all.buffer, all.byteOffset + before, all.length - before)
        const found: string[] = []
        for (let at = 0; ; ) {
          const read = readFrame(bytes, at, crc32)
          if (read.kind !== 'frame') {
            expect(read.kind).toBe('end')
            break
          }
          found.push(hex(read.payload))
          at = read.next
        }
        expect(found).toEqual(list.map(hex))
      }),
    )
  })

  it('are torn wherever they are cut', () => {
    const frame = encodeFrame(Buffer.from('a record of some bytes'), crc32)
    for (let length = 1; length < frame.length; length++)
      expect(readFrame(frame.subarray(0, length), 0, crc32)).toEqual({ kind: 'torn' })
  })

  it('are never whole with a changed bit', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        fc.nat(127),
        fc.nat(),
        fc.nat(7),
        (payload, place, at, bit) => {
          const frame = encodeFrame(payload, crc32, place)
          frame[at % frame.length] = (frame[at % frame.length] ?? 0) ^ (1 << bit)
          expect(readFrame(frame, 0, crc32).kind).not.toBe('frame')
        },
      ),
    )
  })

  it('say their place in their group, and can not have one that does not fit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(127), (payload, place) => {
        const frame = encodeFrame(payload, crc32, place)
        expect(readFrame(frame, 0, crc32)).toMatchObject({ kind: 'frame', place, next: frame.length })
      }),
    )
    expect(() => encodeFrame(Buffer.from('abc'), crc32, MAX_GROUP_FRAMES)).toThrow(RangeError)
    expect(() => encodeFrame(Buffer.alloc(200_000), crc32, 1)).toThrow(RangeError)
    expect(readFrame(encodeFrame(Buffer.alloc(20_000_000), crc32), 0, crc32)).toMatchObject({ kind: 'frame', place: 0 })
  })

  it('never run past the end, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), (bytes, at) => {
        const read = readFrame(bytes, Math.min(at, bytes.length), crc32)
        if (read.kind === 'frame') expect(read.next).toBeLessThanOrEqual(bytes.length)
      }),
    )
    expect(FRAME_HEAD).toBe(8)
  })
})

describe('payloads of the log', () => {
  it('are key id, signature, record', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.uint8Array({ maxLength: 50 }),
        (kid, signature, record) => {
          const payload = encodeLogPayload({ kid, signature, record })
          expect(hex(payload)).toBe(hex(kid) + hex(signature) + hex(record))
          const parts = decodeLogPayload(payload)
          expect([parts?.kid, parts?.signature, parts?.record].map((part) => part && hex(part))).toEqual(
            [kid, signature, record].map(hex),
          )
        },
      ),
    )
  })

  it('are none below 96 bytes', () => {
    expect(decodeLogPayload(new Uint8Array(95))).toBeNull()
    expect(decodeLogPayload(new Uint8Array(96))?.record).toHaveLength(0)
  })
})

describe('payloads of the vault', () => {
  const heads = fc.record({ seq: fc.nat(), name: fc.string(), salt: fc.stringMatching(/^[0-9a-f]{64}$/) })

  it('come back, dropped or kept', () => {
    fc.assert(
      fc.property(heads, fc.boolean(), fc.uint8Array({ maxLength: 50 }), (head, dropped, content) => {
        fc.pre(head.name.isWellFormed())
        const full = dropped ? { ...head, dropped: true as const } : head
        const entry = decodeVaultPayload(encodeVaultPayload({ head: full, content }))
        expect(entry?.head).toEqual(full)
        expect(entry && hex(entry.content)).toBe(hex(content))
      }),
    )
  })

  it('are none when the head is not one, and never throw', () => {
    for (const text of ['', '\x02\x00[]', '\x02\x00{}', '\x04\x00null', '\xff\xff{}', '\x10\x00{"seq":"1","na']) {
      expect(decodeVaultPayload(Buffer.from(text, 'latin1'))).toBeNull()
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void decodeVaultPayload(bytes)))
  })
})

describe('what is hashed and signed', () => {
  it('has its published bytes', () => {
    expect(Buffer.from(preAuthEncoding('application/x', Buffer.from('héé'))).toString()).toBe(
      'DSSEv1 13 application/x 5 héé',
    )
    expect(hex(leafInput(Buffer.from('a')))).toBe('0061')
    expect(hex(nodeInput(Buffer.alloc(32, 1), Buffer.alloc(32, 2)))).toBe(`01${'01'.repeat(32)}${'02'.repeat(32)}`)
    expect(Buffer.from(commitmentInput('args', Buffer.from('{}'))).toString()).toBe('spanseal/commit/v1\0args\0{}')
  })

  it('is different for different parts, wherever the border lies', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 20 }), (a, b) => {
        fc.pre(hex(a) !== hex(b))
        expect(hex(preAuthEncoding('t', a))).not.toBe(hex(preAuthEncoding('t', b)))
        expect(hex(leafInput(a))).not.toBe(hex(leafInput(b)))
      }),
    )
  })
})
