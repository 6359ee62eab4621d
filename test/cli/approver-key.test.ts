// Keys of approvers: a file that opens with its passphrase only, and what the real ssh-keygen writes, read as it is meant.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKeyFile, publicKeyOf, signWith } from '../../collector/cli/approver-key.ts'
import { sshSignedData } from '../../conventions/approval.ts'
import { readSshPublicKey, readSshSignature } from '../../conventions/sshsig.ts'
import { sshSigned } from '../support/approver.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'spanseal-approver-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const keyOf = (spki: string) => createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
const MESSAGE = Buffer.from('a message')

describe('a key file', () => {
  let path: string
  beforeAll(() => {
    path = join(dir, 'alice.key')
    writeFileSync(path, newKeyFile('correct horse'))
  })

  it('signs with its passphrase', async () => {
    const { kid, spki, kind } = publicKeyOf(path)
    const { approver, signature } = await signWith(path, MESSAGE, async () => 'correct horse')
    expect([approver, kind]).toEqual([kid, 'passphrase'])
    expect(verify(null, MESSAGE, keyOf(spki), Buffer.from(signature, 'base64'))).toBe(true)
  })

  it('holds nothing of the key in the clear, and opens with no other passphrase', async () => {
    await expect(signWith(path, MESSAGE, async () => 'correct horsf')).rejects.toThrow(/passphrase is wrong/)
    expect(readFileSync(path, 'utf8')).not.toMatch(/PRIVATE|302e0201/)
  })

  it('does not sign for another public key than its own', async () => {
    const other = publicKeyOf(path).spki.replace(/.{8}=$/, 'AAAAAAA=')
    const edited = join(dir, 'edited.key')
    writeFileSync(edited, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), spki: other }))
    await expect(signWith(edited, MESSAGE, async () => 'correct horse')).rejects.toThrow(/damaged/)
  })

  it('needs a passphrase of some length, and names what is wrong with a file', () => {
    expect(() => newKeyFile('short')).toThrow(/at least 8/)
    writeFileSync(join(dir, 'bad.key'), '{"v":2}')
    expect(() => publicKeyOf(join(dir, 'bad.key'))).toThrow(/no approver key of this version/)
    expect(() => publicKeyOf(join(dir, 'absent'))).toThrow(/can't be read/)
  })
})

const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined

// What is checked of OpenSSH here is checked where it is installed; CI has it.
describe.runIf(hasSsh)('what ssh-keygen writes', () => {
  let key: string
  let armoured: string
  beforeAll(() => {
    key = join(dir, 'id_ed25519')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    armoured = execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'spanseal-approval', '-f', key], {
      input: MESSAGE,
    }).toString()
  })

  it('is read, and its signature is over the bytes that we take it for', () => {
    const read = readSshSignature(armoured)
    const line = readSshPublicKey(readFileSync(`${key}.pub`, 'utf8'))
    expect(read?.key).toEqual(line)
    const sha512 = (bytes: Uint8Array) => createHash('sha512').update(bytes).digest()
    const signed = sshSignedData(MESSAGE, { sha512 })
    expect(Buffer.from(signed)).toEqual(sshSigned(MESSAGE))
    expect(verify(null, signed, keyOf(read?.key.spki ?? ''), Buffer.from(read?.signature ?? '', 'base64'))).toBe(true)
  })

  it('is refused under another namespace, with another hash, or cut', () => {
    for (const args of [
      ['-n', 'file'],
      ['-n', 'spanseal-approval', '-O', 'hashalg=sha256'],
    ]) {
      const other = execFileSync('ssh-keygen', ['-q', '-Y', 'sign', ...args, '-f', key], { input: MESSAGE }).toString()
      expect(readSshSignature(other)).toBeNull()
    }
    const body = Buffer.from(armoured.split('\n').slice(1, -2).join(''), 'base64')
    for (let length = 0; length < body.length; length++) {
      const cut = body.subarray(0, length).toString('base64')
      expect(readSshSignature(`-----BEGIN SSH SIGNATURE-----\n${cut}\n-----END SSH SIGNATURE-----\n`)).toBeNull()
    }
  })

  it('is no approver’s key when it is a plain one: an agent could use it', () => {
    expect(() => publicKeyOf(key)).toThrow(/plain ssh-ed25519 key/)
  })
})

it('reads a security key’s public line', () => {
  const field = (bytes: Buffer) => {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(bytes.length)
    return Buffer.concat([head, bytes])
  }
  const type = 'sk-ssh-ed25519@openssh.com'
  const blob = Buffer.concat([Buffer.from(type), Buffer.alloc(32, 9), Buffer.from('ssh:')].map(field))
  const path = join(dir, 'id_ed25519_sk.pub')
  writeFileSync(path, `${type} ${blob.toString('base64')} bob@laptop\n`)
  expect(publicKeyOf(path)).toMatchObject({ kind: 'sk-ssh-ed25519', application: 'ssh:' })
})
