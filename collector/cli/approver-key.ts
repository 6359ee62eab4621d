// Keys that a person signs answers with. A passphrase-protected Ed25519 key is a JSON file of ours (scrypt, AES-256-GCM); a security
// key is OpenSSH's: ssh-keygen asks the device, and the person touches it.
import { spawnSync } from 'node:child_process'
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  scryptSync,
  sign,
} from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { type Approver, type ApproverSignature, SSH_NAMESPACE } from '../../conventions/approval.ts'
import { fromBase64, toBase64, toHex } from '../../conventions/bytes.ts'
import { readSshPublicKey, readSshSignature, SSH_SECURITY_KEY } from '../../conventions/sshsig.ts'
import { CliError, EXIT_USAGE } from './exit.ts'

/** scrypt of 128 MiB and about half a second: what a guess at the passphrase costs. N, r and p of RFC 7914. */
const SCRYPT = { n: 2 ** 17, r: 8, p: 1 } as const
/** Bytes that scrypt may take; Node's own limit is below the above. */
const SCRYPT_MAX_BYTES = 256 * 1024 * 1024
/** Characters. Shorter ones are guessed by whoever copies the file. */
const MIN_PASSPHRASE = 8
const CIPHER = 'aes-256-gcm'

const fileSchema = z.strictObject({
  v: z.literal(1),
  kind: z.literal('spanseal-approver-key'),
  /** Base64 SPKI. */
  spki: z.string(),
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    n: z.literal(SCRYPT.n),
    r: z.literal(SCRYPT.r),
    p: z.literal(SCRYPT.p),
    salt: z.base64(),
  }),
  cipher: z.strictObject({ name: z.literal(CIPHER), iv: z.base64(), tag: z.base64() }),
  /** Encrypted PKCS #8. */
  key: z.base64(),
})
type KeyFile = z.infer<typeof fileSchema>

/** The public half of a key, as an approver without a name. */
export type PublicApprover = Omit<Approver, 'name'>

/** A new key behind a passphrase, as the text of its file. Throws CliError when the passphrase is too short. */
export function newKeyFile(passphrase: string): string {
  if ([...passphrase].length < MIN_PASSPHRASE)
    throw new CliError(`a passphrase has at least ${MIN_PASSPHRASE} characters`, EXIT_USAGE)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const salt = randomBytes(32)
  const iv = randomBytes(12)
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const cipher = createCipheriv(CIPHER, derive(passphrase, salt), iv).setAAD(spki)
  const key = Buffer.concat([cipher.update(privateKey.export({ type: 'pkcs8', format: 'der' })), cipher.final()])
  const file: KeyFile = {
    v: 1,
    kind: 'spanseal-approver-key',
    spki: toBase64(spki),
    kdf: { name: 'scrypt', ...SCRYPT, salt: toBase64(salt) },
    cipher: { name: CIPHER, iv: toBase64(iv), tag: toBase64(cipher.getAuthTag()) },
    key: toBase64(key),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

/** Reads the public half of a key file of ours, or of an OpenSSH public key. Throws CliError. */
export function publicKeyOf(path: string): PublicApprover {
  const file = readKeyFile(path)
  if (file !== null) return { ...named(file.spki), kind: 'passphrase' }
  const line = readOrFail(existsSync(`${path}.pub`) ? `${path}.pub` : path)
  const key = readSshPublicKey(line)
  if (key === null)
    throw new CliError(
      `${path} is no approver key: neither a file of ours nor an OpenSSH public key of type ${SSH_SECURITY_KEY}`,
      EXIT_USAGE,
    )
  if (key.type !== SSH_SECURITY_KEY)
    throw new CliError(
      `${path} is a plain ${key.type} key: every program that reaches your ssh-agent, the agent too, could sign with it. Use a security key (ssh-keygen -t ed25519-sk) or a passphrase-protected key (spanseal approvers add NAME)`,
      EXIT_USAGE,
    )
  return { ...named(key.spki), kind: 'sk-ssh-ed25519', application: key.application }
}

/** Signs a message. `passphrase` is asked for where the key needs one. Throws CliError. */
export async function signWith(
  path: string,
  message: Uint8Array,
  passphrase: () => Promise<string>,
): Promise<ApproverSignature> {
  const { kid, kind } = publicKeyOf(path)
  const file = readKeyFile(path)
  if (kind === 'passphrase' && file !== null) {
    return { approver: kid, signature: toBase64(sign(null, message, unlock(file, await passphrase(), path))) }
  }
  // ssh-keygen speaks with the device or ssh-agent, and asks for the touch or a PIN on the terminal itself.
  const made = spawnSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', SSH_NAMESPACE, '-f', path], {
    input: message,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (made.error !== undefined) throw new CliError(`ssh-keygen can't be run: ${made.error.message}`)
  if (made.status !== 0) throw new CliError('ssh-keygen did not sign; nothing was answered')
  const signed = readSshSignature(made.stdout.toString('utf8'))
  if (signed === null) throw new CliError('ssh-keygen wrote a signature that is not understood')
  const { signature, flags, counter } = signed
  return { approver: named(signed.key.spki).kid, signature, flags, counter }
}

function unlock({ spki, kdf, cipher, key }: KeyFile, passphrase: string, path: string) {
  const decipher = createDecipheriv(CIPHER, derive(passphrase, bytes(kdf.salt)), bytes(cipher.iv))
    .setAAD(bytes(spki))
    .setAuthTag(bytes(cipher.tag))
  try {
    const der = Buffer.concat([decipher.update(bytes(key)), decipher.final()])
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  } catch {
    // A wrong passphrase and a damaged file, its public key too, can't be told apart.
    throw new CliError(`the passphrase is wrong, or ${path} is damaged; nothing was answered`)
  }
}

function readKeyFile(path: string): KeyFile | null {
  const text = readOrFail(path)
  if (!text.startsWith('{')) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const parsed = fileSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new CliError(`${path} is no approver key of this version: ${z.prettifyError(parsed.error)}`, EXIT_USAGE)
}

function readOrFail(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`, EXIT_USAGE)
  }
}

const derive = (passphrase: string, salt: Uint8Array) =>
  scryptSync(passphrase.normalize('NFC'), salt, 32, { N: SCRYPT.n, r: SCRYPT.r, p: SCRYPT.p, maxmem: SCRYPT_MAX_BYTES })

const bytes = (base64: string) => Buffer.from(base64, 'base64')

function named(spki: string): { kid: string; spki: string } {
  const der = fromBase64(spki) ?? new Uint8Array(0)
  return { kid: `sha256:${toHex(createHash('sha256').update(der).digest())}`, spki }
}
