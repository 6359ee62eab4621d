// Wires the collector's own metrics: who counts, what is looked up, who may ask, where they are pushed.
import type { PriceTable } from '../conventions/prices.ts'
import type { Config } from './config.ts'
import type { Counted } from './doors.ts'
import { replaceFile } from './store/files.ts'
import type { TelemetryDoor } from './telemetry/app.ts'
import { LogMetrics } from './telemetry/log-metrics.ts'
import { lookedUp, type Sources } from './telemetry/looked-up.ts'
import { type Family, Metrics } from './telemetry/metrics.ts'
import { metricsRequest } from './telemetry/otlp.ts'
import { exposition } from './telemetry/prometheus.ts'
import { metricsUrl, Push } from './telemetry/push.ts'
import { Readiness } from './telemetry/readiness.ts'
import type { Target } from './telemetry/target.ts'
import { LAST_VERIFY, readLastVerify } from './telemetry/verified.ts'

/** Made before the log is opened: its records are counted as they are replayed. */
export class Counting {
  readonly metrics = new Metrics()
  readonly log: LogMetrics
  readonly #decided = this.metrics.histogram('spanseal.gate.duration')
  readonly #synced = this.metrics.histogram('spanseal.log.sync.duration')
  readonly #answered = this.metrics.histogram('spanseal.hook.duration')
  readonly #requests = this.metrics.counter('spanseal.otlp.requests')
  readonly #reloads = this.metrics.counter('spanseal.config.reloads')

  constructor(prices: PriceTable) {
    this.log = new LogMetrics(this.metrics, prices)
  }

  onDecided = (ms: number): void => this.#decided.observe(ms / 1000)
  onSync = (file: 'log' | 'vault', ms: number): void => this.#synced.observe(ms / 1000, file)
  onReload = (outcome: string): void => this.#reloads.add(1, outcome)
  readonly doors: Counted = {
    hook: (ms, agent, event) => this.#answered.observe(ms / 1000, agent, event),
    otlp: (status) => this.#requests.add(1, String(status)),
  }
}

export interface TelemetryOptions extends Omit<Sources, 'lastVerify'> {
  counting: Counting
  hookSocket: () => string | undefined
  stopping: () => boolean
  version: string
  log: (line: string) => void
}

export class Telemetry {
  readonly #options: TelemetryOptions
  readonly #readiness: Readiness
  readonly #target: Target
  #lastVerify: Sources['lastVerify']
  #push: { key: string; push: Push } | undefined

  constructor(options: TelemetryOptions) {
    const { home, opened, counting, hookSocket, stopping, version } = options
    this.#options = options
    this.#lastVerify = readLastVerify(home.verified)
    this.#readiness = new Readiness({
      durable: () => opened.writer.durable(),
      probe: `${home.run}/ready.probe`,
      hookSocket,
      stopping,
    })
    const { started } = counting.log
    this.#target = {
      attributes: {
        'service.name': 'spanseal-collector',
        'service.namespace': 'spanseal',
        'service.instance.id': opened.logId,
        'service.version': version,
      },
      starts: { log: started, destination: started, process: Date.now() - process.uptime() * 1000 },
    }
  }

  readonly door: TelemetryDoor = {
    metrics: async (open) => exposition(await this.#collect(), this.#target, open),
    ready: () => this.#readiness.check(),
  }

  /** What a verification of this home said, told by the command. False when it is no such thing. */
  verified(result: unknown): boolean {
    const read = LAST_VERIFY.safeParse(result)
    if (!read.success) return false
    this.#lastVerify = read.data
    replaceFile(this.#options.home.verified, `${JSON.stringify(read.data)}\n`)
    return true
  }

  /** Throws TypeError when metrics can't be pushed as the config says; the function it returns begins to. */
  preparePush(metrics: Config['metrics']): () => void {
    const key = JSON.stringify(metrics)
    if (this.#push?.key === key) return () => {}
    const push = metrics === undefined ? undefined : this.#pushTo(metrics)
    return () => {
      const old = this.#push
      this.#push = push === undefined ? undefined : { key, push }
      push?.start()
      void old?.push.stop()
    }
  }

  async stop(): Promise<void> {
    await this.#push?.push.stop()
  }

  #pushTo({ url, headers, interval_seconds }: NonNullable<Config['metrics']>): Push {
    const { counting, version, log } = this.#options
    const checked = metricsUrl(url)
    if (!checked.ok) throw new TypeError(`metrics.url: ${checked.message}`)
    const pushes = counting.metrics.counter('spanseal.metrics.pushes')
    return new Push({
      url: checked.url,
      headers,
      intervalMs: interval_seconds * 1000,
      request: async () => metricsRequest(await this.#collect(), this.#target, Date.now(), version),
      onPush: (outcome) => pushes.add(1, outcome),
      log,
    })
  }

  async #collect(): Promise<Family[]> {
    const { counting, ...sources } = this.#options
    const ready = await this.#readiness.check()
    const looked = lookedUp({ ...sources, lastVerify: this.#lastVerify }, ready, Date.now())
    return counting.metrics.collect(looked)
  }
}
