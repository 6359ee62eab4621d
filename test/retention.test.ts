// Retention by a clock that the test moves: what goes, what stays, what is said of it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Retention } from '../collector/retention.ts'
import { recordLoaded } from '../collector/startup.ts'
import { verifyHome } from '../collector/verify/index.ts'
import { TestPipeline } from './support/pipeline.ts'

const DAY_MS = 86_400_000

let t: TestPipeline
let cursors: { name: string; next: number }[]
beforeEach(async () => {
  t = await new TestPipeline().start()
  mkdirSync(t.home.run, { mode: 0o700 })
  cursors = []
})
afterEach(() => t.close())

const retention = () =>
  new Retention({ home: t.home, opened: t.log, now: () => t.now, contentCursors: async () => cursors, log: () => {} })

async function keep(days: number | undefined): Promise<void> {
  recordLoaded(t.log, t.gate, undefined, days)
  await t.log.writer.durable()
}

async function session(name: string, prompt: string, ends = true): Promise<void> {
  await t.claim({ event: 'prompt', session: name, turn: 'p1', prompt })
  if (ends) await t.claim({ event: 'session.end', session: name })
}

const vault = () =>
  ['00000000.seg', '00000001.seg', '00000002.seg']
    .map((name) => `${t.home.vault}/${name}`)
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'latin1'))
    .join('')

it('takes away what is older, once, and keeps what is younger or of a run that is open', async () => {
  await keep(30)
  await keep(30)
  expect(t.of('retention.set')).toHaveLength(1)
  await session('old', 'an old sentence')
  await session('open', 'a sentence of an open run', false)
  t.now += 10 * DAY_MS
  await session('young', 'a young sentence')
  t.now += 25 * DAY_MS
  const keeper = retention()
  await keeper.tick()
  expect(vault()).not.toContain('an old sentence')
  expect(vault()).toContain('a sentence of an open run')
  expect(vault()).toContain('a young sentence')
  expect(t.of('content.expired')).toMatchObject([
    { source: { kind: 'collector' }, body: { scope: 'before', reason: 'retention' } },
  ])
  await keeper.tick()
  await retention().tick()
  expect(t.of('content.expired')).toHaveLength(1)

  await t.claim({ event: 'session.end', session: 'open' })
  t.now += 40 * DAY_MS
  await session('new', 'a new sentence')
  await keeper.tick()
  expect(vault()).not.toContain('a sentence of an open run')
  expect(vault()).not.toContain('a young sentence')
  expect(vault()).toContain('a new sentence')
  const report = await verifyHome({ root: t.home.root })
  expect(report.findings.map(({ code }) => code)).not.toContain('content.expired_early')
  expect(report.findings.map(({ code }) => code)).not.toContain('content.missing')
  expect(report.content).toMatchObject({ missing: 0, mismatched: 0 })
})

it('takes nothing away where none is set, or it was switched off again', async () => {
  await session('old', 'an old sentence')
  t.now += 400 * DAY_MS
  await session('now', 'x')
  await retention().tick()
  await keep(30)
  await keep(undefined)
  expect(t.of('retention.set').map(({ body }) => body.content_days)).toEqual([30, null])
  await retention().tick()
  expect(vault()).toContain('an old sentence')
  expect(t.of('content.expired')).toEqual([])
})

it('says which destinations had not got the content, before it is gone', async () => {
  await keep(30)
  await session('old', 'an old sentence')
  t.now += 40 * DAY_MS
  await session('now', 'x')
  cursors = [
    { name: 'slow', next: 2 },
    { name: 'quick', next: 1000 },
  ]
  await retention().tick()
  expect(vault()).not.toContain('an old sentence')
  const [gap, ...more] = t.of('gap')
  expect(more).toEqual([])
  expect(gap?.body).toMatchObject({ kind: 'content_not_forwarded', destination: 'slow' })
  const expired = t.of('content.expired')[0]
  expect(gap?.log.seq).toBeLessThan(expired?.log.seq ?? 0)
  const before = expired?.body.scope === 'before' ? expired.body.before_seq : 0
  expect(gap?.body.count).toBe(before - 2)
})

it('says nothing of a destination that had all of what goes', async () => {
  await session('S', 'an old sentence')
  const run = t.of('run.opened')[0]?.run?.id ?? ''
  const next = (t.of('prompt.submitted')[0]?.log.seq ?? 0) + 1
  await session('T', 'another sentence')
  cursors = [{ name: 'there', next }]
  await retention().purge({ scope: 'run', run })
  expect(t.of('gap')).toEqual([])
  cursors = [{ name: 'not-yet', next: next - 1 }]
  await retention().purge({ scope: 'run', run })
  expect(t.of('gap')).toMatchObject([{ body: { kind: 'content_not_forwarded', count: 1, destination: 'not-yet' } }])
})

it('a start ends what a crash interrupted, and says when it can’t know what that was', async () => {
  await session('S', 'an old sentence')
  const run = t.of('run.opened')[0]?.run?.id ?? ''
  writeFileSync(t.home.erasure, JSON.stringify({ purge: { scope: 'run', run }, reason: 'purge' }))
  await t.reopen()
  expect(vault()).toContain('an old sentence')
  await retention().resume()
  expect(vault()).not.toContain('an old sentence')
  expect(existsSync(t.home.erasure)).toBe(false)
  expect(t.of('content.expired')).toMatchObject([{ source: { kind: 'person' }, body: { scope: 'run', run } }])

  writeFileSync(t.home.erasure, '{"purge":')
  const lines: string[] = []
  await new Retention({
    home: t.home,
    opened: t.log,
    now: () => t.now,
    contentCursors: async () => [],
    log: (line) => lines.push(line),
  }).resume()
  expect(lines[0]).toContain("can't be read")
  expect(existsSync(t.home.erasure)).toBe(false)
})

it('tries again an hour after it failed', async () => {
  await keep(30)
  await session('old', 'an old sentence')
  t.now += 40 * DAY_MS
  await session('now', 'x')
  const keeper = retention()
  rmSync(t.home.run, { recursive: true })
  await expect(keeper.tick()).rejects.toThrow('ENOENT')
  await keeper.tick()
  mkdirSync(t.home.run, { mode: 0o700 })
  t.now += DAY_MS / 24
  await keeper.tick()
  expect(vault()).not.toContain('an old sentence')
})

it('another purge first ends one that failed, and does not take its place', async () => {
  await session('S', 'an old sentence')
  await session('T', 'another sentence')
  const [first, second] = t.of('run.opened').map(({ run }) => run?.id ?? '')
  writeFileSync(t.home.erasure, JSON.stringify({ purge: { scope: 'run', run: first }, reason: 'purge' }))
  expect(await retention().purge({ scope: 'run', run: second ?? '' })).toMatchObject({ ok: true })
  expect(vault()).not.toContain('an old sentence')
  expect(vault()).not.toContain('another sentence')
  expect(existsSync(t.home.erasure)).toBe(false)
})

it('writes on into a new segment, and a start reads over what was erased', async () => {
  await session('S', 'an old sentence')
  const run = t.of('run.opened')[0]?.run?.id ?? ''
  expect(await retention().purge({ scope: 'run', run })).toMatchObject({ ok: true, erased: { damaged: [] } })
  await session('T', 'a later sentence')
  expect(readFileSync(`${t.home.vault}/00000001.seg`, 'latin1')).toContain('a later sentence')
  await t.reopen()
  await session('U', 'the last sentence')
  const report = await verifyHome({ root: t.home.root })
  expect(report.findings.filter(({ severity }) => severity === 'broken')).toEqual([])
  expect(report.content).toMatchObject({ missing: 0, mismatched: 0 })
})
