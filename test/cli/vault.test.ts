// Content is read at the place an index names; the frame there must say itself that it is that content.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readContent } from '../../collector/cli/vault.ts'
import { encodeFrame, encodeVaultPayload, segmentName } from '../../conventions/frame.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'spanseal-vault-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const frame = (seq: number, name: string, text: string) =>
  encodeFrame(encodeVaultPayload({ head: { seq, name, salt: '00'.repeat(32) }, content: Buffer.from(text) }), crc32)
const place = { seq: 7, name: 'args', segment: 0, offset: 0, dropped: false }

test('the content at its place, also behind others', () => {
  const first = frame(6, 'prompt', 'other')
  writeFileSync(`${dir}/${segmentName(0)}`, first)
  appendFileSync(`${dir}/${segmentName(0)}`, frame(7, 'args', 'Grüße'))
  expect(readContent(dir, { ...place, offset: first.length })).toEqual({ kind: 'text', text: 'Grüße' })
})

test('a place that holds anything else gives nothing', () => {
  const bytes = frame(7, 'args', 'mine')
  writeFileSync(`${dir}/${segmentName(0)}`, bytes)
  const gone = { kind: 'gone' }
  expect(readContent(dir, { ...place, seq: 8 })).toEqual(gone)
  expect(readContent(dir, { ...place, name: 'result' })).toEqual(gone)
  expect(readContent(dir, { ...place, offset: 1 })).toEqual(gone)
  expect(readContent(dir, { ...place, offset: bytes.length })).toEqual(gone)
  expect(readContent(dir, { ...place, segment: 3 })).toEqual(gone)
  writeFileSync(`${dir}/${segmentName(0)}`, bytes.subarray(0, -1))
  expect(readContent(dir, place)).toEqual(gone)
  bytes[bytes.length - 1] = 0
  writeFileSync(`${dir}/${segmentName(0)}`, bytes)
  expect(readContent(dir, place)).toEqual(gone)
})

test('content that was not kept is not looked for', () => {
  expect(readContent(dir, { ...place, dropped: true })).toEqual({ kind: 'dropped' })
})
