// The power goes at any moment: what was answered is there, the log verifies, the gate works, and what left the machine is in the log.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Span } from '../../../conventions/otlp.ts'
import { Backend } from '../../support/backend.ts'
import { Collector, preToolUse } from '../../support/collector.ts'
import { type Event, inWords } from './disk.ts'
import { Random } from './random.ts'
import { sentBefore, smallSegments, Workload } from './workload.ts'

/** Power cuts at random moments in one run; the long run of CI asks for more. */
const CUTS = Number(process.env.SPANSEAL_TEST_POWER_CUTS ?? 5)
/** Cuts at each moment that is named; the long run does more. */
const ROUNDS = Math.ceil(CUTS / 20)
/** Repeats the choices of a run; moments differ, since processes run as they please. */
const SEED = Number(process.env.SPANSEAL_TEST_POWER_SEED ?? Date.now() % 1_000_000)

let small: string
let backend: Backend
let workload: Workload
let events: Event[]
let index: string

beforeAll(async () => {
  small = smallSegments()
  backend = await new Backend().start()
  const config = `version: 1\notlp: {port: 0}\nforward:\n  - {name: stub, url: '${backend.url}'}\n`
  workload = new Workload('first', { config, bundle: small })
  const { collector } = workload
  // Killed under load and started again before the power goes: what the first one left unsynced is the second one's to sync.
  await collector.start()
  await workload.run(8, 100, () => collector.kill())
  await collector.start()
  await workload.run(8, 60, () => collector.stop())
  events = workload.disk.events()
  // Without these the journal has missed how the collector answers or sends, and nothing below would be asked of it.
  expect(workload.answeredBefore(events, events.length).length).toBeGreaterThan(0)
  expect(sentBefore(events, events.length).length).toBeGreaterThan(0)
  index = mkdtempSync(join(tmpdir(), 'spanseal-power-index-'))
  for (const name of ['spanseal.duckdb', 'spanseal.duckdb.wal']) {
    if (existsSync(`${collector.root}/${name}`)) copyFileSync(`${collector.root}/${name}`, `${index}/${name}`)
  }
})

afterAll(async () => {
  await workload?.remove()
  await backend?.stop()
  if (index !== undefined) rmSync(index, { recursive: true, force: true })
})

/** Everything that must hold of what a power cut left. Returns the number of records. */
async function survives(
  root: string,
  answered: readonly string[],
  sent: readonly Span[],
  bundle?: string,
): Promise<void> {
  const collector = new Collector({ root, keepConfig: true, ...(bundle === undefined ? {} : { bundle }) })
  try {
    if (collector.records().length > 0) {
      const findings = brokenIn(await collector.verify())
      // The first record is there, its checkpoint is not: then nobody was answered yet, and the start makes one.
      const fresh = answered.length === 0 && !existsSync(`${root}/log/checkpoint`)
      expect(
        findings.filter(({ code }) => !(fresh && code === 'checkpoint.none')),
        'before the start',
      ).toEqual([])
    }
    await collector.start()
    const ids = new Set(
      collector.records().flatMap((record) => {
        if (record.type === 'tool.decided') return [record.call?.id ?? '']
        return record.type === 'tool.completed' && record.body.status === 'ok' ? [`${record.call?.id}/done`] : []
      }),
    )
    expect(
      answered.filter((tag) => tag !== 'other' && !ids.has(tag)),
      'answered and lost',
    ).toEqual([])
    const records = collector.records()
    const beyond = sent.filter(
      (span) => records[Number(number(span, 'spanseal.seq'))]?.trace?.trace_id !== span.traceId,
    )
    expect(beyond, 'sent and not in the log').toEqual([])
    expect((await collector.hook('PreToolUse', preToolUse('after', 'after-1'))).body).toBe('spanseal/1 pass\n')
    expect((await collector.hook('PreToolUse', preToolUse('after', 'after-2', 'rm -rf /'))).body).toMatch(
      /^spanseal\/1 block/,
    )
    await collector.stop()
    const report = await collector.verify()
    expect(brokenIn(report), 'after the start').toEqual([])
    expect(report).toMatchObject({
      status: 'intact',
      torn_end: false,
      content: { missing: 0, mismatched: 0, later: 0 },
    })
  } finally {
    await collector.kill()
  }
}

type Report = Awaited<ReturnType<Collector['verify']>>
const brokenIn = ({ findings }: Report) => findings.filter(({ severity }) => severity === 'broken')
const number = (span: Span, key: string) => {
  const value = span.attributes?.find((attribute) => attribute.key === key)?.value
  return value !== undefined && 'intValue' in value ? value.intValue : undefined
}

/** Cuts the power after `cut` events, sometimes once more while the next collector repairs or works. */
async function powerCut(name: string, cut: number, random: Random): Promise<void> {
  const answered = workload.answeredBefore(events, cut)
  const sent = sentBefore(events, cut)
  const image = workload.disk.image(events, cut, random)
  const images = [image]
  try {
    if (random.chance(0.6)) copyFileSync(`${index}/spanseal.duckdb`, `${image}/spanseal.duckdb`)
    const bundle = random.chance(0.5) ? small : undefined
    if (random.chance(0.6)) await survives(image, answered, sent, bundle)
    else await twice(images, answered, sent, random, bundle)
  } catch (error) {
    const where = `${name}, after ${cut} of ${events.length} events, seed ${SEED}, images ${images.join(' ')}`
    throw new Error(`power cut ${where}: ${String(error)}`, { cause: error })
  }
  // Those of a failure stay, to be looked at.
  for (const root of images) rmSync(root, { recursive: true, force: true })
}

it(`holds after ${CUTS} power cuts at random moments`, { timeout: 30 * 60_000 }, async () => {
  const random = new Random(SEED)
  for (let round = 0; round < CUTS; round++) await powerCut(`${round}`, random.below(events.length + 1), random)
})

/** Cuts it once more while the next collector repairs or works; the second image joins the first. */
async function twice(
  images: string[],
  answered: readonly string[],
  sent: readonly Span[],
  random: Random,
  bundle: string | undefined,
): Promise<void> {
  const second = new Workload('second', { root: images[0] ?? '', keepConfig: true, bundle: small })
  try {
    await second.collector.start()
    await second.run(4, random.below(12), () => second.collector.kill())
    const more = second.disk.events()
    const firstAnswer = more.findIndex(({ op }) => op === 'answer')
    const cut = random.below((random.chance(0.5) && firstAnswer > 0 ? firstAnswer : more.length) + 1)
    const left = second.disk.image(more, cut, random)
    images.push(left)
    const all = [...answered, ...second.answeredBefore(more, cut)]
    await survives(left, all, [...sent, ...sentBefore(more, cut)], bundle)
  } finally {
    await second.remove()
  }
}

/** Right after an event that reads like this, one at random; `next`: and before the one that reads so. */
const MOMENTS: readonly [string, RegExp, RegExp?][] = [
  ['content is on disk, its records are not written', /^done sync vault\//, /^write log\//],
  ['records are written and not synced', /^write log\//],
  ['records are synced and nobody was told', /^done sync log\//],
  ['somebody was told', /^answer$/],
  ['a segment of the log was begun and has no name yet', /^create log\/0/],
  ['a segment of the vault was begun and has no name yet', /^create vault\/0/],
  ['a checkpoint is in the list and not yet the newest', /^write log\/checkpoints.jsonl/],
  ['a checkpoint was renamed and its folder not synced', /^rename log\/checkpoint$/],
  ['a forwarding cursor is written', /^(write|rename) forward\//],
  ['keys are made', /^(create|write|link|unlink) keys\//],
  ['folders are made', /^mkdir /],
]

it.each(MOMENTS)('holds when %s', async (name, after, next) => {
  const words = inWords(workload.collector.root, events)
  const cuts = words.flatMap((word, i) => (after.test(word) && (next?.test(words[i + 1] ?? '') ?? true) ? [i + 1] : []))
  const random = new Random(SEED)
  for (let round = 0; round < ROUNDS; round++) await powerCut(name, random.pick(cuts as [number, ...number[]]), random)
})

it('makes durable what a killed collector left, content first, before it writes anything', () => {
  const words = inWords(workload.collector.root, events)
  const second = words.slice(words.lastIndexOf('start'))
  const before = second.slice(
    0,
    second.findIndex((word) => /^write (log|vault|forward)\//.test(word)),
  )
  const synced = before.filter((word) => /^done sync/.test(word)).map((word) => word.replace(/\d{8}/, 'N'))
  // A cut is synced before, too.
  const once = synced.filter((word, i) => word !== synced[i - 1])
  expect(once.filter((word) => /N.seg|syncdir (log|vault)$/.test(word)).slice(-4)).toEqual([
    'done sync vault/N.seg',
    'done syncdir vault',
    'done sync log/N.seg',
    'done syncdir log',
  ])
  expect(synced).toContain('done syncdir home')
})
