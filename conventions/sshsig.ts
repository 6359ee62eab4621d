// Reads what OpenSSH writes: a public key line and an armoured SSHSIG (PROTOCOL.sshsig). Only Ed25519, plain and of security keys.

import { SSH_NAMESPACE } from './approval.ts'
import { equalBytes, fromBase64, toBase64 } from './bytes.ts'

export const SSH_SECURITY_KEY = 'sk-ssh-ed25519@openssh.com'
const SSH_PLAIN_KEY = 'ssh-ed25519'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in its SPKI. */
const SPKI_HEAD = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

export interface SshKey {
  type: typeof SSH_SECURITY_KEY | typeof SSH_PLAIN_KEY
  /** Base64 SPKI. */
  spki: string
  /** Of a security key. */
  application?: string
}

export interface SshSignature {
  key: SshKey
  /** Base64. */
  signature: string
  flags?: number
  counter?: number
}

/** `<type> <base64> [comment]`; null when it is anything else. */
export function readSshPublicKey(line: string): SshKey | null {
  const [type, base64 = ''] = line.trim().split(/\s+/)
  const blob = fromBase64(base64)
  const key = blob === null ? null : readKey(blob)
  return key !== null && key.type === type ? key : null
}

/** An armoured signature under our namespace over a SHA-512; null when it is anything else. Says nothing about its validity. */
export function readSshSignature(armoured: string): SshSignature | null {
  const body = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?$/.exec(
    armoured.replaceAll('\r\n', '\n'),
  )?.[1]
  const blob = body === undefined ? null : fromBase64(body.replaceAll('\n', ''))
  if (blob === null || !equalBytes(blob.subarray(0, 6), new TextEncoder().encode('SSHSIG'))) return null
  const reader = new Reader(blob.subarray(6))
  const version = reader.uint32()
  const key = readKey(reader.string())
  const namespace = reader.text()
  const reserved = reader.string()
  const hash = reader.text()
  const signature = new Reader(reader.string())
  if (!reader.ended || version !== 1 || reserved.length > 0 || namespace !== SSH_NAMESPACE || hash !== 'sha512')
    return null
  if (key === null || signature.text() !== key.type) return null
  const raw = signature.string()
  const device = key.type === SSH_SECURITY_KEY ? { flags: signature.byte(), counter: signature.uint32() } : {}
  if (!signature.ended || raw.length !== SIGNATURE_BYTES) return null
  return { key, signature: toBase64(raw), ...device }
}

function readKey(blob: Uint8Array): SshKey | null {
  const reader = new Reader(blob)
  const type = reader.text()
  if (type !== SSH_SECURITY_KEY && type !== SSH_PLAIN_KEY) return null
  const raw = reader.string()
  const application = type === SSH_SECURITY_KEY ? { application: reader.text() } : {}
  if (!reader.ended || raw.length !== KEY_BYTES) return null
  return { type, spki: toBase64(Uint8Array.of(...SPKI_HEAD, ...raw)), ...application }
}

/** Reads on past a wrong end as nothing, and then says that it did not end well. */
class Reader {
  private at = 0
  private short = false
  private readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get ended(): boolean {
    return !this.short && this.at === this.bytes.length
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  uint32(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.take(4)
    return a * 0x1000000 + (b << 16) + (c << 8) + d
  }

  string(): Uint8Array {
    return this.take(this.uint32())
  }

  text(): string {
    return new TextDecoder().decode(this.string())
  }

  private take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) {
      this.short = true
      return new Uint8Array(0)
    }
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }
}
