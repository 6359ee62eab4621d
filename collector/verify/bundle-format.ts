// Lines of a bundle (RUN.evidence.jsonl): one file that proves a run offline. Each line is canonical JSON with its kind.
//
//   bundle  what this is: the run shown, the log, its size
//   note    a checkpoint of the log
//   rec     a record of the run, a record that declares keys, or the last record, as a DSSE envelope
//   open    content of the record before it that is disclosed on purpose: name, salt, bytes (base64)
//   node    the hash of a complete subtree (level l, index i) of records that are not shown
//   end     number of lines before this one, and SHA-256 of their bytes with their line feeds
//
// rec and node lines lie in the order of the log and cover every position once, so that the root can be computed.
// Reserved: `policy` (the policy's text).
import * as z from 'zod'
import { idText } from '../../conventions/names.ts'
import { RECORD_TYPE } from '../../conventions/signing.ts'

/** Bytes of one line, and of all (after decompression). */
export const MAX_LINE_BYTES = 1024 * 1024
export const MAX_BUNDLE_BYTES = 64 * 1024 * 1024

export const BUNDLE_VERSION = 1

const position = z.int().min(0)
const hash = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)

export const LINES = {
  bundle: z.strictObject({
    kind: z.literal('bundle'),
    v: z.literal(BUNDLE_VERSION),
    scope: z.strictObject({ run: z.string().regex(/^[0-9a-f]{32}$/), part: position.nullable() }),
    log: z.string().regex(/^[0-9a-f]{32}$/),
    size: position,
  }),
  note: z.strictObject({ kind: z.literal('note'), note: z.string() }),
  rec: z.strictObject({
    kind: z.literal('rec'),
    seq: position,
    dsse: z.strictObject({
      payload: z.string(),
      payloadType: z.literal(RECORD_TYPE),
      signatures: z.tuple([z.strictObject({ keyid: z.string().regex(/^sha256:[0-9a-f]{64}$/), sig: z.string() })]),
    }),
  }),
  open: z.strictObject({
    kind: z.literal('open'),
    seq: position,
    n: idText,
    salt: z.string().regex(/^[0-9a-f]{64}$/),
    content: z.string(),
  }),
  node: z.strictObject({ kind: z.literal('node'), l: z.int().min(0).max(52), i: position, h: hash }),
  end: z.strictObject({ kind: z.literal('end'), lines: position, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
} as const

export type LineKind = keyof typeof LINES
export type BundleLine = { [K in LineKind]: z.infer<(typeof LINES)[K]> }[LineKind]

/** Kinds that later versions write. */
export const RESERVED_KINDS: readonly string[] = ['policy']
