// What the two streams to a destination have in common: how records become items, and items a request.
import type { LogEntry } from '../../conventions/log.ts'
import type { ResourceAttributes } from './request.ts'

/** An item as it travels. */
export interface Encoded {
  /** OTLP/JSON. */
  json: string
  /** UTF-8 bytes of `json`. */
  size: number
}

/** Items that belong to an entry and are read only when there is room for them. */
export interface More<Item> extends LeftOut {
  items: Item[]
}

/** Spans of others that were not passed on, and why. */
export interface LeftOut {
  /** Of sessions that hooks speak for, or sent by a collector like this one before. */
  withheld: number
  /** Of bodies that are not there any more, are not what was recorded, or can't be read. */
  unreadable: number
}

/** A fold over the log, in order: the same log always gives the same items. */
export interface Fold<Item> {
  /** Items of the next entry. `newestCheckpoint`: give the same one whenever the entry is folded for sending again. */
  apply(entry: LogEntry, newestCheckpoint?: string): Item[]
  /** The next items of the entry last applied, after those that `apply` gave; null when there are no more. Can be repeated when it rejects. */
  more?(): Promise<More<Item> | null>
  /** `apply` for an entry whose items were sent before. */
  skip(entry: LogEntry): void
  /** At the end of the log: items that belong to no entry. */
  end?(): Item[]
}

export interface Request {
  /** The OTLP/JSON body. */
  json: string
  /** The same as protobuf. */
  protobuf: () => Uint8Array
}

export interface RequestSettings {
  resourceAttributes: ResourceAttributes
  /** Version of Spanseal, for the instrumentation scope. */
  version: string
}

export interface Signal<Item extends Encoded> {
  /** End of the URL. */
  path: '/v1/traces' | '/v1/logs'
  /** What items are called in messages. */
  noun: string
  fold(): Fold<Item>
  request(items: readonly Item[], settings: RequestSettings): Request
  /** Names one item in a message, without content. */
  describe(item: Item): string
}
