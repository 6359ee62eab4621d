// Third-party telemetry in the record: sessions open, close when they are silent, and say so when they speak again.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Import } from '../../collector/record/imports.ts'
import { TestPipeline } from '../support/pipeline.ts'

const MINUTE = 60_000

let t: TestPipeline
beforeEach(() => {
  t = new TestPipeline()
})
afterEach(() => t.close())

function batch(sessions: string[], more: Partial<Import> = {}): Import {
  const contents = [{ name: 'body', bytes: new Uint8Array(1), keep: true }]
  const facts = { count: 3, rejected: 0, encoding: 'json' as const, bytes: 1, spoofed: 0, loops: 0 }
  return { signal: 'traces', ...facts, sessions, contents, ...more }
}

/** Records of imports, a word each. */
const told = () =>
  t.records().flatMap(({ type, body }) => {
    if (type === 'gap' && 'kind' in body) return [`gap ${body.kind}`]
    if (type === 'session.imported' || type === 'session.closed') return [`${type} ${'part' in body ? body.part : ''}`]
    return type.endsWith('.imported') ? [type] : []
  })

it('opens a session once, whatever signal names it', async () => {
  for (const signal of ['traces', 'logs', 'metrics'] as const) await t.pipeline.importItems(batch(['s'], { signal }))
  expect(told()).toEqual(['session.imported 0', 'spans.imported', 'logs.imported', 'metrics.imported'])
  for (const record of t.records().filter(({ type }) => type.endsWith('.imported'))) expect(record.tier).toBe('T3')
})

it('closes a silent session, and what comes later is late', async () => {
  await t.pipeline.importItems(batch(['s']))
  t.now += 29 * MINUTE
  await t.pipeline.importItems(batch(['s', 'other']))
  t.now += 29 * MINUTE
  await t.pipeline.tick()
  expect(told().filter((what) => what.startsWith('session.closed'))).toEqual([])
  t.now += 2 * MINUTE
  await t.pipeline.tick()
  await t.pipeline.tick()
  const closed = t.records().filter(({ type }) => type === 'session.closed')
  expect(closed.map(({ body }) => 'requests' in body && body.requests)).toEqual([2, 1])
  await t.pipeline.importItems(batch(['s']))
  await t.pipeline.importItems(batch(['s']))
  expect(told().slice(-4)).toEqual(['gap late_activity', 'session.imported 1', 'spans.imported', 'spans.imported'])
  const gap = t.records().find(({ type }) => type === 'gap')
  expect(gap?.body).toMatchObject({ kind: 'late_activity', count: 3, session: expect.stringMatching(/^[0-9a-f]{16}$/) })
})

it('knows after a restart what was open and what was closed', async () => {
  await t.pipeline.importItems(batch(['closed']))
  t.now += 31 * MINUTE
  await t.pipeline.tick()
  await t.pipeline.importItems(batch(['open']))
  await t.reopen()
  await t.pipeline.importItems(batch(['open']))
  await t.pipeline.importItems(batch(['closed']))
  expect(told().slice(-4)).toEqual(['spans.imported', 'gap late_activity', 'session.imported 1', 'spans.imported'])
})

it('lists few of many sessions and counts all; a name that is no id stays out of the record', async () => {
  const sessions = Array.from({ length: 30 }, (_, i) => `s ${i}`)
  await t.pipeline.importItems(batch(sessions))
  const records = t.records()
  const imported = records.find(({ type }) => type === 'spans.imported')
  expect(imported?.body).toMatchObject({ sessions: 30, session_ids: expect.any(Array) })
  expect(records.filter(({ type }) => type === 'session.imported')).toHaveLength(8)
  expect(JSON.stringify(records)).not.toContain('s 1')
})

it('remembers a bounded number of sessions', async () => {
  for (let i = 0; i < 10_050; i += 8)
    await t.pipeline.importItems(batch(Array.from({ length: 8 }, (_, j) => `s${i + j}`)))
  expect(t.log.state.imports.size).toBe(10_000)
})
