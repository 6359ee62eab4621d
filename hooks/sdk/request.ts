// One request of the SDK to the gate, within a deadline. Whatever goes wrong is a value.
import { request } from 'node:http'

/** The hook socket of this user's collector, or its TCP address with the token of an application from `apps:`. */
type Target = { socket: string } | { url: string; token: string }

/** One whole reply that is a JSON object, or why there is none. */
export type Exchange = { ok: true; status: number; body: Record<string, unknown> } | { ok: false; reason: string }

/** Bytes of a reply. Receipts take a few thousand. */
const MAX_REPLY_BYTES = 1_048_576

/** Sends `body` (POST) or asks (GET), and waits `seconds` for the whole reply. Never rejects, never throws. */
export function exchange(target: Target, path: string, body: string | undefined, seconds: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ ok: false, reason })
    try {
      const to =
        'socket' in target
          ? { socketPath: target.socket, headers: {} }
          : { ...addressOf(target.url), headers: { authorization: `Bearer ${target.token}` } }
      const headers = { ...to.headers, 'content-type': 'application/json' }
      // No agent: a connection that was kept open may be one that the collector has closed.
      const req = request(
        { ...to, path, method: body === undefined ? 'GET' : 'POST', headers, agent: false },
        (res) => {
          const chunks: Buffer[] = []
          let bytes = 0
          res.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            chunks.push(chunk)
            if (bytes > MAX_REPLY_BYTES) end('the answer was not one of the collector')
          })
          res.on('error', () => end('the connection to the collector broke'))
          res.on('end', () => {
            clearTimeout(timer)
            resolve(read(res.statusCode ?? 0, Buffer.concat(chunks)))
          })
        },
      )
      const end = (reason: string) => {
        clearTimeout(timer)
        fail(reason)
        req.destroy()
      }
      const timer = setTimeout(() => end('the collector did not answer in time'), seconds * 1000)
      req.on('error', (error: NodeJS.ErrnoException) => end(`the collector was not reached (${error.code ?? 'error'})`))
      req.end(body)
    } catch (error) {
      fail(`the collector could not be asked: ${error instanceof Error ? error.message : 'unknown'}`)
    }
  })
}

/** The collector speaks plain HTTP. Throws at anything else. */
function addressOf(url: string): { host: string; port: string } {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:') throw new Error(`url must begin with http://, not ${protocol}//`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port || '80' }
}

function read(status: number, bytes: Buffer): Exchange {
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return { ok: true, status, body: body as Record<string, unknown> }
  } catch {
    // Said below: it is no answer, whatever it is.
  }
  return { ok: false, reason: 'the answer was not one of the collector' }
}
