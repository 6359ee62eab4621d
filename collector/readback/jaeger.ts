// Jaeger's query API v3 (/api/v3, OTLP/JSON as it was stored). It searches by service and time only: our spans are those that name the log.
import { ask, type Backend, inHalves, notAll, type Window } from './ask.ts'
import { copiesIn, type Found, MAX_COPIES, ReadBackError } from './copies.ts'

/** Traces in one answer. */
const MOST_TRACES = 200
/** Milliseconds: the shortest stretch that is asked for. */
const SHORTEST_MS = 1_000
/** Services that are asked about. */
const MAX_SERVICES = 200
/** What our spans are called; other services are not searched. */
const OUR_NAMES = /^(spanseal\.|execute_tool |invoke_agent |chat )/

/** Every copy of the log in the window. Throws ReadBackError. */
export async function findInJaeger(backend: Backend, logId: string, window: Window): Promise<Found> {
  const { services = [] } = ((await ask(backend, '/api/v3/services')) ?? {}) as { services?: string[] }
  const found: Found = { copies: [], notChecked: [] }
  if (services.length > MAX_SERVICES)
    found.notChecked.push(`${services.length - MAX_SERVICES} of ${services.length} services`)
  for (const service of services.slice(0, MAX_SERVICES)) {
    if (!(await mayBeOurs(backend, service))) continue
    let unchecked = 0
    let first: string | undefined
    const copies = await inHalves(
      window,
      { shortest: SHORTEST_MS, most: MAX_COPIES },
      async ({ from, to }) => {
        const body = await ask(backend, '/api/v3/traces', {
          'query.service_name': service,
          'query.start_time_min': new Date(from).toISOString(),
          'query.start_time_max': new Date(to).toISOString(),
          'query.num_traces': String(MOST_TRACES),
          'query.raw_traces': 'true',
        })
        const all = copiesIn(resultOf(body))
        const items = all.filter((copy) => copy.attribute('spanseal.log.id') === logId)
        return { items, isFull: new Set(all.map(({ traceId }) => traceId)).size >= MOST_TRACES }
      },
      ({ from, to }) => {
        unchecked += 1
        first ??= `${iso(from)} to ${iso(to)}`
      },
    )
    if (first !== undefined) found.notChecked.push(notAll(`traces of ${service}`, MOST_TRACES, first, unchecked))
    found.copies.push(...copies.slice(0, MAX_COPIES - found.copies.length))
    if (found.copies.length >= MAX_COPIES) found.notChecked.push(`copies beyond ${MAX_COPIES}`)
  }
  return found
}

/** One trace; empty when there is none. Throws ReadBackError. */
export async function traceInJaeger(backend: Backend, traceId: string): Promise<Found> {
  const body = await ask(backend, `/api/v3/traces/${traceId}`, { raw_traces: 'true' })
  return { copies: copiesIn(resultOf(body)), notChecked: [] }
}

async function mayBeOurs(backend: Backend, service: string): Promise<boolean> {
  const body = (await ask(backend, '/api/v3/operations', { service })) as { operations?: { name?: unknown }[] } | null
  return (body?.operations ?? []).some(({ name }) => typeof name === 'string' && OUR_NAMES.test(name))
}

/** What is inside an answer of the API; it says `result` around the request, or `error`. */
function resultOf(body: unknown): unknown {
  if (body === null) return null
  if (typeof body !== 'object') throw new ReadBackError('the backend does not answer as Jaeger does')
  if ('error' in body) throw new ReadBackError('Jaeger answers with an error')
  return 'result' in body ? body.result : null
}

const iso = (ms: number) => new Date(ms).toISOString()
