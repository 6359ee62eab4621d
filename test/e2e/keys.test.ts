// Record keys that take over from one another in a real collector: while hooks speak, with kills between, and what is said of it after.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { entryOf } from '../../collector/store/log-files.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { LOG_START } from '../../conventions/log.ts'
import { runCli } from '../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

const made: Collector[] = []
afterEach(async () => {
  for (const collector of made.splice(0)) await collector.remove()
})

async function started(): Promise<Collector> {
  const collector = new Collector()
  made.push(collector)
  return collector.start()
}

const cli = (collector: Collector, ...args: string[]) => runCli(['--home', collector.root, ...args])
const keyFiles = (collector: Collector) => readdirSync(`${collector.root}/keys`).filter((name) => /^record/.test(name))

async function call(collector: Collector, session: string, id: string): Promise<void> {
  const { status } = await collector.hook('PreToolUse', preToolUse(session, id))
  if (status !== 200) throw new Error(`the hook was answered ${status}`)
  await collector.hook('PostToolUse', postToolUse(session, id))
}

interface Listed {
  kid: string
  from: number
  last_seq?: number
  revoked?: { from_seq: number; reason: string }
}
const listed = async (collector: Collector): Promise<Listed[]> =>
  JSON.parse((await cli(collector, 'keys', 'list', '--json')).stdout)

async function verified(collector: Collector, trust: string, ...args: string[]) {
  const file = join(collector.root, 'run', 'trust')
  writeFileSync(file, trust)
  const { status, stdout } = await cli(collector, 'verify', ...args, '--trust', file, '--json')
  const report = JSON.parse(stdout)
  return { status, report, codes: report.findings.map(({ code }: { code: string }) => code) }
}

it('keys take over while hooks speak, and everything verifies with what was pinned before', async () => {
  const collector = await started()
  const trust = (await cli(collector, 'verify', '--print-trust')).stdout
  const speak = async (session: string) => {
    for (let i = 0; i < 15; i++) await call(collector, session, `c${i}`)
    await collector.hook('SessionEnd', event(session, 'SessionEnd'))
  }
  const sessions = ['A', 'B', 'C'].map(speak)
  for (let i = 0; i < 4; i++) {
    const { status, stderr } = await cli(collector, 'keys', 'rotate')
    expect(status, stderr).toBe(0)
  }
  await Promise.all(sessions)
  const keys = await listed(collector)
  expect(keys).toHaveLength(5)
  // Each begins where the one before it ended, and only the last one is still there to sign.
  for (const [i, { from }] of keys.entries()) expect(from).toBe(i === 0 ? 0 : (keys[i - 1]?.last_seq ?? 0) + 1)
  expect(keyFiles(collector)).toEqual([`record-${keys[4]?.kid.slice(7, 39)}.pem`])
  expect((await cli(collector, 'keys', 'list')).stdout.trim().split('\n')).toHaveLength(5)

  const whole = await verified(collector, trust)
  expect(whole.codes).toEqual([])
  expect(whole.report).toMatchObject({ status: 'intact', exit: 0 })
  const run = collector.records().find(({ type }) => type === 'run.opened')?.run?.id ?? ''
  expect((await verified(collector, trust, '--run', run)).report).toMatchObject({ status: 'intact', exit: 0 })
  const db = mkdtempSync(join(tmpdir(), 'spanseal-keys-'))
  await collector.stop()
  cpSync(`${collector.root}/spanseal.duckdb`, join(db, 'copy.duckdb'))
  expect((await verified(collector, trust, '--index', join(db, 'copy.duckdb'))).codes).toEqual([])
  rmSync(db, { recursive: true })

  await collector.start()
  await call(collector, 'D', 'after')
  expect((await verified(collector, trust)).report).toMatchObject({ status: 'intact' })
})

it('a kill in the middle of it loses nothing and leaves one key', async () => {
  const collector = await started()
  const trust = (await cli(collector, 'verify', '--print-trust')).stdout
  for (let i = 0; i < 12; i++) {
    await call(collector, 'S', `before${i}`)
    const rotated = collector.admin('POST', '/keys/rotate').catch(() => null)
    await sleep(i % 4)
    await collector.kill()
    await rotated
    await collector.start()
    await call(collector, 'S', `after${i}`)
    expect(keyFiles(collector)).toHaveLength(1)
    const keys = await listed(collector)
    expect(keys.filter(({ last_seq }) => last_seq === undefined)).toHaveLength(1)
  }
  const { report, codes } = await verified(collector, trust)
  expect(report.status).toBe('intact')
  expect(codes.filter((code: string) => code !== 'run.open')).toEqual([])
})

it('a power cut after the new key was added and before the old one was retired is mended at the next start', async () => {
  const collector = await started()
  const trust = (await cli(collector, 'verify', '--print-trust')).stdout
  expect((await collector.admin('POST', '/keys/rotate')).status).toBe(200)
  const [name = ''] = keyFiles(collector)
  await collector.kill()
  // What the disk might have held: nothing behind key.added, and no checkpoint over it.
  const frames = readFrames(`${collector.root}/log`, LOG_START, Number.POSITIVE_INFINITY)
  const added = frames.find((frame) => entryOf(frame).record.type === 'key.added')
  truncateSync(`${collector.root}/log/00000000.seg`, added?.next.offset)
  for (const file of ['checkpoint', 'checkpoints.jsonl']) rmSync(`${collector.root}/log/${file}`)
  await collector.start()
  const [first, second] = await listed(collector)
  expect(first?.last_seq).toBe(entryOf(added as (typeof frames)[number]).record.log.seq)
  expect(second?.last_seq).toBeUndefined()
  expect(keyFiles(collector)).toEqual([name])
  await collector.stop()
  expect((await verified(collector, trust)).report.status).toBe('intact')
})

it('a revoked key is replaced and warned of; what is pinned by name must be pinned anew', async () => {
  const collector = await started()
  await call(collector, 'S', 'one')
  const pins = (await cli(collector, 'keys', 'export')).stdout
  const [first] = await listed(collector)
  expect(pins).toContain(`record-key ${first?.kid}`)
  expect((await verified(collector, pins)).report.status).toBe('intact')

  expect(await cli(collector, 'keys', 'revoke', 'ffff', '--reason', 'stolen')).toMatchObject({ status: 2 })
  const why = await cli(collector, 'keys', 'revoke', first?.kid ?? '', '--reason', 'because')
  expect(why).toMatchObject({ status: 2 })
  expect(why.stderr).toContain('stolen, lost, other')
  const wrong = { kid: `sha256:${'0'.repeat(64)}`, from_seq: 0, reason: 'stolen' }
  expect((await collector.admin('POST', '/keys/revoke', wrong)).status).toBe(404)
  expect((await collector.admin('POST', '/keys/revoke', { kid: 'x' })).status).toBe(400)
  expect(await listed(collector)).toHaveLength(1)

  const revoked = await cli(
    collector,
    'keys',
    'revoke',
    first?.kid.slice(7, 15) ?? '',
    '--reason',
    'stolen',
    '--from',
    '2',
  )
  expect(revoked.status, revoked.stderr).toBe(0)
  await call(collector, 'S', 'two')
  const [old, now] = await listed(collector)
  expect(old).toMatchObject({ kid: first?.kid, revoked: { from_seq: 2, reason: 'stolen' } })
  expect(now?.last_seq).toBeUndefined()
  const genesis = (await cli(collector, 'verify', '--print-trust')).stdout
  const warned = await verified(collector, genesis)
  expect(warned.report).toMatchObject({ status: 'intact', exit: 0 })
  expect(warned.codes).toContain('record.key_revoked')
  expect((await verified(collector, pins)).codes).toContain('record.key_unknown')
  const again = await verified(collector, (await cli(collector, 'keys', 'export')).stdout)
  expect(again.report.status).toBe('intact')
})

it('refuses to start with another key than the log names, and says where it looked', async () => {
  const collector = await started()
  const first = readFileSync(`${collector.root}/keys/record.pem`)
  expect((await collector.admin('POST', '/keys/rotate')).status).toBe(200)
  const [name = ''] = keyFiles(collector)
  await collector.stop()
  const now = readFileSync(`${collector.root}/keys/${name}`)
  rmSync(`${collector.root}/keys/${name}`)
  writeFileSync(`${collector.root}/keys/record.pem`, first, { mode: 0o600 })
  await expect(collector.start()).rejects.toThrow(/the log is signed by sha256:[0-9a-f]{64}, whose key is not in/)
  expect(keyFiles(collector)).toEqual(['record.pem'])
  writeFileSync(`${collector.root}/keys/${name}`, now, { mode: 0o600 })
  await collector.start()
  expect(keyFiles(collector)).toEqual([name])
})
