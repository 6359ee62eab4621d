// One question to a backend's query API.
import { AnswerTooLarge, ReadBackError } from './copies.ts'

/** Milliseconds for one answer: searching a day of a busy backend takes a while. */
const ANSWER_MS = 60_000

/** Bytes of one answer: 200 traces of ours, each as large as they get, take a tenth. A backend may be wrong, or not on our side. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Answers to one question, asked for ever shorter windows: a day of a busy backend takes some hundreds. */
const MAX_ANSWERS = 2_000

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
  const text = await textOf(answer, target.origin)
  try {
    return JSON.parse(text)
  } catch {
    throw new ReadBackError(`${target.origin} answers with something that is not JSON`)
  }
}

/** All of an answer, up to what is read of one. What is left of a larger one is not asked for. */
async function textOf(answer: Response, origin: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length
      // Leaving the loop ends the connection.
      if (bytes > MAX_ANSWER_BYTES)
        throw new AnswerTooLarge(`${origin} answers with more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ReadBackError) throw error
    throw new ReadBackError(`${origin} stops in the middle of an answer: ${reasonOf(error)}`)
  }
  return Buffer.concat(chunks).toString()
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
 * Asks for a window, and for its halves where an answer is full or too large, down to `shortest` milliseconds. `once` gives what it found
 * and whether the answer was full; a full answer of the shortest window is kept and told by `full`, and so is each window that was not
 * asked for any more, because there were `most` items or MAX_ANSWERS answers.
 */
export async function inHalves<T>(
  window: Window,
  { shortest, most }: { shortest: number; most: number },
  once: (window: Window) => Promise<{ items: T[]; isFull: boolean }>,
  full: (window: Window) => void,
): Promise<T[]> {
  const found: T[] = []
  const waiting = [window]
  for (let answers = 0; ; answers++) {
    const next = waiting.pop()
    if (next === undefined) return found
    if (answers >= MAX_ANSWERS || found.length >= most) {
      full(next)
      continue
    }
    const answer = await onceOrTooLarge(next, once)
    if (answer?.isFull === false) {
      found.push(...answer.items)
    } else if (next.to - next.from <= shortest) {
      full(next)
      found.push(...(answer?.items ?? []))
    } else {
      const middle = next.from + Math.ceil((next.to - next.from) / 2)
      waiting.push({ from: middle, to: next.to }, { from: next.from, to: middle })
    }
  }
}

async function onceOrTooLarge<T>(
  window: Window,
  once: (window: Window) => Promise<{ items: T[]; isFull: boolean }>,
): Promise<{ items: T[]; isFull: boolean } | null> {
  try {
    return await once(window)
  } catch (error) {
    if (error instanceof AnswerTooLarge) return null
    throw error
  }
}

/** What a person reads where answers were full or too large. `first`: the first such window; `count`: how many there were. */
export function notAll(what: string, most: number, first: string, count: number): string {
  const more = count > 1 ? ` and ${count - 1} more windows` : ''
  return `${what} beyond ${most} or ${MAX_ANSWER_BYTES / 1024 / 1024} MiB of an answer in ${first}${more}`
}
