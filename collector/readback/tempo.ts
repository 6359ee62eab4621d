// Grafana Tempo's API: a TraceQL search for the log's id gives trace ids, each trace is then asked for on its own.
import { ask, type Backend, inHalves, type Window } from './ask.ts'
import { copiesIn, type Found, MAX_COPIES } from './copies.ts'

/** Traces in one answer of the search. */
const MOST_TRACES = 500
/** Milliseconds: the shortest stretch that is asked for. The search knows whole seconds. */
const SHORTEST_MS = 1_000

/** Every copy of the log in the window. Throws ReadBackError. */
export async function findInTempo(backend: Backend, logId: string, window: Window): Promise<Found> {
  const found: Found = { copies: [], notChecked: [] }
  const ids = await inHalves(
    window,
    SHORTEST_MS,
    async ({ from, to }) => {
      const answer = await ask(backend, '/api/search', {
        q: `{ span.spanseal.log.id = "${logId}" }`,
        start: String(Math.floor(from / 1_000)),
        end: String(Math.ceil(to / 1_000)),
        limit: String(MOST_TRACES),
      })
      const { traces = [] } = (answer ?? {}) as { traces?: { traceID?: unknown }[] }
      const items = traces.map(({ traceID }) => traceID).filter((id) => typeof id === 'string')
      return { items, isFull: items.length >= MOST_TRACES }
    },
    ({ from }) =>
      found.notChecked.push(`traces beyond ${MOST_TRACES} in the second of ${new Date(from).toISOString()}`),
  )
  for (const id of new Set(ids)) {
    // The search leaves out leading zeros.
    const { copies } = await traceInTempo(backend, id.padStart(32, '0'))
    const ours = copies.filter((copy) => copy.attribute('spanseal.log.id') === logId)
    found.copies.push(...ours.slice(0, MAX_COPIES - found.copies.length))
    if (found.copies.length >= MAX_COPIES) {
      found.notChecked.push(`copies beyond ${MAX_COPIES}`)
      break
    }
  }
  return found
}

/** One trace; empty when there is none. Throws ReadBackError. */
export async function traceInTempo(backend: Backend, traceId: string): Promise<Found> {
  return { copies: copiesIn(await ask(backend, `/api/traces/${traceId}`)), notChecked: [] }
}
