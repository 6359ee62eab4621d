// One self-audit for each destination whose query API is in the config.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import { SelfAudit } from './audit/self-audit.ts'
import type { Config } from './config.ts'
import { readHeaders } from './forward/headers.ts'
import type { OpenForwarder } from './forwarders.ts'
import { ReadBackError } from './readback/copies.ts'
import { traceInJaeger } from './readback/jaeger.ts'
import { traceInTempo } from './readback/tempo.ts'

export interface AuditsOptions {
  home: HomePaths
  forwarders: () => readonly OpenForwarder[]
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

  /** Makes what `config` asks for; the function it returns puts that in force. */
  prepare(config: Config): () => void {
    const wanted = config.forward.flatMap(({ name, query, headers }) => {
      if (query === undefined) return []
      const key = JSON.stringify([name, query, headers])
      return [this.#audits.find((running) => running.key === key) ?? { key, audit: this.#make(name, query, headers) }]
    })
    return () => {
      this.#audits = wanted
    }
  }

  /** Call every LOOK_MS. */
  look(): void {
    for (const { audit } of this.#audits) void audit.look()
  }

  status() {
    return this.#audits.map(({ audit }) => ({ ...audit.status() }))
  }

  #make(name: string, query: Query, headers: Config['forward'][number]['headers']): SelfAudit {
    const { home, forwarders, source, logId, onMissing, log } = this.#options
    const read = query.kind === 'jaeger' ? traceInJaeger : traceInTempo
    return new SelfAudit({
      name,
      source,
      logId,
      delivered: () => {
        const status = forwarders()
          .find((each) => each.status().name === name)
          ?.status()
        return status?.next_seq ?? 0
      },
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

type Query = NonNullable<Config['forward'][number]['query']>
