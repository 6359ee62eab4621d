// Reads a request body without trusting its length.
import { concat } from '../../conventions/signing.ts'

/** The whole body, or null as soon as it is longer than `limit` bytes; the rest is not read. */
export async function readLimited(request: Request, limit: number): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concat(...chunks)
    size += value.length
    if (size > limit) {
      await reader.cancel()
      return null
    }
    chunks.push(value)
  }
}
