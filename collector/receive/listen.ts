// Opens the doors: Unix sockets that only this user can use, and a TCP port.
import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { answers } from './probe.ts'

export type Fetch = (request: Request, env: { incoming: IncomingMessage }) => Response | Promise<Response>

/** Milliseconds. A held call waits up to nine minutes in one request; nothing may cut it before. */
const REQUEST_TIMEOUT_MS = 10 * 60 * 1000

/** Milliseconds for a request over TCP to arrive whole: the largest body at 1 MB a second. */
const TCP_REQUEST_MS = 60_000
/** Milliseconds between looks for requests that take longer. */
const TCP_CHECK_MS = 5_000
/** Connections over TCP: a fleet's worth, and a bound on what all of them can hold. */
const MAX_CONNECTIONS = 256

/** Milliseconds that requests under way get when a door closes. */
const GRACE_MS = 2_000

/** An open door. */
export interface Door {
  close(): Promise<void>
}

export interface Listening extends Door {
  server: Server
}

/** Someone else listens there. */
export class AddressTaken extends Error {
  override name = 'AddressTaken'
}

/** Listens on a Unix socket of mode 0600. A socket file that nobody answers is replaced. */
export async function listenOnSocket(path: string, listener: Listener): Promise<Listening> {
  if (existsSync(path)) {
    if (await answers(path)) throw new AddressTaken(`another collector already listens on ${path}`)
    unlinkSync(path)
  }
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, listener)
  const listening = await listen(server, { path })
  chmodSync(path, 0o600)
  return listening
}

/** PEM texts. With `clientCa` a client must show a certificate that one of these has signed. */
export interface Tls {
  cert: string
  key: string
  clientCa?: string
}

export interface PortOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  tls?: Tls
  /** Connections at once. Default MAX_CONNECTIONS. */
  connections?: number
}

/** Listens on a TCP port. */
export async function listenOnPort(options: PortOptions, fetch: Fetch): Promise<Listening & { port: number }> {
  const { host, port, tls, connections = MAX_CONNECTIONS } = options
  const server = await serverFor(listenerOf(fetch), tls)
  bound(server, connections)
  const listening = await listen(server, { host, port })
  const address = listening.server.address()
  return { ...listening, port: typeof address === 'object' && address !== null ? address.port : port }
}

export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * Answers as `fetch` does. What turns Node's requests into those of the web is loaded with the first of them: it and what it needs take a
 * new process longer than to open a log. None of our servers speaks HTTP/2.
 */
export function listenerOf(fetch: Fetch): Listener {
  let listener: Listener | undefined
  return (incoming, outgoing) => {
    if (listener !== undefined) return listener(incoming, outgoing)
    loadWeb().then(
      ({ getRequestListener }) => {
        listener ??= getRequestListener((request, env) => fetch(request, env as HttpBindings))
        listener(incoming, outgoing)
      },
      () => outgoing.destroy(),
    )
  }
}

/** Rejects when it can't be loaded: then no request but a hook's is answered. */
export const loadWeb = () => import('@hono/node-server')

async function serverFor(listener: Listener, tls: Tls | undefined): Promise<Server> {
  const times = { requestTimeout: TCP_REQUEST_MS, connectionsCheckingInterval: TCP_CHECK_MS }
  if (tls === undefined) return createServer(times, listener)
  // Loaded where it is needed: most collectors listen on loopback only.
  const https = await import('node:https')
  const { cert, key, clientCa } = tls
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
  return https.createServer({ ...times, cert, key, minVersion: 'TLSv1.2', ...client }, listener)
}

/** Keeps connections few: the one that has been silent longest makes room for a new one; where all are busy, the new one goes. */
function bound(server: Server, most: number): void {
  const idle = new Set<Socket>()
  const all = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (all.size >= most) {
      const [silent] = idle
      if (silent === undefined) {
        socket.destroy()
        return
      }
      silent.destroy()
      forget(silent)
    }
    all.add(socket)
    idle.add(socket)
    socket.once('close', () => forget(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const raw = rawOf(socket)
    idle.delete(raw)
    outgoing.once('close', () => {
      if (all.has(raw)) idle.add(raw)
    })
  })
  const forget = (socket: Socket) => {
    all.delete(socket)
    idle.delete(socket)
  }
}

/** The TCP socket below a TLS one: what a connection is counted by. */
function rawOf(socket: Socket): Socket {
  return (socket as Socket & { _parent?: Socket })._parent ?? socket
}

async function listen(server: Server, where: Place): Promise<Listening> {
  await bind(server, where)
  return { server, close: () => close(server) }
}

type Place = { path: string } | { host: string; port: number }

/** Lets a server listen. Rejects with AddressTaken when another program has the place. */
export function bind(server: NetServer, where: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new AddressTaken(`${placeOf(where)} is taken by another program`) : error)
    })
    server.listen(where, resolve)
  })
}

const placeOf = (where: Place) => ('path' in where ? where.path : `${where.host} port ${where.port}`)

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
