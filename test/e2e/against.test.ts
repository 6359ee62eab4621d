// `verify --against` and `check span`, as they are typed, with a stand-in for Tempo and with a file: an honest log agrees; one that was
// cut or rewritten afterwards is named; what the backend cut, masked or lost is told apart.
import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readFrames } from '../../collector/store/segments.ts'
import { LOG_START } from '../../conventions/log.ts'
import { Backend } from '../support/backend.ts'
import { runCli } from '../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'
import { StandInTempo } from '../support/tempo.ts'

let tempo: StandInTempo
let backend: Backend
let logs: Backend
let collector: Collector
beforeEach(async () => {
  tempo = await new StandInTempo().start()
  backend = await new Backend().start()
  logs = await new Backend().start()
  const forward = [
    { name: 'tempo', url: tempo.url, protocol: 'http/protobuf', headers: { 'X-Scope-OrgID': 'team-a' } },
    { name: 'file', url: backend.url },
    { name: 'all', url: logs.url, evidence: 'logs' },
  ]
  collector = new Collector({ config: JSON.stringify({ version: 1, otlp: { port: 0 }, forward }) })
  await collector.start()
  for (const session of ['S1', 'S2']) {
    await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'look' }))
    for (const call of ['c1', 'c2', 'c3']) {
      await collector.hook('PreToolUse', preToolUse(session, `${session}-${call}`))
      await collector.hook('PostToolUse', postToolUse(session, `${session}-${call}`))
    }
    await collector.hook('SessionEnd', event(session, 'SessionEnd', { reason: 'other' }))
  }
  // Of each session: two spans for each call, the root, and the gap of a transcript that is not there.
  const spans = 2 * (3 * 2 + 2)
  for (let i = 0; i < 200 && (tempo.spans.length < spans || backend.spans().length < spans); i++) await sleep(50)
  expect([tempo.spans.length, backend.spans().length]).toEqual([spans, spans])
  await collector.stop()
})
afterEach(async () => {
  await collector.remove()
  await tempo.stop()
  await backend.stop()
  await logs.stop()
})

const file = () => {
  const path = `${collector.root}/copies.jsonl`
  writeFileSync(path, backend.bodies.map((body) => `${body}\n`).join(''))
  return path
}

/** Verifies against a place, with the log pinned as it was. */
async function against(place: string, trust: string, ...more: string[]) {
  const ran = await runCli([
    '--home',
    collector.root,
    'verify',
    '--trust',
    trust,
    '--against',
    place,
    '--json',
    ...more,
  ])
  expect(ran.stderr).toBe('')
  const report = JSON.parse(ran.stdout)
  return { ...report, codes: report.findings.map(({ code }: { code: string }) => code), exitCode: ran.status }
}

async function pinned(): Promise<string> {
  const { stdout } = await runCli(['--home', collector.root, 'verify', '--print-trust'])
  const path = `${collector.root}/pinned.trust`
  writeFileSync(path, stdout)
  return path
}

/** Cuts the log and its checkpoints off after record `size - 1`, as someone who wants the rest gone. */
function cutLog(size: number): void {
  const dir = `${collector.root}/log`
  const end = readFrames(dir, LOG_START, Number.POSITIVE_INFINITY)[size - 1]?.next
  const segment = readdirSync(dir).find((name) => name.endsWith('.seg'))
  if (end === undefined || segment === undefined) throw new Error('nothing to cut')
  truncateSync(`${dir}/${segment}`, end.offset)
  expect(statSync(`${dir}/${segment}`).size).toBe(end.offset)
}

it('an honest log agrees with both, up to the last record that has a span', async () => {
  const trust = await pinned()
  for (const place of [`tempo=${tempo.url}`, `file=${file()}`]) {
    const report = await against(place, trust)
    expect(report).toMatchObject({ status: 'intact', exitCode: 0, codes: [] })
    expect(report.copies.counts).toMatchObject({ agrees: tempo.spans.length, damaged: 0, not_signed: 0, other_log: 0 })
    expect(report.copies.agree_to).toBeGreaterThan(10)
  }
  expect(tempo.tenants).toContain('team-a')
  // As logs all records are there, and the spans beside them carry none.
  const all = `${collector.root}/logs.jsonl`
  writeFileSync(all, logs.bodies.map((body) => `${body}\n`).join(''))
  const report = await against(`file=${all}`, trust)
  const { size } = report
  expect(report).toMatchObject({ status: 'intact', exitCode: 0, codes: ['copy.damaged'] })
  expect(report.copies).toMatchObject({ agree_to: size - 1, counts: { agrees: size, damaged: tempo.spans.length } })
})

it('a log that was cut afterwards is named, and without the copies it is not', async () => {
  const trust = await pinned()
  cutLog(8)
  writeFileSync(`${collector.root}/log/checkpoints.jsonl`, '')
  writeFileSync(`${collector.root}/log/checkpoint`, '')
  const path = file()
  const alone = await runCli(['--home', collector.root, 'verify', '--json'])
  expect(JSON.parse(alone.stdout).status).toBe('self_consistent')
  for (const place of [`tempo=${tempo.url}`, `file=${path}`]) {
    const report = await against(place, trust)
    expect(report).toMatchObject({ status: 'broken', exitCode: 1 })
    expect(report.codes).toContain('copy.beyond_log')
  }
  const said = await runCli(['--home', collector.root, 'verify', '--against', `tempo=${tempo.url}`])
  expect(said.stdout).toMatch(/BROKEN: .*copy\.beyond_log/)
})

it('what a backend cut or lost is damaged or missing, never a finding against the log', async () => {
  const trust = await pinned()
  const [first, second] = tempo.spans.splice(0, 4)
  if (first === undefined || second === undefined) throw new Error('no spans')
  const cut = (first.attributes ?? []).map(({ key, value }) =>
    key === 'spanseal.record' && value !== undefined && 'stringValue' in value
      ? { key, value: { stringValue: String(value.stringValue).slice(0, 256) } }
      : { key, ...(value === undefined ? {} : { value }) },
  )
  tempo.spans.push({ ...first, attributes: cut })
  tempo.spans.push({ ...second, attributes: (second.attributes ?? []).filter(({ key }) => key !== 'spanseal.record') })
  const report = await against(`tempo=${tempo.url}`, trust)
  expect(report).toMatchObject({ status: 'intact', exitCode: 0, codes: ['copy.damaged'] })
  expect(report.copies.counts).toMatchObject({ agrees: tempo.spans.length - 2, damaged: 2 })
})

it('a search window that is too short finds nothing, and says what was not checked', async () => {
  const trust = await pinned()
  for (const span of tempo.spans) {
    const older = (time: string) => String(BigInt(time) - 3n * 3_600_000_000_000n)
    Object.assign(span, {
      startTimeUnixNano: older(span.startTimeUnixNano),
      endTimeUnixNano: older(span.endTimeUnixNano),
    })
  }
  const short = await against(`tempo=${tempo.url}`, trust, '--hours', '2')
  expect(short.copies).toMatchObject({
    agree_to: null,
    not_checked: ['anything older than 2 h, or no longer kept there'],
  })
  expect((await against(`tempo=${tempo.url}`, trust, '--hours', '4')).copies.agree_to).toBeGreaterThan(10)
})

it('check span says of each span of a trace what it is worth', async () => {
  const traceId = tempo.spans[0]?.traceId ?? ''
  const of = tempo.spans.filter((span) => span.traceId === traceId).length
  const check = (place: string, ...more: string[]) =>
    runCli(['--home', collector.root, 'check', 'span', traceId, '--in', place, ...more])
  for (const place of [`tempo=${tempo.url}`, `file=${file()}`]) {
    const ran = await check(place)
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(ran.stdout).toContain(`${of} of ${of} spans are signed records of this log`)
  }
  const forged = {
    traceId,
    spanId: 'f'.repeat(16),
    name: 'execute_tool Bash',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  }
  tempo.spans.push(forged)
  const ran = await check(`tempo=${tempo.url}`, '--json')
  expect(ran.status).toBe(1)
  expect(JSON.parse(ran.stdout)).toMatchObject({ agree: of, of: of + 1 })
  expect(JSON.parse(ran.stdout).spans).toContainEqual({
    trace_id: traceId,
    span_id: forged.spanId,
    name: forged.name,
    verdict: 'not_signed',
  })
})

it('refuses what it can not follow, naming the option', async () => {
  const run = (...args: string[]) => runCli(['--home', collector.root, ...args])
  expect(await run('verify', '--against', 'zipkin')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--against'),
  })
  expect(await run('verify', '--against', 'file=/nowhere')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('/nowhere'),
  })
  const gone = await new Backend().start()
  await gone.stop()
  expect(await run('verify', '--against', `tempo=${gone.url}`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ECONNREFUSED'),
  })
  expect(await run('verify', '--against', 'tempo', '--hours', '-1')).toMatchObject({ status: 2 })
  expect(await run('check', 'span', 'xyz')).toMatchObject({ status: 2, stderr: expect.stringContaining('32') })
  expect(await run('check', 'span', '0'.repeat(32), '--in', `tempo=${tempo.url}`)).toMatchObject({ status: 1 })
})
