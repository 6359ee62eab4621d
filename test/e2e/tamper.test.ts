// The evidence of a real collector, changed the way somebody with the files could: `spanseal verify` names what was done.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFrames } from '../../collector/store/segments.ts'
import { encodeFrame } from '../../conventions/frame.ts'
import { LOG_START } from '../../conventions/log.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

let base: string
let trust: string
let kept: string

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'spanseal-tamper-'))
  const collector = await new Collector({ root: join(base, 'home') }).start()
  await collector.hook('UserPromptSubmit', event('S1', 'UserPromptSubmit', { prompt: 'hello' }))
  for (let i = 0; i < 6; i++) {
    await collector.hook('PreToolUse', preToolUse('S1', `c${i}`))
    await collector.hook('PostToolUse', postToolUse('S1', `c${i}`))
  }
  await collector.hook('SessionEnd', event('S1', 'SessionEnd'))
  await collector.stop()
  trust = join(base, 'trust')
  writeFileSync(trust, (await cli(collector.root, '--print-trust')).stdout)
  cpSync(collector.root, join(base, 'old'), { recursive: true })
  await collector.start()
  await collector.hook('PreToolUse', preToolUse('S2', 'later'))
  await collector.stop()
  kept = join(base, 'kept')
  writeFileSync(kept, readFileSync(join(collector.root, 'log/checkpoint')))
  const other = await new Collector({ root: join(base, 'other') }).start()
  await other.hook('PreToolUse', preToolUse('S1', 'c0'))
  await other.stop()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function cli(home: string, ...args: string[]): Promise<{ status: number; stdout: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [resolve('dist/spanseal.mjs'), '--home', home, 'verify', ...args], (error, stdout) =>
      done({ status: error === null ? 0 : Number(error.code), stdout }),
    )
  })
}

type Change = (frames: Uint8Array[], home: string) => Uint8Array[]

/** Verifies a copy of the home after `change` was made to its log. */
async function after(change: Change, from = 'home', ...args: string[]): Promise<{ status: number; stdout: string }> {
  const home = mkdtempSync(join(base, 'copy-'))
  cpSync(join(base, from), home, { recursive: true })
  const frames = readFrames(join(home, 'log'), LOG_START, Number.POSITIVE_INFINITY).map(({ payload }) =>
    Uint8Array.from(payload),
  )
  const path = join(home, 'log/00000000.seg')
  writeFileSync(path, Buffer.concat(change(frames, home).map((payload) => encodeFrame(payload, crc32))))
  return cli(home, '--trust', trust, ...args)
}

const without =
  (n: number): Change =>
  (frames) =>
    frames.filter((_, i) => i !== n)
const edited: Change = (frames) =>
  frames.map((frame) =>
    Buffer.from(Buffer.from(frame).toString('latin1').replace('"tool":"Bash"', '"tool":"Cash"'), 'latin1'),
  )
const swapped: Change = (frames) =>
  [...frames.slice(0, 6), frames[7], frames[6], ...frames.slice(8)].filter((frame) => frame !== undefined)
const repeated: Change = (frames) => [...frames, frames[5]].filter((frame) => frame !== undefined)
const foreign: Change = (frames) => {
  const [, , , stranger] = readFrames(join(base, 'other/log'), LOG_START, Number.POSITIVE_INFINITY)
  return [...frames.slice(0, 7), stranger?.payload, ...frames.slice(7)].filter((frame) => frame !== undefined)
}

it('untouched: intact, with every line of the report', async () => {
  const { status, stdout } = await after((frames) => frames)
  expect(status).toBe(0)
  for (const line of [
    'Integrity    INTACT to record',
    'Outside      NOT SEEN OUTSIDE',
    'Custody      Collector ran as the SAME USER',
    'Enforcement  decided 7',
    'Evidence     T1 ',
    'Approvals    ',
    'Content      ',
    'Not proven   ',
  ]) {
    expect(stdout).toContain(line)
  }
  const unpinned = await cli(join(base, 'home'))
  expect(unpinned.stdout).toContain('SELF-CONSISTENT ONLY')
})

it.each<[string, Change, string]>([
  ['an edit', edited, 'record.signature'],
  ['a removal', without(8), 'log.seq_missing'],
  ['a swap', swapped, 'log.seq'],
  ['a repetition', repeated, 'log.seq_duplicate'],
  ['a record of another key', foreign, 'record.key_unknown'],
  ['a cut tail', (frames) => frames.slice(0, -4), 'checkpoint.beyond_log'],
])('%s is named', async (_name, change, code) => {
  const { status, stdout } = await after(change)
  expect(stdout).toContain(code)
  expect(stdout).toContain('Integrity    BROKEN')
  expect(status).toBe(1)
})

it('an old copy in the place of the home is named, when a checkpoint was kept elsewhere', async () => {
  const same = await after((frames) => frames, 'home', '--checkpoint', kept)
  expect(same.status).toBe(0)
  expect(same.stdout).not.toContain('NOT SEEN OUTSIDE')
  const alone = await after((frames) => frames, 'old')
  expect(alone.status).toBe(0)
  const old = await after((frames) => frames, 'old', '--checkpoint', kept)
  expect(old.status).toBe(1)
  expect(old.stdout).toContain('anchor.rollback')
})

it('another log in the place of the home is named', async () => {
  const { status, stdout } = await after((frames) => frames, 'other')
  expect(status).toBe(1)
  expect(stdout).toContain('genesis.mismatch')
})
