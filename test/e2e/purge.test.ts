// Purging in a real collector: the words are in no file of the home any more, records and proofs stay, an interruption is made good.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

const made: Collector[] = []
afterEach(async () => {
  for (const collector of made.splice(0)) await collector.remove()
})

async function started(config?: string): Promise<Collector> {
  const collector = new Collector(config === undefined ? {} : { config })
  made.push(collector)
  return collector.start()
}

const cli = (collector: Collector, ...args: string[]) => runCli(['--home', collector.root, ...args])

/** A session with `word` in a prompt, a command and a result. */
async function session(collector: Collector, name: string, word: string, ends = true): Promise<void> {
  const prompt = event(name, 'UserPromptSubmit', { prompt: `please look at ${word}` })
  expect((await collector.hook('UserPromptSubmit', prompt)).status).toBe(200)
  await collector.hook('PreToolUse', preToolUse(name, 'c1', `cat ${word}.txt`))
  await collector.hook('PostToolUse', postToolUse(name, 'c1', `cat ${word}.txt`))
  if (ends) await collector.hook('SessionEnd', event(name, 'SessionEnd'))
}

/** Files of the home in which the word stands. */
function filesWith(collector: Collector, word: string): string[] {
  return readdirSync(collector.root, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(collector.root, name), { throwIfNoEntry: false })?.isFile())
    .filter((name) => readFileSync(join(collector.root, name)).includes(word))
}

async function settled(collector: Collector): Promise<void> {
  for (;;) {
    const { index } = (await collector.status()) as unknown as { index: { lag: number } }
    if (index.lag === 0) return
    await sleep(50)
  }
}

it('takes every byte of a run’s content away; records, proofs and other runs stay', async () => {
  const collector = await started()
  await session(collector, 'S1', 'marzipan')
  await session(collector, 'S2', 'nougat')
  await session(collector, 'S3', 'praline', false)
  const body = JSON.stringify({
    resourceSpans: [
      { scopeSpans: [{ spans: [{ ...SPAN, attributes: [{ key: 'x', value: { stringValue: 'truffle' } }] }] }] },
    ],
  })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${collector.endpoint().otlp}/v1/traces`, { method: 'POST', headers, body })).status).toBe(200)
  await settled(collector)
  expect(filesWith(collector, 'marzipan')).toEqual([join('vault', '00000000.seg')])

  expect(await cli(collector, 'purge', '--run', 'S1')).toMatchObject({ status: 2 })
  const open = await cli(collector, 'purge', '--run', 'S3', '--yes')
  expect(open).toMatchObject({ status: 1 })
  expect(open.stderr).toContain('end its session first')
  for (const bad of [['--run', 'nothing'], ['--record', 'x'], ['--record', '100000'], ['--before', 'someday'], []]) {
    const refused = await cli(collector, 'purge', ...bad, '--yes')
    expect(refused.status, bad.join(' ')).not.toBe(0)
    expect(refused.stderr.length).toBeGreaterThan(10)
  }
  expect((await collector.admin('POST', '/purge', { scope: 'all' })).status).toBe(400)
  expect(filesWith(collector, 'marzipan')).toHaveLength(1)

  const purged = await cli(collector, 'purge', '--run', 'S1', '--yes')
  expect(purged.status, purged.stderr).toBe(0)
  expect(filesWith(collector, 'marzipan')).toEqual([])
  expect(filesWith(collector, 'nougat')).toHaveLength(1)
  expect(filesWith(collector, 'praline')).toHaveLength(1)
  const imported = collector.records().find(({ type }) => type === 'spans.imported')?.log.seq
  expect((await cli(collector, 'purge', '--record', String(imported), '--yes')).status).toBe(0)
  expect(filesWith(collector, 'truffle')).toEqual([])

  // Records of a call share the salt of its arguments: they go together.
  const decided = collector
    .records()
    .findLast(({ type, run }) => type === 'tool.decided' && run?.id === runOf(collector, 'S2'))
  expect((await cli(collector, 'purge', '--record', String(decided?.log.seq), '--yes')).status).toBe(0)
  expect(readFileSync(`${collector.root}/vault/00000000.seg`, 'latin1')).not.toContain('nougat.txt')
  expect(filesWith(collector, 'nougat')).toHaveLength(1)
  expect(collector.records().filter(({ type }) => type === 'content.expired').length).toBeGreaterThan(3)

  // Hooks go on, and a start reads over what is gone.
  await session(collector, 'S4', 'ganache')
  const shown = await cli(collector, 'show', 'S1', '--content')
  expect(shown.status).toBe(0)
  expect(shown.stdout).not.toContain('marzipan')
  await collector.stop()
  await collector.start()
  await session(collector, 'S5', 'fudge')
  const report = await collector.verify()
  expect(report.status).toBe('intact')
  expect(report.content).toMatchObject({ missing: 0, mismatched: 0 })
  expect(report.content?.expired).toBeGreaterThan(3)
  expect(report.findings.map(({ code }) => code)).toContain('content.expired_early')
  const told = await cli(
    collector,
    'export',
    'S1',
    '-o',
    '-',
    '--open',
    `${seqOf(collector, 'prompt.submitted')}:prompt`,
  )
  expect(told.status).not.toBe(0)
  expect(told.stderr).toContain('was erased')
})

it('goes by date, and a destination that had not got the content yet is named', async () => {
  const config = `version: 1
otlp: {port: 0}
forward:
  - {name: away, url: "http://127.0.0.1:9", content: true}
`
  const collector = await started(config)
  await session(collector, 'S1', 'marzipan')
  await settled(collector)
  const purged = await cli(collector, 'purge', '--before', new Date(Date.now() + 1000).toISOString(), '--yes')
  expect(purged.status, purged.stderr).toBe(0)
  expect(filesWith(collector, 'marzipan')).toEqual([])
  const gap = collector
    .records()
    .find(({ type, body }) => type === 'gap' && (body as { kind: string }).kind === 'content_not_forwarded')
  expect(gap?.body).toMatchObject({ destination: 'away' })
})

it('a kill while it erases leaves nothing half done', async () => {
  const collector = await started()
  for (let i = 0; i < 6; i += 2) {
    const word = `marzipan${i}`
    await session(collector, `S${i}`, word)
    await settled(collector)
    const run = collector
      .records()
      .filter(({ type }) => type === 'run.opened')
      .at(-1)?.run?.id
    const asked = collector.admin('POST', '/purge', { scope: 'run', run }).catch(() => null)
    await sleep(i)
    const began =
      readdirSync(`${collector.root}/run`).includes('erasure.json') ||
      (await Promise.race([asked, sleep(0)])) !== undefined
    await collector.kill()
    await asked
    await collector.start()
    await sleep(200)
    if (began) expect(filesWith(collector, word)).toEqual([])
    expect(readdirSync(`${collector.root}/run`)).not.toContain('erasure.json')
  }
  const report = await collector.verify()
  expect(report.findings.filter(({ severity }) => severity === 'broken')).toEqual([])
  expect(report.content).toMatchObject({ missing: 0, mismatched: 0 })
})

it('retention is put in force by a reload and recorded; nonsense is refused', async () => {
  const collector = await started()
  const set = (days: unknown) =>
    writeFileSync(`${collector.root}/config.yaml`, `version: 1\notlp: {port: 0}\nretention: {content_days: ${days}}\n`)
  set(30)
  expect((await cli(collector, 'reload')).status).toBe(0)
  expect(collector.records().findLast(({ type }) => type === 'retention.set')?.body).toEqual({ content_days: 30 })
  for (const bad of [0, -1, '"soon"', 1.5]) {
    set(bad)
    const refused = await cli(collector, 'reload')
    expect(refused.status).toBe(2)
    expect(refused.stderr).toContain('retention.content_days')
  }
})

const SPAN = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name: 'x',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
}

const runOf = (collector: Collector, session: string) =>
  collector
    .records()
    .find(({ type, body }) => type === 'run.opened' && (body as { session: string }).session === session)?.run?.id

const seqOf = (collector: Collector, type: string) =>
  collector.records().find((record) => record.type === type)?.log.seq
