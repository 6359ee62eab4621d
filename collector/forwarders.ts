// One forwarder for each destination of the config, one more where it takes the evidence as logs, and what happens to them when the config changes.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import type { Config } from './config.ts'
import { isOwnListener, signalUrl } from './forward/endpoint.ts'
import { Forwarder } from './forward/forwarder.ts'
import { logs } from './forward/logs.ts'
import { traces } from './forward/traces.ts'
import { PassThrough } from './pass-through.ts'
import { CheckpointReader } from './store/checkpoint-reader.ts'
import { VaultCursor } from './store/vault-cursor.ts'
import { metricsUrl } from './telemetry/push.ts'

/** Milliseconds a forwarder gets to send what is left when it is stopped; the rest goes out after the next start. */
const DRAIN_MS = 2_000

export interface ForwardersOptions {
  home: HomePaths
  source: LogSource
  checkpoint: () => string | undefined
  version: string
  log: (line: string) => void
}

/** A stream that is open, whatever it sends. */
export type OpenForwarder = Pick<Forwarder, 'start' | 'stop' | 'notify' | 'status'>

interface Stream {
  /** Equal when nothing about the stream has changed. */
  key: string
  name: string
  forwarder: OpenForwarder
  passThrough?: PassThrough | undefined
}

export class Forwarders {
  readonly #options: ForwardersOptions
  #destinations: Stream[] = []
  /** Stops of those that were replaced: the next of that name must not read its cursor before. */
  readonly #stopping = new Map<string, Promise<void>>()

  constructor(options: ForwardersOptions) {
    this.#options = options
  }

  get list(): readonly OpenForwarder[] {
    return this.#destinations.map(({ forwarder }) => forwarder)
  }

  notify(): void {
    for (const { forwarder } of this.#destinations) forwarder.notify()
  }

  /** Makes what `config` asks for; the function it returns puts that in force. Throws TypeError when a destination can't be used. */
  prepare(config: Config): () => void {
    const wanted = config.forward.flatMap((destination) => {
      const { evidence } = destination
      const streams = evidence === 'logs' || evidence === 'both' ? (['traces', 'logs'] as const) : (['traces'] as const)
      return streams.map((signal): Stream => {
        const key = JSON.stringify([destination, config.resource_attributes, signal])
        return this.#destinations.find((running) => running.key === key) ?? this.#make(key, config, destination, signal)
      })
    })
    return () => {
      const before = this.#destinations
      this.#destinations = wanted
      for (const old of before.filter((each) => !wanted.includes(each))) {
        const stopped = stopStream(old).finally(() => this.#stopping.delete(old.name))
        this.#stopping.set(old.name, stopped)
      }
      for (const added of wanted.filter((each) => !before.includes(each))) {
        void (this.#stopping.get(added.name) ?? Promise.resolve()).then(() => {
          if (this.#destinations.includes(added)) added.forwarder.start()
        })
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stopping.values())
    await Promise.all(this.#destinations.map(stopStream))
  }

  #make(
    key: string,
    config: Config,
    { name, ...destination }: Config['forward'][number],
    signal: 'traces' | 'logs',
  ): Stream {
    const { home, ...shared } = this.#options
    // A stream of its own: a destination that takes no logs still gets its spans.
    const stream = signal === 'logs' ? `${name}.logs` : name
    const settings = {
      ...shared,
      name: stream,
      destination,
      stateFile: `${home.forward}/${stream}.json`,
      resourceAttributes: config.resource_attributes,
      log: (line: string) => shared.log(`forward ${stream}: ${line}`),
    }
    if (signal === 'logs') return { key, name: stream, forwarder: new Forwarder({ ...settings, signal: this.#logs() }) }
    const evidence = destination.evidence === 'attribute' || destination.evidence === 'both'
    const content = destination.content ? () => new VaultCursor(home.vault) : undefined
    const worker = new URL('./pass-worker.mjs', import.meta.url)
    const passThrough = destination.pass_through
      ? new PassThrough({ worker, vault: home.vault, content: destination.content })
      : undefined
    const forwarder = new Forwarder({ ...settings, signal: traces({ evidence, content, passThrough }) })
    return { key, name: stream, forwarder, passThrough }
  }

  #logs() {
    const { home } = this.#options
    return logs({
      checkpoints: () => {
        const reader = new CheckpointReader(home.checkpoints)
        return () => reader.next()
      },
    })
  }
}

/** A read of spans of others may take longer than the stream has to end. */
async function stopStream({ forwarder, passThrough }: Stream): Promise<void> {
  const timer = setTimeout(() => passThrough?.close(), DRAIN_MS)
  await forwarder.stop({ drainMs: DRAIN_MS })
  clearTimeout(timer)
  passThrough?.close()
}

/** What is wrong with the addresses of a config, each with its field. `otlp`: our own OTLP port's address, null when it is closed. */
export function addressProblems(config: Config, otlp: string | null): string[] {
  const problems: string[] = []
  const names = new Set<string>()
  for (const { name, url } of config.forward) {
    const checked = signalUrl(url)
    if (!checked.ok) problems.push(`forward.${name}.url: ${checked.message}`)
    else if (isOurs(url, otlp)) problems.push(`forward.${name}.url: ${OURS}`)
    if (names.has(name)) problems.push(`forward.${name}.name: is there twice`)
    names.add(name)
  }
  const { metrics } = config
  if (metrics !== undefined) {
    const checked = metricsUrl(metrics.url)
    if (!checked.ok) problems.push(`metrics.url: ${checked.message}`)
    else if (isOurs(metrics.url, otlp)) problems.push(`metrics.url: ${OURS}`)
  }
  return problems
}

/** What is sent to ourselves would go round for ever. */
const OURS = "is this collector's own OTLP port. Give the backend's address, such as http://127.0.0.1:14318"

function isOurs(url: string, otlp: string | null): boolean {
  if (otlp === null) return false
  const { hostname, port } = new URL(otlp)
  return isOwnListener(url, [{ host: hostname, port: Number(port) }])
}
