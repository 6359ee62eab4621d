// Opens the doors: Unix sockets that only this user can use, and a loopback TCP port.
import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'

export type Fetch = (request: Request) => Response | Promise<Response>

/** Milliseconds. A held call waits up to nine minutes in one request; nothing may cut it before. */
const REQUEST_TIMEOUT_MS = 10 * 60 * 1000

/** Milliseconds that requests under way get when a door closes. */
const GRACE_MS = 2_000

export interface Listening {
  server: Server
  close(): Promise<void>
}

/** Someone else listens there. */
export class AddressTaken extends Error {
  override name = 'AddressTaken'
}

/** Listens on a Unix socket of mode 0600. A socket file that nobody answers is replaced. */
export async function listenOnSocket(path: string, fetch: Fetch): Promise<Listening> {
  if (existsSync(path)) {
    if (await answers(path)) throw new AddressTaken(`another collector already listens on ${path}`)
    unlinkSync(path)
  }
  const listening = await listen(fetch, { path })
  chmodSync(path, 0o600)
  return listening
}

/** Listens on a loopback TCP port; 0 takes a free one. */
export async function listenOnPort(port: number, fetch: Fetch): Promise<Listening & { port: number }> {
  const listening = await listen(fetch, { host: '127.0.0.1', port })
  const address = listening.server.address()
  return { ...listening, port: typeof address === 'object' && address !== null ? address.port : port }
}

function listen(fetch: Fetch, where: { path: string } | { host: string; port: number }): Promise<Listening> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, getRequestListener(fetch))
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE' ? new AddressTaken(`${JSON.stringify(where)} is taken by another program`) : error,
      )
    })
    server.listen(where, () => {
      resolve({ server, close: () => close(server) })
    })
  })
}

/** Lets requests finish for a while; idle connections end at once, and whoever is still sending then does too. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Whether anybody listens on a Unix socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
