// The collector's secrets: the log key (signs checkpoints, is the log's identity), the record key (signs records; it can be
// replaced by another), and the secret that ids on spans are derived from. Each is a file of mode 0600 in a folder of mode 0700; looser ones are refused.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'

const ID_SECRET_BYTES = 32

export interface Keys {
  log: KeyObject
  /** 32 raw bytes of the log key's public half. */
  logPublic: Uint8Array
  idSecret: Uint8Array
}

export interface RecordKey {
  private: KeyObject
  /** SHA-256 of the key's SPKI: raw, and as `sha256:<hex>`. */
  kidBytes: Uint8Array
  kid: string
  /** DER SubjectPublicKeyInfo. */
  spki: Uint8Array
}

/** A key file can't be used; the message says which and what to do. */
export class KeyError extends Error {
  override name = 'KeyError'
}

/** Writes a new file of mode 0600, durably, or fails when it exists. Given by the store, which owns files. */
export type WriteNewFile = (path: string, content: string | Uint8Array) => void

/** Loads the log key and the secret of a home, or makes all its keys when it has no log yet. Throws KeyError. */
export function openKeys(home: HomePaths, isNewLog: boolean, writeNewFile: WriteNewFile): Keys {
  if (isNewLog && !existsSync(home.keys)) {
    mkdirSync(home.keys, { recursive: true, mode: 0o700 })
    chmodSync(home.keys, 0o700)
  }
  if (isNewLog) makeMissing(home, writeNewFile)
  checkMode(home.keys, 0o700)
  const log = readKey(home.logKey)
  checkMode(home.idSecret, 0o600)
  const idSecret = readFileSync(home.idSecret)
  if (idSecret.length !== ID_SECRET_BYTES) {
    throw new KeyError(
      `${home.idSecret} must hold ${ID_SECRET_BYTES} bytes, not ${idSecret.length}. Restore it from a backup, or move the whole home away to begin a new log.`,
    )
  }
  return { log, logPublic: createPublicKey(log).export({ type: 'spki', format: 'der' }).subarray(-32), idSecret }
}

/** The key of id `kid`, or, where the log has no record yet, the one it begins with. Throws KeyError. */
export function openRecordKey(home: HomePaths, kid: string | undefined): RecordKey {
  const later = kid === undefined ? undefined : laterKeyPath(home, kid)
  const path = later !== undefined && existsSync(later) ? later : home.recordKey
  const key = recordKeyOf(readKey(path))
  if (kid === undefined || key.kid === kid) return key
  throw new KeyError(
    `the log is signed by ${kid}, whose key is not in ${home.keys}. Restore it from a backup, or move the whole home away to begin a new log.`,
  )
}

/** Makes a further record key, in a file of its own. */
export function makeRecordKey(home: HomePaths, writeNewFile: WriteNewFile): RecordKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = recordKeyOf(privateKey)
  writeNewFile(laterKeyPath(home, key.kid), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return key
}

/** Deletes every record key but one: who gets hold of the home later can't sign with those that came before it. */
export function forgetOtherRecordKeys(home: HomePaths, current: RecordKey): void {
  const later = laterKeyPath(home, current.kid)
  const keep = existsSync(later) ? later : home.recordKey
  for (const name of readdirSync(home.keys)) {
    const path = `${home.keys}/${name}`
    if (RECORD_KEY_FILE.test(name) && path !== keep) rmSync(path, { force: true })
  }
}

/** Files of record keys: that of the first one, and those of later ones by the first half of their id. */
const RECORD_KEY_FILE = /^record(-[0-9a-f]{32})?\.pem(\.new)?$/

function laterKeyPath(home: HomePaths, kid: string): string {
  return `${home.keys}/record-${kid.slice('sha256:'.length).slice(0, 32)}.pem`
}

function recordKeyOf(key: KeyObject): RecordKey {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const kidBytes = createHash('sha256').update(spki).digest()
  return { private: key, kidBytes, kid: `sha256:${kidBytes.toString('hex')}`, spki }
}

function makeMissing(home: HomePaths, writeNewFile: WriteNewFile): void {
  for (const path of [home.logKey, home.recordKey]) {
    if (existsSync(path)) continue
    writeNewFile(path, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  }
  if (!existsSync(home.idSecret)) writeNewFile(home.idSecret, randomBytes(ID_SECRET_BYTES))
}

function readKey(path: string): KeyObject {
  checkMode(path, 0o600)
  try {
    return createPrivateKey(readFileSync(path))
  } catch (error) {
    throw new KeyError(
      `${path} is not a usable private key (${messageOf(error)}). Restore it from a backup, or move the whole home away to begin a new log.`,
    )
  }
}

function checkMode(path: string, wanted: number): void {
  let stat: ReturnType<typeof lstatSync>
  try {
    stat = lstatSync(path)
  } catch (error) {
    throw new KeyError(
      `${path} can't be read (${messageOf(error)}). The log exists but its keys do not: restore them from a backup, or move the whole home away to begin a new log.`,
    )
  }
  if (stat.isSymbolicLink()) throw new KeyError(`${path} is a symbolic link. Put the real file there.`)
  const mode = stat.mode & 0o777
  if ((mode & ~wanted) !== 0) {
    throw new KeyError(
      `${path} has mode ${mode.toString(8)}, so others could read or change it. Run: chmod ${wanted.toString(8)} '${path}'`,
    )
  }
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid)
    throw new KeyError(`${path} belongs to user ${stat.uid}, not to ${uid} who runs the collector.`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
