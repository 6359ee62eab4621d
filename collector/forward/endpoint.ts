// Where spans go: the address of a destination, and whether it is ourselves.
import { hostname, networkInterfaces } from 'node:os'

const SIGNAL_PATH = /\/v1\/(traces|logs)$/

type Endpoint = { ok: true; url: URL } | { ok: false; message: string }

/**
 * The URL to post a signal to. A path that ends in /v1/traces or /v1/logs gets the signal's own end, anything else is a base that
 * gets it appended, as OTEL_EXPORTER_OTLP_ENDPOINT asks (OpenTelemetry specification, protocol/exporter). The message of a refusal
 * never repeats the text: it may hold a password.
 */
export function signalUrl(endpoint: string, signal: '/v1/traces' | '/v1/logs' = '/v1/traces'): Endpoint {
  if (!URL.canParse(endpoint)) return { ok: false, message: 'the destination is not a URL' }
  const url = new URL(endpoint)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, message: 'the destination must be an http or https URL' }
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, message: 'the destination must not hold a password; configure an authorization header instead' }
  }
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '').replace(SIGNAL_PATH, '') + signal
  return { ok: true, url }
}

/** True for a destination whose address never leaves this machine. */
export function isOnLoopback(url: URL): boolean {
  return isLoopback(plain(url.hostname))
}

/** An address that this collector listens on. */
export interface OwnAddress {
  host: string
  port: number
}

/**
 * True when a destination is one of our own listeners, by any name of this machine known without asking DNS: forwarding there
 * would record what was just sent, for ever.
 */
export function isOwnListener(url: string | URL, own: readonly OwnAddress[]): boolean {
  const target = new URL(url)
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port)
  const host = plain(target.hostname)
  return own.some((address) => address.port === port && sameHost(host, plain(address.host)))
}

function sameHost(target: string, own: string): boolean {
  if (target === own) return true
  if (isLoopback(own)) return isLoopback(target) || isWildcard(target)
  if (!isWildcard(own)) return false
  return isLoopback(target) || isWildcard(target) || localNames().includes(target)
}

function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
}

function isLoopback(host: string): boolean {
  // ::ffff:7fxx:xxxx is how URLs write ::ffff:127.x.x.x.
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    /^(127\.[\d.]+$|::ffff:(127\.|7f))/.test(host)
  )
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === ''
}

function localNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => plain(address))]
}
