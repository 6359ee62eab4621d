// One question to a backend's query API.
import { ReadBackError } from './copies.ts'

/** Milliseconds for one answer: searching a day of a busy backend takes a while. */
const ANSWER_MS = 60_000

export interface Backend {
  /** Base address of the query API. */
  url: string
  /** Sent with each question; values are secrets. */
  headers: Readonly<Record<string, string>>
}

/** JSON of an answer; null for 404, which backends give when there is nothing. Throws ReadBackError, without the backend's text. */
export async function ask(
  { url, headers }: Backend,
  path: string,
  query: Record<string, string> = {},
): Promise<unknown> {
  const target = new URL(url)
  target.pathname = target.pathname.replace(/\/+$/, '') + path
  target.search = new URLSearchParams(query).toString()
  let answer: Response
  try {
    answer = await fetch(target, {
      headers: { ...headers, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
  } catch (error) {
    throw new ReadBackError(`${target.origin} does not answer: ${reasonOf(error)}`)
  }
  if (answer.status === 404) return null
  if (!answer.ok) throw new ReadBackError(`${target.origin} answers ${answer.status}`)
  try {
    return await answer.json()
  } catch {
    throw new ReadBackError(`${target.origin} answers with something that is not JSON`)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}

/** A stretch of time, milliseconds since 1970. */
export interface Window {
  from: number
  to: number
}

/**
 * Asks for a window, and for its halves where an answer is full, down to `shortest` milliseconds. `once` gives what it found and
 * whether the answer was full; a full answer of the shortest window is kept and told by `full`.
 */
export async function inHalves<T>(
  window: Window,
  shortest: number,
  once: (window: Window) => Promise<{ items: T[]; isFull: boolean }>,
  full: (window: Window) => void,
): Promise<T[]> {
  const { items, isFull } = await once(window)
  if (!isFull) return items
  if (window.to - window.from <= shortest) {
    full(window)
    return items
  }
  const middle = window.from + Math.ceil((window.to - window.from) / 2)
  return [
    ...(await inHalves({ from: window.from, to: middle }, shortest, once, full)),
    ...(await inHalves({ from: middle, to: window.to }, shortest, once, full)),
  ]
}
