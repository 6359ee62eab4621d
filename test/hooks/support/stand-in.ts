// A stand-in for the collector, for tests of the installed hooks: listens and answers as it is told, also wrongly.
import { createServer, type Server, type Socket } from 'node:net'

export interface Received {
  method: string
  path: string
  headers: string
  body: Buffer
}

export type Behaviour = (socket: Socket, request: Received) => void

export interface StandIn {
  received: Received[]
  close(): Promise<void>
}

/** On a Unix socket, or a port of this machine. Waits for a whole request, then lets `behave` do what it wants with the connection. */
export async function standIn(where: string | number, behave: Behaviour): Promise<StandIn> {
  const received: Received[] = []
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    let bytes = Buffer.alloc(0)
    let answered = false
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      const request = answered ? null : readRequest(bytes)
      if (request === null) return
      answered = true
      received.push(request)
      behave(socket, request)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    if (typeof where === 'string') server.listen(where, resolve)
    else server.listen(where, '127.0.0.1', resolve)
  })
  return {
    received,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

function readRequest(bytes: Buffer): Received | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const headers = bytes.toString('latin1', 0, end)
  const [method = '', path = ''] = headers.split(' ')
  const rest = bytes.subarray(end + 4)
  if (!/^transfer-encoding: *chunked/im.test(headers)) {
    const length = Number(/^content-length: *(\d+)/im.exec(headers)?.[1] ?? 0)
    return rest.length < length ? null : { method, path, headers, body: rest.subarray(0, length) }
  }
  const body = unchunk(rest)
  return body === null ? null : { method, path, headers, body }
}

function unchunk(rest: Buffer): Buffer | null {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16)
    if (rest.length < lineEnd + 2 + size + 2) return null
    if (size === 0) return Buffer.concat(parts)
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}

/** An honest reply. */
export function reply(status: string, body: string, type = 'text/plain'): Behaviour {
  return (socket) => socket.end(head(status, Buffer.byteLength(body), type) + body)
}

export function head(status: string, length: number, type = 'text/plain'): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`
}
