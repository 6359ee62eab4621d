// What otel-config.yaml promises, setting by setting. That a real OpenTelemetry Collector takes the file and that it works is tested
// by otelcol.peer.ts, where Go is.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const config = parse(readFileSync('otel-config.yaml', 'utf8'))

it('holds nothing in memory between receiver and queue', () => {
  expect(config.service.pipelines.traces).toEqual({
    receivers: ['otlp'],
    processors: ['memory_limiter'],
    exporters: ['otlp_http'],
  })
  expect(Object.keys(config.processors).filter((id) => id.startsWith('batch'))).toEqual([])
})

it('queues on disk, by bytes, and waits when full', () => {
  expect(config.exporters.otlp_http.sending_queue).toMatchObject({
    enabled: true,
    storage: 'file_storage',
    sizer: 'bytes',
    block_on_overflow: true,
  })
  expect(config.extensions.file_storage.fsync).toBe(true)
})

it('retries for ever', () => {
  expect(config.exporters.otlp_http.retry_on_failure).toEqual({ enabled: true, max_elapsed_time: 0 })
})

it('limits memory and answers health checks', () => {
  expect(config.processors.memory_limiter.limit_percentage).toBeLessThan(100)
  expect(config.service.extensions).toContain('health_check')
})

it('listens on this machine only, and not on our own port', () => {
  expect(config.receivers.otlp.protocols.http.endpoint).toContain(':-127.0.0.1:24318}')
})

it('keeps all evidence where it samples', () => {
  const [first] = config.processors.tail_sampling.policies
  expect(first.string_attribute).toEqual({ key: 'spanseal.tier', values: ['T1', 'T2', 'T3'] })
})
