// Grafana Tempo's API: a TraceQL search for the log's id gives trace ids, each trace is then asked for on its own.
import { ask, type Backend, inHalves, notAll, type Window } from './ask.ts'
import { AnswerTooLarge, copiesIn, type Found, MAX_COPIES } from './copies.ts'

/** Traces in one answer of the search. */
const MOST_TRACES = 500
/** Milliseconds: the shortest stretch that is asked for. The search knows whole seconds. */
const SHORTEST_MS = 1_000
/** Reasons that are told one by one. */
const MAX_NAMED = 20

/** Every copy of the log in the window. Throws ReadBackError. */
export async function findInTempo(backend: Backend, logId: string, window: Window): Promise<Found> {
  const found: Found = { copies: [], notChecked: [] }
  let unchecked = 0
  let first: string | undefined
  const ids = await inHalves(
    window,
    { shortest: SHORTEST_MS, most: MAX_COPIES },
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
    ({ from, to }) => {
      unchecked += 1
      first ??= `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`
    },
  )
  if (first !== undefined) found.notChecked.push(notAll('traces', MOST_TRACES, first, unchecked))
  for (const id of new Set(ids)) {
    // The search leaves out leading zeros.
    const { copies, notChecked } = await traceInTempo(backend, id.padStart(32, '0'))
    found.notChecked.push(...notChecked.slice(0, MAX_NAMED - found.notChecked.length))
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
  try {
    return { copies: copiesIn(await ask(backend, `/api/traces/${traceId}`)), notChecked: [] }
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error
    return { copies: [], notChecked: [`trace ${traceId.slice(0, 32)}: ${error.message}`] }
  }
}
