// Where readers put what they find: one place that normalises paths and addresses, so that every tool's facts look the same.
import type { Cargo, EnvKind, Facts, FeedSource, OpaqueKind } from '../call.ts'
import { addressOf, looksAlike } from './hosts.ts'
import type { Place, Places } from './paths.ts'
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
  /** The places a written path may mean. */
  places(path: string): Place[]
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

/** Different paths of one call. More are asked about: each is compared with every pattern of the policy. */
const MAX_PATHS = 1_000

/** A sink that sees paths from `places`, which may change while it is used. */
export function sinkInto(facts: Facts, places: () => Places): Sink {
  const seen = new Set<string>()
  const path = (effect: 'reads' | 'writes' | 'deletes', text: string, by: string, recursive: boolean) => {
    for (const place of placesOf(text, places())) {
      const key = `${effect}\n${place.path}\n${recursive}\n${by}`
      if (isSink(place.path) || seen.has(key)) continue
      if (seen.size === MAX_PATHS) facts.opaque.push({ kind: 'too_many_steps', by })
      seen.add(key)
      if (seen.size <= MAX_PATHS) facts[effect].push({ ...place, recursive, by })
    }
  }
  return {
    facts,
    places: (text) => placesOf(text, places()),
    read: (text, by, recursive = false) => path('reads', text, by, recursive),
    write: (text, by, recursive = false) => path('writes', text, by, recursive),
    delete: (text, by, recursive = false) => path('deletes', text, by, recursive),
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
