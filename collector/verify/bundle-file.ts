// Verifies a bundle from text, or from a file that may be gzipped.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type BundleOptions, verifyBundleBytes } from './bundle.ts'
import type { Report } from './report.ts'

const GZIP = [0x1f, 0x8b]

/** A bundle: its text, or the path of its file. */
export type BundleInput = { text: string } | { path: string }

/** Verifies a bundle, given as text or as the path of a file (gzipped or not). Never throws on what it reads. */
export function verifyBundle(input: BundleInput, options: BundleOptions = {}): Promise<Report> {
  return verifyBundleBytes(chunks(input), options)
}

async function* chunks(input: BundleInput): AsyncGenerator<Uint8Array> {
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
