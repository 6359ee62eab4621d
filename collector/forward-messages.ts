// What the collector and its forwarding process tell each other, and the streams that both know a configuration to mean.
import type { Position } from '../conventions/log.ts'
import type { AuditStatus } from './audit/self-audit.ts'
import type { Config } from './config.ts'
import type { ForwardStatus } from './forward/forwarder.ts'

/** The part of a configuration that forwarding follows. It may hold secrets: it goes through the channel only. */
export type ForwardConfig = Pick<Config, 'forward' | 'resource_attributes'>

/** All before `position` is durable; `checkpoint`: the newest one, a C2SP signed note. */
export interface Durable {
  position: Position
  checkpoint?: string | undefined
}

/** To the process. */
export type ToForwarding =
  /** In force from now on. */
  | { kind: 'config'; version: number; config: ForwardConfig }
  | ({ kind: 'durable' } & Durable)
  /** Answers `missing`: whether the gap is in the log. */
  | { kind: 'recorded'; id: number; ok: boolean }
  /** Send what is left of all that is durable now, for a while, and end. */
  | ({ kind: 'stop' } & Durable)

/** From the process. */
export type FromForwarding =
  /** Of the streams and audits of the config of that version. */
  | { kind: 'status'; version: number; streams: ForwardStatus[]; audits: AuditStatus[] }
  /** A destination took spans that it does not have: to be recorded. */
  | { kind: 'missing'; id: number; destination: string; count: number }
  /** For people; never content. */
  | { kind: 'log'; line: string }

export interface StreamName {
  /** Equal when nothing about the stream has changed. */
  key: string
  name: string
  signal: 'traces' | 'logs'
  destination: Config['forward'][number]
}

/** A stream for each destination, one more where it takes the evidence as logs: a destination that takes no logs still gets its spans. */
export function streamsOf({ forward, resource_attributes }: ForwardConfig): StreamName[] {
  return forward.flatMap((destination) => {
    const { evidence, name } = destination
    const signals = evidence === 'logs' || evidence === 'both' ? (['traces', 'logs'] as const) : (['traces'] as const)
    return signals.map((signal) => ({
      key: JSON.stringify([destination, resource_attributes, signal]),
      name: signal === 'logs' ? `${name}.logs` : name,
      signal,
      destination,
    }))
  })
}
