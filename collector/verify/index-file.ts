// Verifies a copy of the index (spanseal.duckdb) by itself: the signed bytes of each record in it, in the order of the log, and that
// the columns beside them say what the bytes say. It has no checkpoints and no content; a checkpoint can be given.
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { parseStrict } from '../../conventions/strict-json.ts'
import type { Entry } from './chain.ts'
import { Checks, tooNew } from './checks.ts'
import { hashText } from './crypto.ts'
import { Findings } from './findings.ts'
import type { VerifyOptions } from './home.ts'
import { readRecord } from './read-record.ts'
import { concludeReport, type Report, unusableReport } from './report.ts'
import { NO_TRUST, readTrust } from './trust.ts'

const KID_BYTES = 32
const SIGNATURE_BYTES = 64
/** Nothing the file says is followed outside of it. */
const CONFIG = {
  access_mode: 'READ_ONLY',
  threads: '1',
  temp_directory: '',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

/** Columns as text, by where the record says the same: a path of members. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  seq: ['log', 'seq'],
  type: ['type'],
  tier: ['tier'],
  source_kind: ['source', 'kind'],
  source_event: ['source', 'event'],
  run_id: ['run', 'id'],
  run_part: ['run', 'part'],
  run_seq: ['run', 'seq'],
  trace_id: ['trace', 'trace_id'],
  span_id: ['trace', 'span_id'],
  parent_span_id: ['trace', 'parent'],
  call_id: ['call', 'id'],
  attempt: ['call', 'attempt'],
  turn: ['body', 'turn'],
  sub: ['body', 'sub'],
}
const TEXTS = Object.keys(COLUMNS)
const QUERY = `SELECT hex(bytes), hex(kid), hex(signature), hex(leaf), epoch_ms(time)::VARCHAR, body::VARCHAR,
  ${TEXTS.map((name) => `${name}::VARCHAR`).join(', ')} FROM records ORDER BY rowid`

interface Row {
  bytes: Uint8Array
  kid: Uint8Array
  signature: Uint8Array
  leaf: Uint8Array
  time: string | null
  body: string | null
  texts: (string | null)[]
}

/** Verifies the DuckDB file at `path`. Never throws on what it reads. */
export async function verifyIndex({ path, ...options }: VerifyOptions & { path: string }): Promise<Report> {
  const now = options.now ?? new Date()
  const pins = options.trust === undefined ? { ok: true as const, trust: NO_TRUST } : readTrust(options.trust)
  if (!pins.ok) return unusableReport('index', now, `trust file, line ${pins.line}: ${pins.message}`)
  const findings = new Findings()
  // It is all the checkpoint there is: it counts as the log's own and as one that was kept elsewhere.
  const checkpoints = (options.seen ?? []).flatMap((text) =>
    [false, true].map((outside) => ({ text, from: 'the checkpoint given', outside })),
  )
  let checks: Checks | undefined
  try {
    for await (const row of rowsOf(path)) {
      const refused = checks === undefined ? tooNew(row.bytes) : null
      if (refused !== null) return unusableReport('index', now, refused)
      checks ??= new Checks(readRecord(row.bytes), {
        findings,
        trust: pins.trust,
        checkpoints,
        vault: null,
        scope: null,
      })
      const entry = await checks.entry({ kid: row.kid, signature: row.signature, record: row.bytes })
      const position = checks.chain.next
      for (const column of driftOf(row, entry)) findings.add('index.drift', column, position)
      checks.take(entry)
    }
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'unknown error'
    return unusableReport('index', now, `the index can't be read (${why})`)
  }
  if (checks === undefined) return unusableReport('index', now, 'there is no record in it')
  return concludeReport({ ...checks.end(), subject: 'index', now, strict: options.strict ?? false, torn_end: false })
}

async function* rowsOf(path: string): AsyncGenerator<Row> {
  const instance = await DuckDBInstance.create(path, CONFIG)
  try {
    const connection = await instance.connect()
    try {
      const result = await connection.stream(QUERY)
      for await (const rows of result.yieldRows()) for (const row of rows) yield rowOf(row)
    } finally {
      connection.closeSync()
    }
  } finally {
    instance.closeSync()
  }
}

function rowOf([bytes, kid, signature, leaf, time, body, ...texts]: DuckDBValue[]): Row {
  return {
    bytes: blob(bytes),
    kid: sized(blob(kid), KID_BYTES),
    signature: sized(blob(signature), SIGNATURE_BYTES),
    leaf: blob(leaf),
    time: text(time),
    body: text(body),
    texts: texts.map(text),
  }
}

const text = (value: DuckDBValue | undefined) => (typeof value === 'string' ? value : null)
const blob = (value: DuckDBValue | undefined) => Buffer.from(text(value) ?? '', 'hex')

/** A field of another length can't be what was signed: zeros never verify. */
function sized(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.length === length ? bytes : new Uint8Array(length)
}

/** Columns that do not say what the record's own bytes say. */
function driftOf({ bytes, leaf, time, body, texts }: Row, entry: Entry): string[] {
  const parsed = parseStrict(bytes)
  const record = parsed.ok ? parsed.value : null
  const drifted = TEXTS.filter((name, i) => (texts[i] ?? null) !== asText(memberOf(record, COLUMNS[name] ?? [])))
  if (hashText(leaf) !== entry.leaf64) drifted.push('leaf')
  if (time !== asText(timeOf(memberOf(record, ['time'])))) drifted.push('time')
  if (body === null || !sameJson(body, memberOf(record, ['body']))) drifted.push('body')
  return drifted
}

function memberOf(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined),
    record,
  )
}

function asText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}

function timeOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

function sameJson(body: string, expected: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(body)) === JSON.stringify(expected ?? {})
  } catch {
    return false
  }
}
