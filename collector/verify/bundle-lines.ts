// Splits a bundle into lines, within its size limits, from text or from a file that may be gzipped.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

const LF = 0x0a
const GZIP = [0x1f, 0x8b]

/** A bundle: its text, or the path of its file. */
export type BundleInput = { text: string } | { path: string }

export interface LineLimits {
  line: number
  total: number
}

/** A line without its line feed, or why reading stopped. `open`: the last line has no line feed. */
export type LineItem =
  | { kind: 'line'; bytes: Buffer }
  | { kind: 'open' }
  | { kind: 'limit'; note: string }
  | { kind: 'unreadable'; note: string }

/** Lines of a bundle, one after the other. Never throws on what it reads. */
export async function* bundleLines(input: BundleInput, limits: LineLimits): AsyncGenerator<LineItem> {
  let rest: Buffer = Buffer.alloc(0)
  let total = 0
  try {
    for await (const chunk of chunks(input)) {
      total += chunk.length
      if (total > limits.total) {
        yield { kind: 'limit', note: `more than ${limits.total} bytes` }
        return
      }
      let from = 0
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
        const bytes = Buffer.concat([rest, chunk.subarray(from, end)])
        if (bytes.length > limits.line) break
        yield { kind: 'line', bytes }
        rest = Buffer.alloc(0)
        from = end + 1
      }
      rest = Buffer.concat([rest, chunk.subarray(from)])
      const end = rest.indexOf(LF)
      if ((end < 0 ? rest.length : end) > limits.line) {
        yield { kind: 'limit', note: `a line of more than ${limits.line} bytes` }
        return
      }
    }
  } catch (error) {
    yield { kind: 'unreadable', note: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' }
    return
  }
  if (rest.length > 0) yield { kind: 'open' }
}

async function* chunks(input: BundleInput): AsyncGenerator<Buffer> {
  if ('text' in input) {
    yield Buffer.from(input.text)
    return
  }
  const file = createReadStream(input.path)
  const iterator = file[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return
  const head: Buffer = first.value
  const all = async function* () {
    yield head
    for (;;) {
      const next = await iterator.next()
      if (next.done) return
      yield next.value as Buffer
    }
  }
  if (GZIP.some((byte, i) => head[i] !== byte)) {
    yield* all()
    return
  }
  const gunzip = createGunzip()
  // A failure ends the stream that is read below, which tells it.
  pipeline(all(), gunzip).catch(() => {})
  yield* gunzip as AsyncIterable<Buffer>
}
