// Approvers of tests, written from docs/evidence-format.md alone: what they sign is put together here a second time. The security key
// is a stand-in: software that signs what a FIDO device would, because no test can touch one.
import { createHash, sign } from 'node:crypto'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Key } from '../verify/support.ts'

const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest()

function pae(type: string, value: Json): Buffer {
  const payload = Buffer.from(canonicalBytes(value))
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload])
}

/** Message of an answer. */
export const answerBytes = (answer: string, binding: Json) =>
  pae('application/vnd.spanseal.approval.v1+json', { answer, binding })

/** Message of a change of approvers. */
export const changeBytes = (change: Json) => pae('application/vnd.spanseal.approver.v1+json', change)

export interface TestApprover {
  /** As in approver.added. */
  public: { kid: string; name: string; kind: 'passphrase' | 'sk-ssh-ed25519'; spki: string; application?: string }
  /** Body members of a signature over the message. */
  sign(message: Buffer): { approver: string; signature: string; flags?: number; counter?: number }
}

const kidOf = (key: Key) => `sha256:${key.kid.toString('hex')}`

/** Whose key lies in a file. */
export function fileApprover(name: string, key: Key): TestApprover {
  return {
    public: { kid: kidOf(key), name, kind: 'passphrase', spki: key.spki.toString('base64') },
    sign: (message) => ({ approver: kidOf(key), signature: sign(null, message, key.private).toString('base64') }),
  }
}

/** SSHSIG: what a key signs for a message. */
export function sshSigned(message: Buffer): Buffer {
  const field = (bytes: Buffer) => Buffer.concat([uint32(bytes.length), bytes])
  return Buffer.concat([
    Buffer.from('SSHSIG'),
    field(Buffer.from('spanseal-approval')),
    field(Buffer.alloc(0)),
    field(Buffer.from('sha512')),
    field(hash('sha512', message)),
  ])
}

/** A stand-in of a FIDO token. `flags`: 1 says that somebody touched it, 5 that they gave a PIN, too. */
export function softToken(name: string, key: Key, { flags = 1, application = 'ssh:' } = {}): TestApprover {
  let counter = 7
  return {
    public: { kid: kidOf(key), name, kind: 'sk-ssh-ed25519', spki: key.spki.toString('base64'), application },
    sign: (message) => {
      counter++
      const signed = Buffer.concat([
        hash('sha256', Buffer.from(application)),
        Buffer.from([flags]),
        uint32(counter),
        hash('sha256', sshSigned(message)),
      ])
      return { approver: kidOf(key), signature: sign(null, signed, key.private).toString('base64'), flags, counter }
    },
  }
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}
