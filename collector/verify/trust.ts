// The trust file: what a verifier pins. Lines of c2sp.org/tlog-policy, plus `genesis`, the leaf of a log's first record,
// `record-key`, who may sign records, and `approver`, who may approve calls.
import { equalBytes, fromBase64 } from '../../conventions/bytes.ts'
import { ed25519KeyOfSpki } from './ed25519.ts'
import { parseVerifierKey, type VerifierKey } from './note.ts'

/** Bytes. A trust file is written by hand. */
const MAX_TRUST_BYTES = 1024 * 1024
const ED25519 = 0x01

export interface Trust {
  /** Keys that may sign checkpoints. */
  logs: VerifierKey[]
  /** Lower-case hex SHA-256 leaves of first records. */
  genesis: string[]
  /** Lower-case hex ids of the keys that may sign records; empty: those that the log declares. */
  recordKeys: string[]
  /** Who may approve calls; empty: anybody. */
  approvers: Approver[]
}

interface Approver {
  name: string
  spki: Uint8Array
}

export type TrustResult = { ok: true; trust: Trust } | { ok: false; line: number; message: string }

/** Nothing pinned. */
export const NO_TRUST: Trust = { logs: [], genesis: [], recordKeys: [], approvers: [] }

/**
 * Reads the text of a trust file: `log <vkey> [<url>]`, `genesis <64 hex>`, `record-key sha256:<64 hex>`,
 * `approver <name> <base64 SPKI>`, `quorum none`, comments (`#`) and empty lines.
 * Any other line is refused with its number: a pin that is passed over would promise more than was checked.
 */
export function readTrust(text: string): TrustResult {
  if (text.length > MAX_TRUST_BYTES) return { ok: false, line: 1, message: `longer than ${MAX_TRUST_BYTES} bytes` }
  const trust: Trust = { logs: [], genesis: [], recordKeys: [], approvers: [] }
  for (const [index, line] of text.split('\n').entries()) {
    const refused = readLine(line, trust)
    if (refused !== null) return { ok: false, line: index + 1, message: refused }
  }
  return { ok: true, trust }
}

/** Adds what the line pins; says what is wrong with it otherwise. */
function readLine(line: string, trust: Trust): string | null {
  const words = line.split(/[ \t]+/).filter((word) => word !== '')
  const [keyword = '', value = ''] = words
  if (keyword === '' || keyword.startsWith('#')) return null
  switch (keyword) {
    case 'log': {
      const key = parseVerifierKey(value)
      if (words.length > 3 || key === null) return 'log needs a verifier key: log <name>+<key id>+<base64 key>'
      if (key.type !== ED25519 || key.key === null) return `the log key ${key.name} is not an Ed25519 key (type 0x01)`
      const { raw } = key.key
      if (trust.logs.some((log) => log.key !== null && equalBytes(log.key.raw, raw))) return 'the same log key twice'
      trust.logs.push(key)
      return null
    }
    case 'genesis':
      if (words.length !== 2 || !/^[0-9a-f]{64}$/.test(value)) return 'genesis needs 64 lower-case hex characters'
      trust.genesis.push(value)
      return null
    case 'record-key':
      if (words.length !== 2 || !/^sha256:[0-9a-f]{64}$/.test(value))
        return 'record-key needs sha256:<64 lower-case hex>'
      trust.recordKeys.push(value.slice('sha256:'.length))
      return null
    case 'approver': {
      const spki = fromBase64(words[2] ?? '')
      if (words.length !== 3 || spki === null || ed25519KeyOfSpki(spki) === null)
        return 'approver needs a name and the base64 SPKI of an Ed25519 key'
      trust.approvers.push({ name: value, spki })
      return null
    }
    case 'quorum':
      return words.length === 2 && value === 'none' ? null : 'only "quorum none" is known to this version'
    default:
      return `"${keyword.slice(0, 40)}" is not known to this version`
  }
}
