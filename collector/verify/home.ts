// Verifies a home: its log, checkpoints and vault, read once, in bounded memory, while a collector may go on writing.
import { existsSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { decodeLogPayload } from '../../conventions/frame.ts'
import { homePaths } from '../../conventions/home.ts'
import { MAX_OTLP_BYTES } from '../../conventions/limits.ts'
import { isTornGroup } from '../../conventions/torn.ts'
import type { Entry } from './chain.ts'
import { readCheckpointFiles } from './checkpoint-files.ts'
import { newestSize } from './checkpoints.ts'
import { Checks, tooNew } from './checks.ts'
import { VaultCheck } from './content.ts'
import { Copies, type CopySource, type JudgedCopy } from './copies.ts'
import { Findings } from './findings.ts'
import { readRecord } from './read-record.ts'
import { concludeReport, type Report, unusableReport } from './report.ts'
import { readSegments, snapshot } from './segments.ts'
import { TileCheck } from './tiles.ts'
import { NO_TRUST, readTrust } from './trust.ts'

/** Records whose signatures are checked at once: keeps every core busy, and little in memory. */
const BATCH = 256
/** Bytes of a log frame's payload: key id and signature, and the longest entry that C2SP tiles can hold (our own limit is lower). */
export const MAX_LOG_PAYLOAD = 96 + 65_535
/** Bytes of a vault frame's payload: the largest content, and its head. */
export const MAX_VAULT_PAYLOAD = MAX_OTLP_BYTES + 64 * 1024

export interface VerifyOptions {
  /** Text of a trust file. */
  trust?: string
  /** Anything less than intact without warnings gets exit code 3. */
  strict?: boolean
  now?: Date
  /** Checkpoints of this log that were kept elsewhere. */
  seen?: string[]
  /** Copies of this log's records that were kept elsewhere; read before the log is. */
  copies?: CopySource
  /** Hears what each copy is worth. */
  onCopies?: (judged: readonly JudgedCopy[]) => void
}

/** Verifies the home folder `root`. Never throws on what it reads, never stops at the first finding. */
export async function verifyHome(options: VerifyOptions & { root: string }): Promise<Report> {
  const now = options.now ?? new Date()
  const pins = options.trust === undefined ? { ok: true as const, trust: NO_TRUST } : readTrust(options.trust)
  if (!pins.ok) return unusableReport('home', now, `trust file, line ${pins.line}: ${pins.message}`)
  const home = homePaths(options.root)
  const findings = new Findings()
  const copies = options.copies === undefined ? null : new Copies(options.copies, findings)
  const checkpoints = readCheckpointFiles(home, findings)
  for (const text of options.seen ?? []) checkpoints.push({ text, from: 'the checkpoint given', outside: true })
  for (const text of copies?.checkpoints ?? []) {
    checkpoints.push({ text, from: 'the checkpoint on a copy', outside: true, copy: true })
  }
  // The log first: content is durable before its record, so the vault then holds at least what these records need.
  const log = snapshot(home.log)
  const content = snapshot(home.vault)
  for (const problem of log.problems) findings.add('log.frame', problem)
  for (const problem of content.problems) findings.add('content.mismatch', `vault: ${problem}`)
  if (log.segments.length === 0) return unusableReport('home', now, `there is no log in ${home.log}`)

  const tiles = existsSync(`${home.log}/tile`) ? new TileCheck(home.log, newestSize(checkpoints), findings) : undefined
  let checks: Checks | undefined
  let tornEnd = false
  let records = 0
  let batch: Promise<Entry>[] = []
  const takeBatch = async () => {
    for (const entry of await Promise.all(batch)) {
      checks?.take(entry)
      tiles?.take(entry.bytes, entry.leaf)
    }
    batch = []
  }
  for (const item of readSegments(log, MAX_LOG_PAYLOAD)) {
    const signed = item.kind === 'payload' ? decodeLogPayload(item.payload) : null
    if (item.kind === 'payload') records++
    if (item.kind === 'rest' && isTornGroup(item.tail, records, crc32)) tornEnd = true
    else if (signed === null) {
      const note = item.kind === 'payload' ? 'a frame that is too short' : item.note
      findings.add('log.frame', `segment ${item.segment} at byte ${item.offset}: ${note}`)
    } else {
      if (checks === undefined) {
        const refused = tooNew(signed.record)
        if (refused !== null) return unusableReport('home', now, refused)
        const vault = new VaultCheck(readSegments(content, MAX_VAULT_PAYLOAD), findings, (entry) => copies?.body(entry))
        const settings = { findings, trust: pins.trust, checkpoints, vault, copies, scope: null }
        checks = new Checks(readRecord(signed.record), settings)
        await checks.begin()
      }
      batch.push(checks.entry(signed))
      if (batch.length === BATCH) await takeBatch()
    }
  }
  await takeBatch()
  if (checks === undefined) return unusableReport('home', now, `there is no record in ${home.log}`)
  const ended = checks.end()
  if (copies !== null) options.onCopies?.(copies.judged)
  return concludeReport({ ...ended, subject: 'home', now, strict: options.strict ?? false, torn_end: tornEnd })
}
