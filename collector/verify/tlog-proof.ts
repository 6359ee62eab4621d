// Proofs that one record is in the log, as C2SP specifies them (https://c2sp.org/tlog-proof): a small text file that standard
// clients check against a checkpoint.
import { fromBase64, toBase64 } from '../../conventions/bytes.ts'

const HEAD = 'c2sp.org/tlog-proof@v1'
const INDEX = /^index (0|[1-9][0-9]{0,19})$/
const HASH_BYTES = 32
/** Lines. A tree of 2^63 leaves has proofs of 63. */
const MAX_HASHES = 63

export interface TlogProof {
  index: bigint
  /** Bytes for whoever made it; ours is the DSSE envelope of the record. */
  extra: Uint8Array | null
  hashes: Uint8Array[]
  /** The checkpoint, a signed note. */
  checkpoint: string
}

/** Text of a proof. */
export function formatTlogProof({ index, extra, hashes, checkpoint }: TlogProof): string {
  const lines = [
    HEAD,
    ...(extra === null ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(toBase64),
  ]
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** Reads a proof; null when it is malformed. The checkpoint in it is only text until it is verified. */
export function parseTlogProof(text: string): TlogProof | null {
  const split = text.indexOf('\n\n')
  if (split < 0) return null
  const [head, ...rest] = text.slice(0, split).split('\n')
  if (head !== HEAD) return null
  const extraText = rest[0]?.startsWith('extra ') ? rest.shift()?.slice('extra '.length) : undefined
  const extra = extraText === undefined ? null : fromBase64(extraText)
  const [, index] = INDEX.exec(rest.shift() ?? '') ?? []
  const hashes = rest.map(fromBase64)
  if ((extraText !== undefined && extra === null) || index === undefined || hashes.length > MAX_HASHES) return null
  const whole = hashes.filter((hash) => hash?.length === HASH_BYTES) as Uint8Array[]
  if (whole.length !== hashes.length) return null
  return { index: BigInt(index), extra, hashes: whole, checkpoint: text.slice(split + 2) }
}
