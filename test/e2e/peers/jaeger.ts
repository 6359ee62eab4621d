// A real Jaeger, and what its query API gives back.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExportTraceServiceRequest, Span } from '../../../conventions/otlp.ts'
import { freePort, Program } from './program.ts'

/** Traces in one answer: more than any test makes. */
const MOST_TRACES = 1_000

/** memory: as Jaeger comes, with its batch processor. disk: what it has accepted survives its end. */
type Storage = 'memory' | 'disk'

export class Jaeger {
  private readonly root = mkdtempSync(join(tmpdir(), 'spanseal-jaeger-'))
  private readonly storage: Storage
  private readonly program: Program
  private ports = { otlp: 0, query: 0, grpc: 0, health: 0 }

  constructor(storage: Storage) {
    this.storage = storage
    this.program = new Program({ name: 'jaeger', args: ['--config', `file:${this.root}/config.json`] })
  }

  /** Starts it, at the same addresses when it ran before. */
  async start(): Promise<this> {
    if (this.ports.otlp === 0) {
      this.ports = { otlp: await freePort(), query: await freePort(), grpc: await freePort(), health: await freePort() }
      mkdirSync(`${this.root}/store`)
      writeFileSync(`${this.root}/config.json`, JSON.stringify(this.config()))
    }
    await this.program.start(`http://127.0.0.1:${this.ports.health}/status`)
    return this
  }

  /** Where it takes OTLP over HTTP. */
  get url(): string {
    return `http://127.0.0.1:${this.ports.otlp}`
  }

  /** Where its query API answers. */
  get queryUrl(): string {
    return `http://127.0.0.1:${this.ports.query}`
  }

  async kill(): Promise<void> {
    await this.program.end('SIGKILL')
  }

  /** Ends it and removes what it stored. */
  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.root, { recursive: true, force: true })
  }

  /** All spans of a service in the last hour, as its API v3 gives them without any adjustment. Throws on an error. */
  async spans(service: string): Promise<Span[]> {
    const query = new URLSearchParams({
      'query.service_name': service,
      'query.start_time_min': new Date(Date.now() - 3_600_000).toISOString(),
      'query.start_time_max': new Date(Date.now() + 60_000).toISOString(),
      'query.num_traces': String(MOST_TRACES),
      'query.raw_traces': 'true',
    })
    const answer = await fetch(`${this.queryUrl}/api/v3/traces?${query}`)
    if (answer.status === 404) return []
    const body = await answer.text()
    if (!answer.ok) throw new Error(`Jaeger answers ${answer.status}: ${body}`)
    const { result } = JSON.parse(body) as { result: ExportTraceServiceRequest }
    return result.resourceSpans.flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []))
  }

  private config(): object {
    const at = (port: number) => `127.0.0.1:${port}`
    const directories = { keys: `${this.root}/store`, values: `${this.root}/store` }
    const store =
      this.storage === 'memory'
        ? { memory: { max_traces: 100_000 } }
        : { badger: { ephemeral: false, consistency: true, directories } }
    return {
      extensions: {
        jaeger_storage: { backends: { store } },
        jaeger_query: {
          storage: { traces: 'store' },
          http: { endpoint: at(this.ports.query) },
          grpc: { endpoint: at(this.ports.grpc) },
        },
        healthcheckv2: { use_v2: true, http: { endpoint: at(this.ports.health) } },
      },
      receivers: { otlp: { protocols: { http: { endpoint: at(this.ports.otlp) } } } },
      processors: { batch: {} },
      exporters: { jaeger_storage_exporter: { trace_storage: 'store' } },
      service: {
        extensions: ['jaeger_storage', 'jaeger_query', 'healthcheckv2'],
        pipelines: {
          traces: {
            receivers: ['otlp'],
            // The batch processor answers before anything is stored.
            processors: this.storage === 'memory' ? ['batch'] : [],
            exporters: ['jaeger_storage_exporter'],
          },
        },
        telemetry: { metrics: { level: 'none' } },
      },
    }
  }
}
