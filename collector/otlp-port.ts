// The TCP port of a collector, as its configuration asks for it: who may send, and how the connection is protected.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from './config.ts'
import type { PortOptions } from './receive/listen.ts'
import { admitLoopback, type Refusal } from './receive/otlp/app.ts'
import { readGiven, readSecret } from './secret-file.ts'

/** Characters of a token: shorter ones can be guessed, longer ones do not fit a header. */
const MIN_TOKEN_CHARS = 16
const MAX_TOKEN_CHARS = 1_024

export interface OtlpPort extends PortOptions {
  admit: (request: Request) => Refusal | null
  /** Whether a gRPC call may send; given the value of its `authorization`. No web page can make one. */
  authorize: (authorization: string | undefined) => Refusal | null
}

/** Reads what the configuration names. Throws with what to do when the port would be open to others without protection. */
export function otlpPort({ otlp }: Config): OtlpPort {
  const { host, port, tls, token_file } = otlp
  if (!isLoopback(host) && (tls === undefined || (token_file === undefined && tls.client_ca_file === undefined))) {
    throw new Error(
      `otlp.host ${host} is reached from other machines, so it needs otlp.tls and, to know who sends, otlp.token_file or otlp.tls.client_ca_file (docs/configuration.md)`,
    )
  }
  const token = token_file === undefined ? undefined : tokenOf(token_file)
  const authorize = authorizeOf(token)
  const options = { host, port, admit: admitOf(isLoopback(host), authorize), authorize }
  if (tls === undefined) return options
  const ca = tls.client_ca_file
  return {
    ...options,
    tls: {
      cert: readGiven('otlp.tls.cert_file', tls.cert_file),
      key: readSecret('otlp.tls.key_file', tls.key_file),
      ...(ca !== undefined && { clientCa: readGiven('otlp.tls.client_ca_file', ca) }),
    },
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

function admitOf(loopback: boolean, authorize: OtlpPort['authorize']): OtlpPort['admit'] {
  return (request) => {
    const refusal = loopback ? admitLoopback(request) : admitNoPage(request)
    return refusal ?? authorize(request.headers.get('authorization') ?? undefined)
  }
}

function authorizeOf(token: string | undefined): OtlpPort['authorize'] {
  if (token === undefined) return () => null
  const wanted = digest(token)
  return (authorization = '') => {
    const given = /^Bearer (.+)$/i.exec(authorization)?.[1] ?? ''
    if (timingSafeEqual(digest(given), wanted)) return null
    return { status: 401, message: 'a token is needed: Authorization: Bearer <token>' }
  }
}

/** A page's request always says so, and no exporter's does. */
function admitNoPage(request: Request): Refusal | null {
  return request.headers.has('origin') ? { status: 403, message: 'requests of web pages are not taken' } : null
}

function tokenOf(path: string): string {
  const token = readSecret('otlp.token_file', path).trim()
  if (token.length >= MIN_TOKEN_CHARS && token.length <= MAX_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token)) return token
  throw new Error(
    `otlp.token_file ${path}: holds no token of ${MIN_TOKEN_CHARS} to ${MAX_TOKEN_CHARS} printable characters on one line`,
  )
}

const digest = (text: string) => createHash('sha256').update(text).digest()
