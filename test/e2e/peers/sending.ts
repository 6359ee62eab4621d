// A collector that forwards to a peer and, for comparison, to a stand-in that only keeps what it is sent.
import type { Span } from '../../../conventions/otlp.ts'
import { Backend } from '../../support/backend.ts'
import { Collector } from '../../support/collector.ts'
import { until } from './program.ts'

interface ForwardStatus {
  name: string
  state: string
  reason?: string
  next_seq: number
  sent: number
  rejected: number
  quarantined: number
  retries: number
}

export class Sending {
  readonly collector: Collector
  private readonly standIn: Backend

  private constructor(collector: Collector, standIn: Backend) {
    this.collector = collector
    this.standIn = standIn
  }

  /** Started; `peer` is the address that spans are forwarded to, `more` are destinations beside it, as in config.yaml. */
  static async to(peer: string, more: object[] = []): Promise<Sending> {
    const standIn = await new Backend().start()
    const forward = [{ name: 'peer', url: peer }, { name: 'stand-in', url: standIn.url }, ...more]
    const collector = new Collector({ config: JSON.stringify({ version: 1, otlp: { port: 0 }, forward }) })
    await collector.start()
    return new Sending(collector, standIn)
  }

  /** How far a destination has been served. */
  async forwarded(name: string): Promise<ForwardStatus> {
    const { forward } = (await this.collector.status()) as unknown as { forward: ForwardStatus[] }
    const found = forward.find((destination) => destination.name === name)
    if (found === undefined) throw new Error(`no destination ${name}`)
    return found
  }

  /** Waits until the destination has been sent all there is. */
  async served(name: string): Promise<void> {
    await until(`everything sent to the ${name}`, async () => {
      const { records } = (await this.collector.status()) as unknown as { records: number }
      return (await this.forwarded(name)).next_seq >= records
    })
  }

  /** Waits until the stand-in has everything, and gives it: what the peer has to have. */
  async expected(): Promise<Span[]> {
    await this.served('stand-in')
    return this.standIn.spans()
  }

  async remove(): Promise<void> {
    await this.collector.remove()
    await this.standIn.stop()
  }
}
