// Reads a request body without trusting its length.
import type { IncomingMessage } from 'node:http'
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

/** The same of Node's own request; what is not read is let go by as it comes, so that the sender hears the answer. Rejects when it breaks off. */
export function collectLimited(incoming: IncomingMessage, limit: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else {
        chunks.length = 0
        resolve(null)
      }
    })
    incoming.on('end', () => resolve(size > limit ? null : Buffer.concat(chunks)))
    incoming.on('error', reject)
    incoming.on('close', () => reject(new Error('the request broke off')))
  })
}
