// Splits a bundle into lines, within its size limits.
import { concat } from '../../conventions/signing.ts'

const LF = 0x0a

export interface LineLimits {
  line: number
  total: number
}

/** A line without its line feed, or why reading stopped. `open`: the last line has no line feed. */
export type LineItem =
  | { kind: 'line'; bytes: Uint8Array }
  | { kind: 'open' }
  | { kind: 'limit'; note: string }
  | { kind: 'unreadable'; note: string }

/** Lines of a bundle, one after the other. Never throws on what it reads. */
export async function* bundleLines(chunks: AsyncIterable<Uint8Array>, limits: LineLimits): AsyncGenerator<LineItem> {
  let rest: Uint8Array = new Uint8Array(0)
  let total = 0
  try {
    for await (const chunk of chunks) {
      total += chunk.length
      if (total > limits.total) {
        yield { kind: 'limit', note: `more than ${limits.total} bytes` }
        return
      }
      let from = 0
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
        const bytes = concat(rest, chunk.subarray(from, end))
        if (bytes.length > limits.line) break
        yield { kind: 'line', bytes }
        rest = new Uint8Array(0)
        from = end + 1
      }
      rest = concat(rest, chunk.subarray(from))
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
