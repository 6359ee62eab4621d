// CRC-32 of any stretch of some bytes without reading the stretch: a search that tries every byte as the start of a frame would else take
// time that grows with the square of what somebody had written there. Arithmetic as in zlib's crc32_combine.
import type { Crc32 } from './frame.ts'

/** Bytes between the places whose checksum is kept; a stretch costs at most twice that many. */
const BLOCK_BYTES = 256
/** The polynomial of IEEE 802.3, lowest power in the highest bit. */
const POLYNOMIAL = 0xedb8_8320
/** x to the power of 0. */
const ONE = 0x8000_0000

/** x to the power of 2^n. */
const POWERS: number[] = [0x4000_0000]
for (let n = 1; n < 35; n++) POWERS.push(times(POWERS[n - 1] as number, POWERS[n - 1] as number))

/** The checksum function of the stretches of `bytes`: give it a subarray of them. Reads all of `bytes` once. */
export function crcOfStretches(bytes: Uint8Array, crc32: Crc32): Crc32 {
  const kept = new Uint32Array(Math.floor(bytes.length / BLOCK_BYTES) + 1)
  for (let i = 1; i < kept.length; i++)
    kept[i] = crc32(bytes.subarray((i - 1) * BLOCK_BYTES, i * BLOCK_BYTES), kept[i - 1])
  const upTo = (at: number) => {
    const block = Math.floor(at / BLOCK_BYTES)
    const known = kept[block] ?? 0
    // Of nothing at all some implementations say 0, whatever they go on from.
    return at % BLOCK_BYTES === 0 ? known : crc32(bytes.subarray(block * BLOCK_BYTES, at), known)
  }
  return (stretch, seed = 0) => {
    const from = stretch.byteOffset - bytes.byteOffset
    return (upTo(from + stretch.length) ^ shifted(upTo(from) ^ seed, stretch.length)) >>> 0
  }
}

/** What a checksum does to that of `length` bytes behind. */
function shifted(crc: number, length: number): number {
  let factor = ONE
  // Eight bits a byte.
  for (let rest = length, n = 3; rest > 0; rest = Math.floor(rest / 2), n++)
    if (rest % 2 === 1) factor = times(POWERS[n] as number, factor)
  return times(factor, crc)
}

/** The product of two polynomials, modulo the polynomial. */
function times(a: number, b: number): number {
  let product = 0
  let power = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= power
    power = (power & 1) === 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1
  }
  return product
}
