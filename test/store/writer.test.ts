// The writer: order of calls is order of the log, nothing is told to be durable that is not, a failed disk ends everything.
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLog } from '../../collector/open-log.ts'
import { Tree } from '../../collector/sign/tree.ts'
import { SegmentWriter } from '../../collector/store/segment-writer.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { Writer } from '../../collector/store/writer.ts'
import { decodeVaultPayload, encodeFrame } from '../../conventions/frame.ts'
import { LOG_START } from '../../conventions/log.ts'
import { TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline().start()
})
afterEach(() => t.close())

const segment = (dir: string) => join(dir, '00000000.seg')
const prompts = (n: number) =>
  Promise.all(
    Array.from({ length: n }, (_, i) =>
      t.claim({ event: 'prompt', session: `S${i % 7}`, turn: `p${i}`, prompt: `prompt ${i}` }),
    ),
  )

describe('order and durability', () => {
  it('keeps the order in which calls came, in groups', async () => {
    await prompts(100)
    const order = t.records().flatMap((record) => (record.type === 'prompt.submitted' ? [record.body.turn] : []))
    expect(order).toEqual(Array.from({ length: 100 }, (_, i) => `p${i}`))
  })

  it('has on disk what it said is durable', async () => {
    await prompts(5)
    const before = t.records().length
    const frames = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY)
    expect(frames).toHaveLength(before)
    expect(t.log.writer.durableSize).toBe(before)
  })

  it('keeps content only in the vault', async () => {
    await t.claim({ event: 'prompt', turn: 'p1', prompt: 'a very private sentence' })
    expect(readFileSync(segment(t.home.log), 'latin1')).not.toContain('private sentence')
    expect(readFileSync(segment(t.home.vault), 'latin1')).toContain('private sentence')
  })

  it('never lets time go back, and says when the clock did', async () => {
    await prompts(1)
    t.now -= 60_000
    await prompts(2)
    const records = t.records()
    const times = records.map(({ time }) => time)
    expect(times).toEqual([...times].sort())
    expect(records.some(({ type }) => type === 'clock.stepped')).toBe(true)
  })
})

describe('a disk that fails', () => {
  it('refuses everyone who waited and everything after', async () => {
    const broken = new SegmentWriter('/dev/full/nowhere', LOG_START, true)
    await expect(broken.append([[Buffer.from('x')]])).rejects.toThrow()
    await expect(broken.append([[Buffer.from('x')]])).rejects.toThrow()
  })
})

describe('recovery', () => {
  it('cuts a torn last frame nobody was told about, and goes on', async () => {
    await prompts(3)
    const whole = t.records().length
    await t.log.close()
    appendFileSync(segment(t.home.log), Buffer.from([200, 1, 0, 0, 9, 9, 9, 9, 1, 2, 3]))
    await t.reopenClosed()
    expect(t.records().filter(({ type }) => type === 'prompt.submitted')).toHaveLength(3)
    expect(t.records().length).toBeGreaterThan(whole)
  })

  it('cuts vault frames of records that never became durable', async () => {
    await prompts(2)
    await t.log.close()
    const log = segment(t.home.log)
    for (const path of [t.home.checkpoint, t.home.checkpoints]) rmSync(path, { force: true })
    const last = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY).at(-1)
    truncateSync(log, last?.at.offset)
    const seq = t.log.state.runs.size === 0 ? 0 : t.log.writer.durableSize - 1
    const orphans = () =>
      readFrames(t.home.vault, LOG_START, Number.POSITIVE_INFINITY)
        .map(({ payload }) => decodeVaultPayload(payload)?.head)
        .filter((head) => head !== undefined && head.seq >= seq)
    expect(orphans().map((head) => head?.name)).toEqual(['prompt'])
    // What the restart itself records has no content.
    await t.reopenClosed()
    expect(orphans()).toEqual([])
    await prompts(1)
  })

  it('takes a segment that was just begun for the torn write it is', async () => {
    await prompts(3)
    await t.log.close()
    const before = readFileSync(segment(t.home.log))
    for (const start of [Buffer.alloc(0), Buffer.from([9, 0, 0, 0, 1]), Buffer.alloc(100)]) {
      writeFileSync(join(t.home.log, '00000001.seg'), start)
      await t.reopenClosed()
      await t.log.close()
      expect(readFileSync(segment(t.home.log)).subarray(0, before.length)).toEqual(before)
    }
    await t.reopenClosed()
  })

  it('keeps what follows a damaged frame of the vault', async () => {
    await prompts(20)
    await t.log.close()
    const path = segment(t.home.vault)
    const whole = readFileSync(path)
    const frames = readFrames(t.home.vault, LOG_START, Number.POSITIVE_INFINITY)
    // Its length, its checksum, its head, its content.
    for (const inside of [1, 5, 12, 150]) {
      const bytes = Buffer.from(readFileSync(path))
      const at = (frames[3]?.at.offset ?? 0) + inside
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      writeFileSync(path, bytes)
      await t.reopenClosed()
      await t.log.close()
      expect(readFileSync(path).subarray(0, whole.length).equals(bytes.subarray(0, whole.length))).toBe(true)
    }
    await t.reopenClosed()
  })

  it('refuses to continue when a checkpoint knows more than the log holds', async () => {
    await prompts(3)
    t.log.checkpoints.now()
    await t.log.close()
    const frames = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY)
    truncateSync(segment(t.home.log), frames[2]?.at.offset)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(
      /its end is missing/,
    )
  })

  it('refuses to continue over a damaged frame that others follow', async () => {
    await prompts(3)
    await t.log.close()
    const path = segment(t.home.log)
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200)
    writeFileSync(path, bytes)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(
      /spanseal verify/,
    )
    expect(readFileSync(path).length).toBe(bytes.length)
  })

  it('cuts a group with a hole, and says so, unless something outside knows more records', async () => {
    await prompts(3)
    await t.log.close()
    const path = segment(t.home.log)
    const before = readFileSync(path).length
    const saved = [t.home.checkpoint, t.home.checkpoints].map((file) => [file, readFileSync(file)] as const)
    await t.reopenClosed()
    // One group of at least six records.
    await prompts(6)
    await t.log.close()
    const bytes = readFileSync(path)
    const frames = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY)
    const group = frames.slice(-6)
    expect(group.map(({ at }) => bytes.readUInt8(at.offset + 3) & 0x7f)).toEqual([0, 1, 2, 3, 4, 5])
    const hole = Buffer.from(bytes)
    hole.fill(0, group[1]?.at.offset, (group[1]?.at.offset ?? 0) + 100)
    writeFileSync(path, hole)
    const open = () => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })

    // The checkpoint that was signed when it closed; one that only the list has; a cursor; roots that may have left.
    expect(open).toThrow(/its end is missing/)
    rmSync(t.home.checkpoint)
    expect(open).toThrow(/checkpoints.jsonl knows/)
    for (const [file, content] of saved) writeFileSync(file, content)
    mkdirSync(t.home.forward, { recursive: true })
    for (const cursor of [{ next_seq: frames.length }, { next_seq: 1, in_flight: { end_seq: frames.length } }]) {
      writeFileSync(`${t.home.forward}/stub.json`, JSON.stringify(cursor))
      expect(open).toThrow(/stub.json knows/)
    }
    rmSync(`${t.home.forward}/stub.json`)
    expect(readFileSync(path).equals(hole)).toBe(true)

    const opened = open()
    expect(opened.cut).toBe(bytes.length - (group[1]?.at.offset ?? 0))
    expect(opened.writer.durableSize).toBe(frames.length - 5)
    expect(readFileSync(path).length).toBeGreaterThan(before)
    await opened.close()
    await t.reopenClosed()
  })

  it('refuses when a hole takes more than the last group, however little', async () => {
    await prompts(2)
    await prompts(3)
    await t.log.close()
    for (const file of [t.home.checkpoint, t.home.checkpoints]) rmSync(file)
    const path = segment(t.home.log)
    const bytes = readFileSync(path)
    const frames = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY)
    const [last, first] = [frames.at(-4), frames.at(-3)]
    bytes.fill(0, (last?.next.offset ?? 0) - 1, (first?.at.offset ?? 0) + 20)
    writeFileSync(path, bytes)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(
      /damaged at byte/,
    )
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it.each([0, 1, 3])('refuses a log in which record %i from the start is another, whose checksum fits', async (at) => {
    await prompts(3)
    await t.log.close()
    const path = segment(t.home.log)
    const frame = readFrames(t.home.log, LOG_START, Number.POSITIVE_INFINITY)[at]
    const bytes = readFileSync(path)
    const payload = Buffer.from(frame?.payload ?? [])
    payload.write('2001', payload.indexOf('"time":"') + 8)
    const place = bytes.readUInt8((frame?.at.offset ?? 0) + 3) & 0x7f
    bytes.set(encodeFrame(payload, crc32, place), frame?.at.offset)
    // Half a frame at the end: refusing comes before repair.
    const changed = Buffer.concat([bytes, Buffer.from([200, 1, 0, 0, 9])])
    writeFileSync(path, changed)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(
      /does not follow from the records before it/,
    )
    expect(readFileSync(path).equals(changed)).toBe(true)
  })

  it('refuses keys and homes that others could read', async () => {
    await t.log.close()
    chmodSync(t.home.recordKey, 0o644)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(/chmod 600/)
    chmodSync(t.home.recordKey, 0o600)
    chmodSync(t.home.root, 0o755)
    expect(() => openLog({ home: t.home, now: Date.now, onDurable: () => {}, onFault: () => {} })).toThrow(/chmod 700/)
    chmodSync(t.home.root, 0o700)
  })

  it('leaves no temporary files behind', async () => {
    await prompts(1)
    await t.log.close()
    for (const dir of [t.home.root, t.home.keys, t.home.log])
      expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([])
  })
})

it('writes content before the records that commit to it: where content can not be kept, no record is', async () => {
  const order: string[] = []
  // Stand-ins for two disks, one of which fails.
  const disk = (name: string, fails: boolean) =>
    ({
      append: async () => {
        order.push(name)
        if (fails) throw new Error(`${name} is full`)
        return LOG_START
      },
    }) as unknown as SegmentWriter
  const build = (vaultFails: boolean) =>
    new Writer({
      logId: '0'.repeat(32),
      log: disk('log', false),
      vault: disk('vault', vaultFails),
      signing: {
        signer: () => ({ kid: '', kidBytes: new Uint8Array(32), sign: () => new Uint8Array(64) }),
        leaf: () => new Uint8Array(32),
        commit: ({ name, bytes }) => ({ name, commitment: '', salt: new Uint8Array(32), kept: bytes }),
      },
      head: new Tree(),
      now: Date.now,
      lastTime: 0,
      runHead: () => ({ seq: 0, prev: null }),
      onRecord: () => {},
      onDurable: () => {},
    })
  const draft = { type: 'clock.stepped', source: { kind: 'collector' }, body: { ms: 1 } } as const
  const good = build(false)
  good.append(draft)
  await good.durable()
  expect(order).toEqual(['vault', 'log'])
  order.length = 0
  const bad = build(true)
  bad.append(draft)
  await expect(bad.durable()).rejects.toThrow('vault is full')
  expect(order).toEqual(['vault'])
  expect(() => bad.append(draft)).toThrow('vault is full')
})
