// Attribute names that were decoded before, by their bytes. A sender uses the same few in every span: looking one up costs a quarter
// of making it, and what reads it later finds its hash already there.

/** Places; a name that falls on a taken one takes it over, so memory is bounded whatever is sent. */
const PLACES = 2_048
/** Bytes of a longest name that is kept. */
const MAX_BYTES = 64

interface Known {
  bytes: Uint8Array
  text: string
}

export class KeyCache {
  private readonly places: (Known | undefined)[] = new Array<Known | undefined>(PLACES).fill(undefined)

  /** The name whose UTF-8 bytes lie from `start` to `end`, if it is known. */
  get(bytes: Uint8Array, start: number, end: number): string | undefined {
    const known = this.places[placeOf(bytes, start, end)]
    if (known === undefined || known.bytes.length !== end - start) return undefined
    for (let i = 0; i < known.bytes.length; i++) if (known.bytes[i] !== bytes[start + i]) return undefined
    return known.text
  }

  /** Keeps a name that was decoded from these bytes; returns it. */
  put(bytes: Uint8Array, start: number, end: number, text: string): string {
    if (end - start <= MAX_BYTES) {
      this.places[placeOf(bytes, start, end)] = { bytes: Uint8Array.from(bytes.subarray(start, end)), text }
    }
    return text
  }
}

/** From the length and some of the bytes, which tell the names of conventions apart. */
function placeOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  // The last bytes differ most; before them, every fourth.
  for (let at = end - 1; at >= start; at -= at > end - 4 ? 1 : 4) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
  return (hash ^ (hash >>> 11)) & (PLACES - 1)
}
