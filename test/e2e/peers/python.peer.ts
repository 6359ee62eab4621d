// OpenTelemetry's own exporters for Python (opentelemetry-exporter-otlp-proto-http and -grpc) against the built collector.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Collector } from '../../support/collector.ts'

/** Made by run.sh. */
const PYTHON = resolve('.cache/peers/python/bin/python')

let collector: Collector
beforeAll(async () => {
  collector = await new Collector({ config: 'version: 1\notlp: {port: 0, grpc: {port: 0}}\n' }).start()
})
afterAll(() => collector.remove())

it.each([
  ['http', 'none'],
  ['http', 'gzip'],
  ['grpc', 'none'],
  ['grpc', 'gzip'],
])('spans, log records and data points of Python over %s, compression %s', async (protocol, compression) => {
  const name = `python-${protocol}-${compression}`
  const script = resolve('test/e2e/peers/export.py')
  const { otlp, otlp_grpc } = collector.endpoint()
  const address = protocol === 'grpc' ? String(otlp_grpc) : otlp
  execFileSync(PYTHON, [script, address, compression, protocol], { stdio: 'inherit', env: {} })
  const of = async (columns: string, view: string) =>
    (await collector.sql(`SELECT ${columns}, receipt_only FROM ${view} WHERE service = '${name}' ORDER BY 1`)).rows
  expect(await of(`name, status, attributes->>'bytes'`, 'spans')).toEqual([
    ['execute_tool read_file', 'error', '42', true],
  ])
  expect(await of('event, severity, received', 'logs')).toEqual(Array(2).fill(['agent.step', 13, 1, true]))
  const points = await of('metric, kind, value, count, sum', 'metrics')
  expect(points.filter(([metric]) => String(metric).startsWith('agent.'))).toEqual([
    ['agent.duration', 'histogram', null, 1, 1.5, true],
    ['agent.tokens', 'sum', 7, null, null, true],
  ])
  const { rows } = await collector.sql(`SELECT requests FROM import_sessions WHERE name = '${name}'`)
  expect(rows).toHaveLength(1)
  expect((await collector.verify()).findings).toEqual([])
})
