// Addresses: what a URL or host text names, in whatever notation, and whether that is this machine, the network inside or outside.
import type { HostKind } from '../call.ts'
import { UNKNOWN } from '../call.ts'

export interface Address {
  scheme: string
  host: string
  port: string
  path: string
  kind: HostKind
  /** Something stands before an `@`: a login, or another host to mislead the reader. */
  userinfo: boolean
}

const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.169.253',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Reads an address. `computed`: the text of the host is made by a command on the same line. */
export function addressOf(text: string, computed = false): Address {
  const match =
    /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)/.exec(text) ??
    /^(data|javascript|about|blob|view-source|jar):()()/i.exec(text) ??
    /^()([^/?#]*)([^?#]*)/.exec(text)
  const scheme = (match?.[1] ?? '').toLowerCase()
  const authority = match?.[2] ?? ''
  const at = authority.lastIndexOf('@')
  const { host, port } = splitPort(authority.slice(at + 1))
  const name = canonicalHost(host)
  return { scheme, host: name, port, path: match?.[3] ?? '', kind: kindOf(name, computed), userinfo: at > 0 }
}

function splitPort(authority: string): { host: string; port: string } {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/.exec(authority)
  return { host: match?.[1] ?? authority, port: match?.[2] ?? '' }
}

/** Host as the platform's URL parser resolves it: decimal, octal, hex and mapped notations become the usual one. */
function canonicalHost(host: string): string {
  if (host.includes(UNKNOWN)) return host.toLowerCase()
  const trimmed = host.replace(/\.$/, '')
  try {
    return mapped(new URL(`http://${trimmed}/`).hostname)
  } catch {
    return trimmed.toLowerCase()
  }
}

/** An IPv4 address inside an IPv6 one (::ffff:a9fe:a9fe, 64:ff9b::…) as plain IPv4. */
function mapped(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '')
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(bare)
  if (match === null) return bare
  const [high, low] = [Number.parseInt(match[1] ?? '', 16), Number.parseInt(match[2] ?? '', 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function kindOf(host: string, computed: boolean): HostKind {
  if (host.includes(UNKNOWN)) return computed ? 'computed' : 'unknown'
  if (METADATA.has(host) || host.startsWith('169.254.')) return 'metadata'
  if (host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || host === '::1' || host === '::')
    return 'local'
  if (/^127\.\d+\.\d+\.\d+$/.test(host)) return 'local'
  const inside = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|fe80:|f[cd][0-9a-f]{2}:)/.test(host)
  if (inside || /\.(local|internal|lan|intranet|corp)$/.test(host)) return 'private'
  return host === '' ? 'unknown' : 'public'
}

/** True for letters of another script mixed into a Latin name: a host that only looks like the one meant. */
export function looksAlike(text: string): boolean {
  return text
    .split('.')
    .some(
      (label) =>
        /[a-z]/i.test(label) && /[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u13a0-\u13ff\uff00-\uffef]/.test(label),
    )
}
