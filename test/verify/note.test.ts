// Notes, verifier keys and checkpoint bodies: the published cases.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
  verifyNote,
} from '../../collector/verify/note.ts'
import { keyOfSeed, signNote, vkeyOf } from './support.ts'

const read = (name: string) => JSON.parse(readFileSync(`${import.meta.dirname}/../fixtures/tlog/c2sp/${name}`, 'utf8'))

interface NoteCase {
  name: string
  note: string
  vkeys: string[]
  expect: 'verifies' | 'parses' | 'rejects'
  checkpoint?: { origin: string; size: string; root: string }
  cosignature_time?: string
}

describe('signed notes', () => {
  const cases: NoteCase[] = read('notes.json')

  it('are all there', () => expect(cases).toHaveLength(22))

  for (const { name, note: text, vkeys, expect: expected, checkpoint, cosignature_time } of cases) {
    it(`${name} ${expected}`, () => {
      const note = parseNote(text)
      const keys = vkeys.map(parseVerifierKey).filter((key): key is VerifierKey => key !== null)
      expect(keys).toHaveLength(vkeys.length)
      const check = note === null ? null : verifyNote(note, keys)
      if (expected === 'verifies') expect(check?.ok).toBe(true)
      if (expected === 'parses') expect(note).not.toBeNull()
      if (expected === 'rejects') expect(check?.ok ?? false).toBe(false)
      if (checkpoint !== undefined) {
        const parsed = parseCheckpoint(note?.text ?? '')
        expect(parsed?.origin).toBe(checkpoint.origin)
        expect(String(parsed?.size)).toBe(checkpoint.size)
        expect(Buffer.from(parsed?.root ?? []).toString('base64')).toBe(checkpoint.root)
      }
      if (cosignature_time !== undefined && expected === 'verifies' && check?.ok) {
        expect(String(check.signers.find(({ time }) => time !== undefined)?.time)).toBe(cosignature_time)
      }
    })
  }

  it('refuses a note in which one known key of two is wrong, and passes over unknown ones', () => {
    const [one, two] = [keyOfSeed(1), keyOfSeed(2)]
    const keys = [vkeyOf('log', one), vkeyOf('log', two)]
      .map(parseVerifierKey)
      .filter((key): key is VerifierKey => key !== null)
    const signed = signNote('log', 1, Buffer.alloc(32, 1), one)
    const other = signNote('log', 2, Buffer.alloc(32, 1), two)
    const mixed = parseNote(`${signed}${other.slice(other.lastIndexOf('\n—') + 1)}`)
    if (mixed === null) throw new Error('the note of the test is malformed')
    expect(verifyNote(mixed, keys).ok).toBe(false)
    expect(verifyNote(mixed, keys.slice(0, 1)).ok).toBe(true)
  })
})

describe('verifier keys', () => {
  const cases: { vkey: string; valid: boolean; type?: number }[] = read('vkeys.json').cases

  it('accepts and refuses all 13 as they say', () => {
    expect(cases).toHaveLength(13)
    for (const { vkey, valid, type } of cases) {
      const key = parseVerifierKey(vkey)
      expect(key !== null, vkey.slice(0, 60)).toBe(valid)
      if (valid) expect(key?.type).toBe(type)
    }
  })
})

describe('checkpoint bodies', () => {
  const cases: { desc: string; text: string; valid: boolean }[] = read('checkpoint-bodies.json').cases

  it('accepts and refuses all 15 as they say', () => {
    expect(cases).toHaveLength(15)
    for (const { desc, text, valid } of cases) expect(parseCheckpoint(text) !== null, desc).toBe(valid)
  })
})
