// The OTLP/gRPC door, on Node's own HTTP/2: what comes in takes the way of /v1/traces, /v1/logs and /v1/metrics, with the same limits.
// Messages are read as they arrive and counted before they are whole, which a gRPC library does not let its user do.
import type { Http2Server, Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { MAX_OTLP_BYTES } from '../../../conventions/limits.ts'
import { bind, type Door, type PortOptions } from '../listen.ts'
import { partialSuccessBytes } from './answers.ts'
import type { Refusal } from './app.ts'
import { type ByteBudget, type Chunks, discardBody, readBody } from './body.ts'
import {
  framed,
  GRPC,
  type GrpcCode,
  isGrpc,
  OK_TRAILERS,
  PREFIX_BYTES,
  readPrefix,
  refusalTrailers,
  signalOf,
} from './grpc-wire.ts'
import type { Inspect } from './pool.ts'
import { type Accept, BUSY_RETRY_SECONDS, type Taken, Turns, takeBody } from './take.ts'

/** Calls of one connection that may send at once; each may have 64 KiB under way that nobody has read yet. */
const MAX_CALLS = 8
/** Connections: a fleet's worth, and a bound on what all of them can hold. */
const MAX_CONNECTIONS = 256
/** Milliseconds for a message to arrive whole: the largest at 1 MB a second. */
const MESSAGE_MS = 60_000
/** Milliseconds to agree on TLS. */
const HANDSHAKE_MS = 10_000
/** Milliseconds that calls under way get when the door closes. */
const GRACE_MS = 2_000

export interface GrpcSettings {
  accept: Accept
  inspect: Inspect
  /** Room for all bodies held at once, shared with the HTTP door. */
  budget: ByteBudget
  /** Bytes of one message, before and after decompression. Default MAX_OTLP_BYTES. */
  bodyBytes?: number
  /** Whether the sender may send; given the value of `authorization`. */
  admit: (authorization: string | undefined) => Refusal | null
  /** Each call's outcome. */
  onAnswer?: (code: GrpcCode) => void
  /** Told of what should not happen (`accept` throwing). The call is answered UNAVAILABLE. */
  onFault: (error: unknown) => void
}

/** Listens on a TCP port. Rejects with AddressTaken when another program has it. */
export async function listenForGrpc(
  { host, port, tls }: PortOptions,
  settings: GrpcSettings,
): Promise<Door & { port: number }> {
  const server = await serverFor(tls)
  const door = serve(server, settings)
  await bind(server, { host, port })
  const address = server.address()
  return { ...door, port: typeof address === 'object' && address !== null ? address.port : port }
}

async function serverFor(tls: PortOptions['tls']): Promise<Http2Server> {
  // Loaded where it is needed: most collectors take no gRPC.
  const { createServer, createSecureServer } = await import('node:http2')
  const settings = { maxConcurrentStreams: MAX_CALLS }
  if (tls === undefined) return createServer({ settings })
  const { cert, key, clientCa } = tls
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
  return createSecureServer({ settings, cert, key, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS, ...client })
}

function serve(server: Http2Server, settings: GrpcSettings): Door {
  const turns = new Turns<Http2Session>()
  server.on('stream', (stream, headers) => {
    // A client that goes away in the middle is no fault of ours; whoever reads the stream notices.
    stream.on('error', () => {})
    void turns.take(stream.session, () => call(stream, headers, settings))
  })
  // Those that do not even speak HTTP/2.
  server.maxConnections = 2 * MAX_CONNECTIONS
  const sessions = connections(server)
  return {
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => {
          for (const session of sessions) session.destroy()
        }, GRACE_MS)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        for (const session of sessions) session.close()
      }),
  }
}

/** Keeps connections few: the one that has been silent longest makes room for a new one; where all are busy, the new one goes. */
function connections(server: Http2Server): ReadonlySet<Http2Session> {
  const all = new Set<Http2Session>()
  const calls = new Map<Http2Session, number>()
  server.on('session', (session) => {
    session.on('error', () => {})
    if (all.size >= MAX_CONNECTIONS) {
      const silent = [...all].find((each) => !calls.has(each))
      if (silent === undefined) {
        session.destroy()
        return
      }
      silent.destroy()
      all.delete(silent)
    }
    all.add(session)
    session.once('close', () => {
      all.delete(session)
      calls.delete(session)
    })
  })
  server.on('stream', (stream) => {
    const { session } = stream
    if (session === undefined) return
    calls.set(session, (calls.get(session) ?? 0) + 1)
    stream.once('close', () => {
      const left = (calls.get(session) ?? 1) - 1
      if (left > 0) calls.set(session, left)
      else {
        calls.delete(session)
        // Last to have spoken, last to go.
        if (all.delete(session)) all.add(session)
      }
    })
  })
  return all
}

async function call(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, settings: GrpcSettings): Promise<void> {
  if (stream.destroyed) return
  const { budget, admit, bodyBytes = MAX_OTLP_BYTES, onFault } = settings
  if (headers[':method'] !== 'POST' || !isGrpc(headers)) {
    stream.respond({ ':status': headers[':method'] === 'POST' ? 415 : 405 }, { endStream: true })
    return
  }
  const answer = answerTo(stream, settings)
  const refuse = async (code: GrpcCode, message: string, retryAfterSeconds?: number) => {
    // A client that is still sending when the call ends does not hear the answer.
    await discardBody(chunksOf(stream), bodyBytes)
    answer(code, message, retryAfterSeconds)
  }
  const signal = signalOf(headers[':path'])
  if (signal === undefined)
    return refuse(GRPC.UNIMPLEMENTED, 'this receiver takes traces, logs and metrics; no profiles')
  const refusal = admit(headers.authorization)
  if (refusal !== null)
    return refuse(refusal.status === 401 ? GRPC.UNAUTHENTICATED : GRPC.PERMISSION_DENIED, refusal.message)
  const compression = String(headers['grpc-encoding'] ?? 'identity')
  if (compression !== 'identity' && compression !== 'gzip')
    return refuse(GRPC.UNIMPLEMENTED, `unsupported grpc-encoding: ${compression.slice(0, 40)}`)

  const late = setTimeout(() => stream.close(), MESSAGE_MS)
  let body: Awaited<ReturnType<typeof readBody>>
  try {
    const start = await startOf(stream)
    const prefix = start === null ? null : readPrefix(start.prefix)
    if (start === null || prefix === null) return await refuse(GRPC.INVALID_ARGUMENT, 'not a gRPC message')
    if (prefix.length > bodyBytes) return await refuse(GRPC.RESOURCE_EXHAUSTED, tooLarge(bodyBytes))
    if (prefix.compressed && compression !== 'gzip')
      return await refuse(GRPC.INVALID_ARGUMENT, 'the message is compressed, and grpc-encoding does not say how')
    let received = 0
    body = await readBody(
      chunksOf(stream, start.rest, (bytes) => {
        received += bytes
      }),
      prefix.compressed,
      bodyBytes,
      budget,
    )
    if (body.ok && received !== prefix.length) {
      budget.give(body.body.length)
      return answer(GRPC.INVALID_ARGUMENT, 'a call takes one message, of the length that it says')
    }
  } finally {
    clearTimeout(late)
  }
  if (!body.ok) {
    const { reason } = body
    if (reason === 'too_large') return answer(GRPC.RESOURCE_EXHAUSTED, tooLarge(bodyBytes))
    if (reason === 'busy')
      return answer(GRPC.RESOURCE_EXHAUSTED, 'too much is being received at once', BUSY_RETRY_SECONDS)
    return answer(GRPC.INVALID_ARGUMENT, reason === 'cut_off' ? 'the call ended early' : 'gzip: the message is damaged')
  }
  const { length } = body.body
  try {
    answerTaken(await takeBody(settings, body.body, 'protobuf', signal), answer)
  } catch (error) {
    onFault(error)
    answer(GRPC.UNAVAILABLE, 'the collector could not record this', BUSY_RETRY_SECONDS)
  } finally {
    budget.give(length)
  }
}

type Answer = (code: GrpcCode, message: string | Uint8Array, retryAfterSeconds?: number) => void

function answerTaken(taken: Taken, answer: Answer): void {
  if (taken.ok) answer(GRPC.OK, partialSuccessBytes(taken.invalid))
  else if (taken.why === 'later') answer(GRPC.UNAVAILABLE, taken.message, taken.retryAfterSeconds)
  else answer(taken.why === 'too_large' ? GRPC.RESOURCE_EXHAUSTED : GRPC.INVALID_ARGUMENT, taken.message)
}

/** Ends a call: the response's message where it is OK, else the reason. */
function answerTo(stream: ServerHttp2Stream, { onAnswer }: GrpcSettings): Answer {
  return (code, message, retryAfterSeconds) => {
    onAnswer?.(code)
    if (stream.destroyed || stream.headersSent) return
    const head = { ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity,gzip' }
    if (typeof message === 'string') {
      stream.respond({ ...head, ...refusalTrailers(code, message, retryAfterSeconds) }, { endStream: true })
      return
    }
    stream.respond(head, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers(OK_TRAILERS))
    stream.end(framed(message))
  }
}

const tooLarge = (bytes: number) => `larger than ${bytes} bytes; send smaller batches`

/** The first bytes of a call, and what came with them; null when it ends before. */
async function startOf(stream: ServerHttp2Stream): Promise<{ prefix: Buffer; rest: Buffer } | null> {
  let start = Buffer.alloc(0)
  try {
    for await (const chunk of chunksOf(stream)()) {
      start = Buffer.concat([start, chunk])
      if (start.length >= PREFIX_BYTES)
        return { prefix: start.subarray(0, PREFIX_BYTES), rest: start.subarray(PREFIX_BYTES) }
    }
  } catch {
    // The sender has gone.
  }
  return null
}

/** The stream's chunks, `first` before them. */
function chunksOf(stream: ServerHttp2Stream, first?: Uint8Array, onBytes?: (bytes: number) => void): Chunks {
  let before = first
  return async function* () {
    if (before !== undefined && before.length > 0) {
      const chunk = before
      before = undefined
      onBytes?.(chunk.length)
      yield chunk
    }
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      onBytes?.(chunk.length)
      yield chunk
    }
  }
}
