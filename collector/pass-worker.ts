// Entry of a thread that reads the spans of others for one destination: their bodies out of the vault, checked against what was
// recorded, and of each request about a mebibyte of spans at a time.
import { parentPort, workerData } from 'node:worker_threads'
import type { VaultEntry } from '../conventions/frame.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from './forward/batch.ts'
import { type Passed, type Recorded, rememberSession } from './forward/pass-through.ts'
import { passedSpans } from './forward/passed-spans.ts'
import type { EncodedSpan } from './forward/request.ts'
import type { PassJob, PassReply } from './pass-through.ts'
import { readPassable } from './receive/otlp/passable.ts'
import { commitment } from './sign/signer.ts'
import { VaultCursor } from './store/vault-cursor.ts'

const { vault, content } = workerData as { vault: string; content: boolean }
const UNREADABLE: Passed = { spans: [], done: true, withheld: 0, unreadable: true }

interface Reading {
  seq: number
  spans: Iterator<EncodedSpan | null>
  given: number
  withheld: number
}

const hooked = new Set<string>()
let cursor = new VaultCursor(vault)
let asked = -1
let reading: Reading | undefined

function read(recorded: Recorded, from: number): Passed {
  if (reading?.seq !== recorded.seq || reading.given !== from) {
    const opened = open(recorded)
    if (opened === null) return UNREADABLE
    reading = opened
    while (opened.given < from && take(opened) !== null) {}
  }
  const spans: EncodedSpan[] = []
  let bytes = 0
  while (spans.length < MAX_BATCH_ITEMS && bytes < MAX_BATCH_BYTES) {
    const span = take(reading)
    if (span === null) {
      const { withheld } = reading
      reading = undefined
      return { spans, done: true, withheld, unreadable: false }
    }
    spans.push(span)
    bytes += span.size
  }
  return { spans, done: false, withheld: 0, unreadable: false }
}

/** The next span that is passed on; null at the end. */
function take(from: Reading): EncodedSpan | null {
  for (;;) {
    const { value, done } = from.spans.next()
    if (done) return null
    if (value !== null) {
      from.given++
      return value
    }
    from.withheld++
  }
}

function open({ seq, logId, encoding, commit, marks }: Recorded): Reading | null {
  const body = bodyOf(seq, commit)
  const passable = body === null ? null : readPassable(body, encoding, logId)
  if (!passable?.ok) return null
  const { request, relayed } = passable
  return { seq, spans: passedSpans(request, { marks, content, hooked }), given: 0, withheld: relayed }
}

/** What was kept of the body, if it is what the record commits to. */
function bodyOf(seq: number, commit: Recorded['commit']): Uint8Array | null {
  // It goes forward only, and was asked for this one when a thread before failed.
  if (seq <= asked) cursor = new VaultCursor(vault)
  asked = seq
  const places = cursor.of(seq)
  const place = ['body', 'body.redacted'].map((name) => places.find((each) => each.name === name)).find(Boolean)
  const entry = place?.open() ?? null
  return entry !== null && isCommitted(entry, commit) ? entry.content : null
}

function isCommitted({ head, content: bytes }: VaultEntry, commit: Recorded['commit']): boolean {
  const { c } = commit.find(({ n }) => n === head.name) ?? {}
  return c === commitment(Buffer.from(head.salt, 'hex'), head.name, bytes)
}

parentPort?.on('message', ({ sessions, recorded, from }: PassJob) => {
  for (const session of sessions) rememberSession(hooked, session)
  let reply: PassReply
  try {
    reply = { ok: true, passed: read(recorded, from) }
  } catch (error) {
    reading = undefined
    reply = { ok: false, code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' }
  }
  parentPort?.postMessage(reply)
})
