// One self-audit for each destination whose query API is in the config. Runs in the forwarding process.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import { SelfAudit } from './audit/self-audit.ts'
import { readHeaders } from './forward/headers.ts'
import type { ForwardConfig } from './forward-messages.ts'
import { ReadBackError } from './readback/copies.ts'
import { traceInJaeger } from './readback/jaeger.ts'
import { traceInTempo } from './readback/tempo.ts'

export interface AuditsOptions {
  home: HomePaths
  /** First record of which that destination may not have everything. */
  delivered: (destination: string) => number
  source: LogSource
  logId: string
  onMissing: (destination: string, count: number) => Promise<void>
  log: (line: string) => void
}

export class Audits {
  readonly #options: AuditsOptions
  #audits: { key: string; audit: SelfAudit }[] = []

  constructor(options: AuditsOptions) {
    this.#options = options
  }

  /** Puts a config in force. */
  follow(config: ForwardConfig): void {
    this.#audits = config.forward.flatMap(({ name, query, headers }) => {
      if (query === undefined) return []
      const key = JSON.stringify([name, query, headers])
      return [this.#audits.find((running) => running.key === key) ?? { key, audit: this.#make(name, query, headers) }]
    })
  }

  /** Call every LOOK_MS. Never rejects. */
  async look(): Promise<void> {
    await Promise.all(this.#audits.map(({ audit }) => audit.look()))
  }

  status() {
    return this.#audits.map(({ audit }) => ({ ...audit.status() }))
  }

  #make(name: string, query: Query, headers: Destination['headers']): SelfAudit {
    const { home, source, logId, delivered, onMissing, log } = this.#options
    const read = query.kind === 'jaeger' ? traceInJaeger : traceInTempo
    return new SelfAudit({
      name,
      source,
      logId,
      delivered: () => delivered(name),
      trace: async (traceId) => {
        const values = await readHeaders(headers)
        if (!values.ok) throw new ReadBackError(values.message)
        return read({ url: query.url, headers: values.headers }, traceId)
      },
      stateFile: `${home.forward}/${name}.audit.json`,
      now: Date.now,
      onMissing: (count) => onMissing(name, count),
      log: (line) => log(`audit ${name}: ${line}`),
    })
  }
}

type Destination = ForwardConfig['forward'][number]
type Query = NonNullable<Destination['query']>
