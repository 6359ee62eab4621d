import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { crcOfStretches } from '../../conventions/crc-range.ts'
import { encodeFrame } from '../../conventions/frame.ts'
import { wholeFrames } from '../../conventions/torn.ts'

it('is the checksum of every stretch, going on from any other', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.nat(), fc.nat(), fc.nat(0xff), (bytes, a, b, seed) => {
      const [from = 0, to = 0] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y)
      const stretch = bytes.subarray(from, to)
      expect(crcOfStretches(bytes, crc32)(stretch, seed)).toBe(to === from ? seed : crc32(stretch, seed))
    }),
  )
})

it('finds a frame behind content that looks like the start of one at every fifth byte, without reading it for each', () => {
  // What a third party sends is kept as it came: `{`, and lengths of half a megabyte.
  const hostile = Buffer.alloc(1024 * 1024, Buffer.from([0x7b, 0, 8, 0, 0]))
  const payload = Buffer.from('..{"name":"args"}')
  let read = 0
  const counting = (bytes: Uint8Array, value?: number) => {
    read += bytes.length
    return crc32(bytes, value)
  }
  const [found] = wholeFrames(Buffer.concat([hostile, encodeFrame(payload, crc32)]), 'vault', counting)
  expect(found?.at).toBe(hostile.length)
  expect(read).toBeLessThan(hostile.length * 200)
})
