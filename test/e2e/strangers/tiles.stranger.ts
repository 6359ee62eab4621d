// The log of a live collector, read by the transparency-log libraries of the Go project and transparency-dev while it is written.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryOf } from '../../../collector/store/log-files.ts'
import { readFrames } from '../../../collector/store/segments.ts'
import { canonicalBytes } from '../../../conventions/jcs.ts'
import { LOG_START } from '../../../conventions/log.ts'
import { CLI } from '../../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../../support/collector.ts'
import { type Answer, runProgram } from './program.ts'

const TILES = resolve('.cache/strangers/tiles')
let base: string
let collector: Collector
let vkey: string

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'spanseal-stranger-'))
  collector = await new Collector({ root: join(base, 'home') }).start()
  await collector.hook('UserPromptSubmit', event('S0', 'UserPromptSubmit', { prompt: 'hello' }))
  await collector.admin('POST', '/checkpoint')
  const [first] = collector.records()
  vkey = first?.type === 'log.opened' ? first.body.log_key : ''
})
afterAll(async () => {
  await collector.remove()
  rmSync(base, { recursive: true, force: true })
})

const read = (folder: string, ...more: string[]): Promise<Answer> => runProgram(TILES, [folder, vkey, ...more])
const log = () => join(collector.root, 'log')

/** Calls in eight sessions at once; every few of them somebody asks for a checkpoint. */
async function work(calls: number, name: string): Promise<void> {
  await Promise.all(
    Array.from({ length: 8 }, async (_, session) => {
      for (let i = 0; i < calls / 8; i++) {
        await collector.hook('PreToolUse', preToolUse(`S${session}`, `${name}${session}-${i}`))
        await collector.hook('PostToolUse', postToolUse(`S${session}`, `${name}${session}-${i}`))
        if (i % 5 === 0) await collector.admin('POST', '/checkpoint')
      }
    }),
  )
}

describe('a client of C2SP tlog-tiles', () => {
  it('reads the log of a collector that is writing it', async () => {
    const older: string[] = []
    let working = true
    const busy = work(320, 'a').finally(() => {
      working = false
    })
    let sizes = 0
    while (working) {
      const path = join(base, `older-${older.length}`)
      writeFileSync(path, readFileSync(join(log(), 'checkpoint')))
      older.push(path)
      const { status, stderr } = await read(log(), ...older.flatMap((file) => ['--older', file]))
      expect(stderr).toBe('')
      expect(status).toBe(0)
      sizes++
    }
    await busy
    expect(sizes).toBeGreaterThan(1)
    expect(statSync(join(log(), 'tile/0/001')).size).toBe(256 * 32)
  })

  it('reads it after the collector was killed and started again, and finds one history', async () => {
    const before = join(base, 'before')
    writeFileSync(before, readFileSync(join(log(), 'checkpoint')))
    const full = readFileSync(join(log(), 'tile/entries/000'))
    const working = work(64, 'b').catch(() => {})
    await collector.kill()
    await working
    await collector.start()
    await work(16, 'c')
    await collector.admin('POST', '/checkpoint')
    const all = readFileSync(join(log(), 'checkpoints.jsonl'), 'utf8').trim().split('\n')
    const older = all.flatMap((line, i) => {
      const path = join(base, `all-${i}`)
      writeFileSync(path, JSON.parse(line))
      return ['--older', path]
    })
    const { status, stdout, stderr } = await read(log(), '--older', before, ...older)
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout).toContain(`${all.length + 1} older checkpoints`)
    expect(readFileSync(join(log(), 'tile/entries/000')).equals(full)).toBe(true)
  })

  it('proves single records by what export --leaf writes', async () => {
    const frames = readFrames(log(), LOG_START, Number.POSITIVE_INFINITY)
    const proofs: string[] = []
    for (const seq of [0, 1, 255, 256, frames.length - 1]) {
      const frame = frames[seq]
      if (frame === undefined) throw new Error(`no record ${seq}`)
      const entry = entryOf(frame)
      const [proof, record] = [join(base, `${seq}.tlog-proof`), join(base, `${seq}.record`)]
      writeFileSync(record, entry.bytes)
      const args = [CLI, '--home', collector.root, 'export', '--leaf', entry.leaf, '-o', proof]
      const made = await runProgram(process.execPath, args)
      expect(made.stderr).toContain(`record ${seq} under the checkpoint`)
      proofs.push('--proof', proof, record)
    }
    const { status, stdout, stderr } = await read(log(), ...proofs)
    expect(stderr).toBe('')
    expect(stdout).toContain('5 proofs')
    expect(status).toBe(0)
    const other = join(base, 'other.record')
    writeFileSync(other, canonicalBytes({ v: 1 }))
    expect((await read(log(), '--proof', proofs[1] ?? '', other)).status).toBe(1)
  })

  it.each<[string, (folder: string) => void]>([
    ['a changed entry', (folder) => change(join(folder, 'tile/entries/000'), 700)],
    ['a changed leaf', (folder) => change(join(folder, 'tile/0/000'), 32 * 7)],
    ['a changed checkpoint', (folder) => change(join(folder, 'checkpoint'), 60)],
    ['an entry more', (folder) => appendFileSync(join(folder, 'tile/entries/000'), Buffer.from([0, 1, 65]))],
    ['a missing tile', (folder) => rmSync(join(folder, 'tile/entries/001'))],
  ])('is not content with %s', async (name, damage) => {
    const folder = join(base, name)
    cpSync(log(), folder, { recursive: true })
    expect((await read(folder)).status).toBe(0)
    damage(folder)
    // What lies behind the last entry of a full bundle concerns nobody.
    expect((await read(folder)).status).toBe(name === 'an entry more' ? 0 : 1)
  })

  it('reads the golden log and the one of other software', async () => {
    for (const [folder, key] of [
      ['golden/home/log', readFileSync('test/fixtures/golden/trust', 'utf8').split('\n')[1]?.split(' ')[1] ?? ''],
      ['tlog/tessera-log', readFileSync('test/fixtures/tlog/tessera-log/log.vkey', 'utf8').trim()],
    ] as const) {
      expect(await runProgram(TILES, [resolve('test/fixtures', folder), key])).toMatchObject({ status: 0, stderr: '' })
    }
  })
})

function change(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
