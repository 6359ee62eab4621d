// The exporters of OpenTelemetry JS SDK 3, at the versions of their own lock file, against the built collector: three signals, both
// encodings and gRPC, with and without gzip, read back from the index. SDK 2's are in ../exporters.test.ts.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Collector } from '../../support/collector.ts'
import { fetched } from '../libraries/install.ts'

const RUN_MS = 30_000

let folder: string
let collector: Collector
beforeAll(async () => {
  folder = await fetched('test/e2e/otel-sdk3', ['send.mjs'])
  collector = await new Collector({ config: 'version: 1\notlp: {port: 0, grpc: {port: 0}}\n' }).start()
}, 300_000)
afterAll(() => collector.remove())

async function query(sql: string): Promise<unknown[][]> {
  const { rows, error } = await collector.sql(sql)
  if (error !== undefined) throw new Error(error)
  return rows
}

it.each(['sdk-trace', 'sdk-logs', 'sdk-metrics'])('is %s 3', (name) => {
  const { version } = JSON.parse(readFileSync(`${folder}/node_modules/@opentelemetry/${name}/package.json`, 'utf8'))
  expect(version).toMatch(/^3\./)
})

it.each([
  ['json', 'none'],
  ['json', 'gzip'],
  ['protobuf', 'none'],
  ['protobuf', 'gzip'],
  ['grpc', 'none'],
  ['grpc', 'gzip'],
])('spans, log records and data points as %s, %s', async (encoding, compression) => {
  const from = collector.records().length
  const { otlp, otlp_grpc } = collector.endpoint()
  const address = encoding === 'grpc' ? String(otlp_grpc) : otlp
  const args = [`${folder}/send.mjs`, address, encoding, compression]
  const { stderr } = await promisify(execFile)(process.execPath, args, { env: { HOME: folder }, timeout: RUN_MS })
  expect(stderr).toBe('')
  const made = collector.records().slice(from)
  const wire = encoding === 'json' ? 'json' : 'protobuf'
  for (const [type, count] of [
    ['spans.imported', 1],
    ['logs.imported', 1],
    ['metrics.imported', 2],
  ] as const) {
    const records = made.filter((record) => record.type === type)
    expect(records).toMatchObject([{ tier: 'T3', body: { count, rejected: 0, encoding: wire, sessions: 1 } }])
  }

  const scope = `sdk3 ${encoding} ${compression}`
  expect(await query(`SELECT name, status, receipt_only FROM spans WHERE scope = '${scope}'`)).toEqual([
    ['execute_tool read_file', 'error', true],
  ])
  // The arguments came as a map, which only this SDK sends, and are read as the tool's.
  expect(await query(`SELECT tool, outcome, would, receipt_only FROM tool_calls WHERE run = '${scope}'`)).toEqual([
    ['read_file', 'error reported', 'would_flag', true],
  ])
  expect(await query(`SELECT severity, event, receipt_only FROM logs WHERE scope = '${scope}'`)).toEqual([
    [9, 'agent.tool_result', true],
  ])
  expect(
    await query(`SELECT metric, kind, value, sum, receipt_only FROM metrics WHERE scope = '${scope}' ORDER BY metric`),
  ).toEqual([
    ['agent.duration', 'histogram', null, 1.5, true],
    ['agent.tokens', 'sum', 7, null, true],
  ])
})
