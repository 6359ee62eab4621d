// What the single steps of an ingested span cost, each alone, warm, on one body that never changes: what no arrangement of them can go
// below. Its only argument is how often each is done. Prints a Steps, in seconds of CPU a span.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBAppender, DuckDBInstance } from '@duckdb/node-api'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { readImport } from '../../collector/receive/otlp/import.ts'
import { skim } from '../../collector/receive/otlp/skim.ts'
import { maskBytes } from '../../collector/record/redact.ts'
import { commit } from '../../collector/sign/signer.ts'
import { appendImported } from '../../collector/store/index/import-row.ts'
import { createSchema } from '../../collector/store/index/schema.ts'
import { appendViews } from '../../collector/store/index/view-row.ts'
import { SPANS_PER_BODY, SpanBody } from '../otlp-body.ts'

export interface Steps {
  look: number
  secrets: number
  commit: number
  decode: number
  /** Decoding, classifying and laying out, together. */
  read: number
  /** Handing finished values to DuckDB and committing them. */
  rows: number
}

const times = Number(process.argv[2])
const body = new SpanBody().renew()

function cpuOf(work: () => unknown): number {
  for (let i = 0; i < times; i++) work()
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6 / times / SPANS_PER_BODY
}

type Call = [method: keyof DuckDBAppender, ...values: unknown[]]

/** An appender that only keeps what it is told. */
function recorder(calls: Call[]): DuckDBAppender {
  const keep =
    (_: object, method: string) =>
    (...values: unknown[]) =>
      void calls.push([method as Call[0], ...values])
  return new Proxy({}, { get: keep }) as DuckDBAppender
}

/** The calls that the rows of one body make, with values that are there already. */
async function rows(): Promise<number> {
  const items = readImport(body, 'protobuf', 'traces', '')
  const calls = { import_spans: [] as Call[], import_views: [] as Call[] }
  const spans = recorder(calls.import_spans)
  appendImported({ traces: spans, logs: spans, metrics: spans }, 0, items)
  appendViews(recorder(calls.import_views), 0, items)
  const folder = mkdtempSync(join(tmpdir(), 'spanseal-bench-'))
  const instance = await DuckDBInstance.create(`${folder}/index.duckdb`, { threads: '1', checkpoint_threshold: '1GB' })
  const connection = await instance.connect()
  for (const statement of createSchema()) await connection.run(statement)
  const transaction = async () => {
    await connection.run('BEGIN TRANSACTION')
    for (const [table, told] of Object.entries(calls)) {
      const appender = await connection.createAppender(table)
      for (let i = 0; i < times; i++) {
        for (const [method, ...values] of told) (appender[method] as (...given: unknown[]) => void)(...values)
      }
      appender.closeSync()
    }
    await connection.run('COMMIT')
  }
  await transaction()
  const before = process.cpuUsage()
  await transaction()
  const { user, system } = process.cpuUsage(before)
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true })
  return (user + system) / 1e6 / times / SPANS_PER_BODY
}

const steps: Steps = {
  look: cpuOf(() => skim(body, 'ExportTraceServiceRequest')),
  secrets: cpuOf(() => maskBytes(body)),
  commit: cpuOf(() => commit({ name: 'body', bytes: body, keep: true })),
  decode: cpuOf(() => decodeTraces(body, 'protobuf')),
  read: cpuOf(() => readImport(body, 'protobuf', 'traces', '')),
  rows: await rows(),
}
console.log(JSON.stringify(steps))
