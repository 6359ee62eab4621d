// Finds the content that a bundle is to disclose, in the vault.
import { toBase64 } from '../../conventions/bytes.ts'
import { decodeVaultPayload } from '../../conventions/frame.ts'
import type { BundleLine } from './bundle-format.ts'
import { MAX_VAULT_PAYLOAD } from './home.ts'
import { readSegments, type Snapshot } from './segments.ts'

/** Bytes. In base64 they fit a line of 1 MiB. */
const MAX_OPEN_BYTES = 750_000

/** A piece of content: number of its record, and its name there. */
export interface ContentRef {
  seq: number
  name: string
}

type OpenLine = Extract<BundleLine, { kind: 'open' }>

/** The lines that disclose the content, or why one can't be: in words that name it. */
export function openContent(
  vault: Snapshot,
  refs: readonly ContentRef[],
): { ok: true; lines: OpenLine[] } | { ok: false; message: string } {
  const lines: OpenLine[] = []
  const open = new Set(refs.map(keyOf))
  if (open.size === 0) return { ok: true, lines }
  for (const item of readSegments(vault, MAX_VAULT_PAYLOAD)) {
    const entry = item.kind === 'payload' ? decodeVaultPayload(item.payload) : null
    if (entry === null || !open.delete(keyOf(entry.head))) continue
    const { seq, name, salt, dropped, erased } = entry.head
    const what = `${seq}:${name}`
    if (erased !== undefined) return { ok: false, message: `${what} was erased, as record ${erased} says` }
    if (dropped) return { ok: false, message: `${what} was not kept: the vault has only its salt` }
    if (entry.content.length > MAX_OPEN_BYTES)
      return { ok: false, message: `${what} has ${entry.content.length} bytes; at most ${MAX_OPEN_BYTES} fit a bundle` }
    lines.push({ kind: 'open', seq, n: name, salt, content: toBase64(entry.content) })
  }
  const [missing] = open
  return missing === undefined ? { ok: true, lines } : { ok: false, message: `the vault has no content ${missing}` }
}

const keyOf = ({ seq, name }: ContentRef) => `${seq}:${name}`
