// Where readers put what they find: one place that normalises paths and addresses, so that every tool's facts look the same.
import type { Cargo, EnvKind, Facts, FeedSource, OpaqueKind, PathFact } from '../call.ts'
import { addressOf, looksAlike } from './hosts.ts'
import type { Places } from './paths.ts'
import { isSink, placesOf } from './paths.ts'

/** No effects yet. */
export function emptyFacts(tool: string): Facts {
  return {
    tool,
    knownTool: true,
    runs: [],
    reads: [],
    writes: [],
    deletes: [],
    net: [],
    feeds: [],
    env: [],
    opaque: [],
    parse: 'none',
    bytes: 0,
  }
}

export interface Sink {
  facts: Facts
  read(path: string, by: string, recursive?: boolean): void
  write(path: string, by: string, recursive?: boolean): void
  delete(path: string, by: string, recursive?: boolean): void
  net(address: string, by: string, options?: NetOptions): void
  feed(from: FeedSource, into: 'shell' | 'interpreter', by: string): void
  env(name: string, kind: EnvKind): void
  opaque(kind: OpaqueKind, by: string): void
}

export interface NetOptions {
  dir?: 'in' | 'out'
  carries?: Cargo
  /** The host's text is made by a command on the same line. */
  computed?: boolean
}

/** A sink that sees paths from `places`, which may change while it is used. */
export function sinkInto(facts: Facts, places: () => Places): Sink {
  const path = (list: PathFact[], text: string, by: string, recursive: boolean) => {
    for (const place of placesOf(text, places())) {
      if (!isSink(place.path)) list.push({ ...place, recursive, by })
    }
  }
  return {
    facts,
    read: (text, by, recursive = false) => path(facts.reads, text, by, recursive),
    write: (text, by, recursive = false) => path(facts.writes, text, by, recursive),
    delete: (text, by, recursive = false) => path(facts.deletes, text, by, recursive),
    net: (text, by, { dir = 'in', carries = 'nothing', computed = false } = {}) => {
      const address = addressOf(text, computed)
      const kind = looksAlike(text) ? 'computed' : address.kind
      facts.net.push({ ...address, kind, dir, carries, by })
    },
    feed: (from, into, by) => facts.feeds.push({ from, into, by }),
    env: (name, kind) => facts.env.push({ name, kind }),
    opaque: (kind, by) => facts.opaque.push({ kind, by }),
  }
}
