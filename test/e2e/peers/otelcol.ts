// A real OpenTelemetry Collector that runs the project's otel-config.yaml; only addresses, and in some tests its processors, differ.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, Program, peerPath } from './program.ts'

export interface OtelcolSetup {
  /** Where it sends to. */
  backend: string
  /** otelcol: the components of otel-config.yaml and no others. */
  program?: 'otelcol' | 'otelcol-altering'
  /** What follows the memory limiter. Default: nothing, as in the file. */
  processors?: string[]
  /** More configuration, one `path::to::key: value` each. */
  settings?: string[]
}

export class Otelcol {
  private readonly root = mkdtempSync(join(tmpdir(), 'spanseal-otelcol-'))
  private readonly setup: OtelcolSetup
  private program: Program | undefined
  private port = 0
  private health = 0

  constructor(setup: OtelcolSetup) {
    this.setup = setup
  }

  /** Starts it, at the same address when it ran before. `settings`: for this time only. */
  async start(settings: string[] = []): Promise<this> {
    if (this.port === 0) {
      this.port = await freePort()
      this.health = await freePort()
    }
    const { program = 'otelcol', backend } = this.setup
    this.program = new Program({
      name: program,
      args: this.configs(settings).flatMap((config) => ['--config', config]),
      env: {
        BACKEND_OTLP_ENDPOINT: backend,
        OTLP_LISTEN: `127.0.0.1:${this.port}`,
        HEALTH_LISTEN: `127.0.0.1:${this.health}`,
        QUEUE_DIRECTORY: `${this.root}/queue`,
      },
    })
    await this.program.start(`http://127.0.0.1:${this.health}/`)
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async kill(): Promise<void> {
    await this.program?.end('SIGKILL')
  }

  /** Ends it as a service manager does. */
  async stop(): Promise<void> {
    await this.program?.end('SIGTERM')
  }

  /** Ends it and removes its queue. */
  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.root, { recursive: true, force: true })
  }

  /** The project's file, then what this test changes in it. */
  private configs(more: string[]): string[] {
    const { program, processors = [], settings = [] } = this.setup
    const files = ['otel-config.yaml', ...(program === 'otelcol-altering' ? ['test/e2e/peers/altering.yaml'] : [])]
    const extra = ['service::telemetry::metrics::level: none', ...settings, ...more]
    if (processors.length > 0)
      extra.push(`service::pipelines::traces::processors: [${['memory_limiter', ...processors].join(', ')}]`)
    return [...files, ...extra.map((setting) => `yaml:${setting}`)]
  }
}

/** What `otelcol validate` says of a configuration: its exit code and output. */
export function validate(file: string, backend = 'http://127.0.0.1:4318'): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(peerPath('otelcol'), ['validate', '--config', file], {
    encoding: 'utf8',
    env: { BACKEND_OTLP_ENDPOINT: backend },
  })
  return { status, output: stdout + stderr }
}
