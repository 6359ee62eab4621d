// One forwarder for each stream of the config, and what happens to them when the config changes. Runs in the forwarding process.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import { Forwarder } from './forward/forwarder.ts'
import { logs } from './forward/logs.ts'
import { traces } from './forward/traces.ts'
import { type ForwardConfig, type StreamName, streamsOf } from './forward-messages.ts'
import { PassThrough } from './pass-through.ts'
import { CheckpointReader } from './store/checkpoint-reader.ts'
import { VaultCursor } from './store/vault-cursor.ts'

/** Milliseconds a forwarder gets to send what is left when it is stopped; the rest goes out after the next start. */
export const DRAIN_MS = 2_000

export interface ForwardersOptions {
  home: HomePaths
  source: LogSource
  checkpoint: () => string | undefined
  version: string
  log: (line: string) => void
}

/** A stream that is open, whatever it sends. */
type OpenForwarder = Pick<Forwarder, 'start' | 'stop' | 'notify' | 'status'>

interface Stream {
  key: string
  name: string
  forwarder: OpenForwarder
  passThrough?: PassThrough | undefined
}

export class Forwarders {
  readonly #options: ForwardersOptions
  #streams: Stream[] = []
  /** Stops of those that were replaced: the next of that name must not read its cursor before. */
  readonly #stopping = new Map<string, Promise<void>>()

  constructor(options: ForwardersOptions) {
    this.#options = options
  }

  get list(): readonly OpenForwarder[] {
    return this.#streams.map(({ forwarder }) => forwarder)
  }

  notify(): void {
    for (const { forwarder } of this.#streams) forwarder.notify()
  }

  /** Puts a config in force: what has not changed goes on, the rest is stopped and made anew. Throws as `checkDestination` does. */
  follow(config: ForwardConfig): void {
    const before = this.#streams
    this.#streams = streamsOf(config).map(
      (stream) => before.find(({ key }) => key === stream.key) ?? this.#make(stream, config.resource_attributes),
    )
    const now = this.#streams
    for (const old of before.filter((each) => !now.includes(each))) this.#replace(old)
    for (const added of now.filter((each) => !before.includes(each))) {
      void (this.#stopping.get(added.name) ?? Promise.resolve()).then(() => {
        if (this.#streams.includes(added)) added.forwarder.start()
      })
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stopping.values())
    await Promise.all(this.#streams.map(stopStream))
  }

  #replace(old: Stream): void {
    const stopped = Promise.all([this.#stopping.get(old.name), stopStream(old)]).then(() => {
      if (this.#stopping.get(old.name) === stopped) this.#stopping.delete(old.name)
    })
    this.#stopping.set(old.name, stopped)
  }

  #make({ key, name, signal, destination }: StreamName, resourceAttributes: Record<string, string>): Stream {
    const { home, ...shared } = this.#options
    const settings = {
      ...shared,
      name,
      destination,
      stateFile: `${home.forward}/${name}.json`,
      resourceAttributes,
      log: (line: string) => shared.log(`forward ${name}: ${line}`),
    }
    if (signal === 'logs') return { key, name, forwarder: new Forwarder({ ...settings, signal: this.#logs() }) }
    const evidence = destination.evidence === 'attribute' || destination.evidence === 'both'
    const content = destination.content ? () => new VaultCursor(home.vault) : undefined
    const worker = new URL('./pass-worker.mjs', import.meta.url)
    const passThrough = destination.pass_through
      ? new PassThrough({ worker, vault: home.vault, content: destination.content })
      : undefined
    const forwarder = new Forwarder({ ...settings, signal: traces({ evidence, content, passThrough }) })
    return { key, name, forwarder, passThrough }
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
