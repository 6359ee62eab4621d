// What the metrics are of, and since when they count.
import type { Definition } from './metrics.ts'

/** Milliseconds since 1970 at which counters of each kind began. */
export type Starts = Readonly<Record<Definition['since'], number>>

export interface Target {
  /** Resource attributes: service.name, service.instance.id and the like. */
  attributes: Readonly<Record<string, string>>
  starts: Starts
}
