// The daily look whether copies are still there: what is missing is written down once, what could not be asked is not called missing.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SelfAudit } from '../../collector/audit/self-audit.ts'
import { ReadBackError } from '../../collector/readback/copies.ts'
import type { Copy } from '../../conventions/copy.ts'
import type { Span } from '../../conventions/otlp.ts'
import { logOfTurns, NOW, spansOfLog, temporaryFolder } from '../forward/forwarder-support.ts'
import { type MemoryLog, Session } from '../forward/support.ts'
import { TestPipeline } from '../support/pipeline.ts'

const DAY = 24 * 3_600_000

/** An audit of a stand-in backend that holds `stored`. */
function rig(log: MemoryLog, folder = temporaryFolder()) {
  const at = {
    stored: new Map<string, Span[]>(),
    delivered: log.entries.length,
    now: NOW,
    gaps: [] as number[],
    lines: [] as string[],
    asked: [] as string[],
    away: false,
    stateFile: join(folder, 'backend.audit.json'),
  }
  for (const span of spansOfLog(log)) at.stored.set(span.traceId, [...(at.stored.get(span.traceId) ?? []), span])
  const audit = new SelfAudit({
    name: 'backend',
    source: log,
    logId: log.id,
    delivered: () => at.delivered,
    trace: async (traceId) => {
      if (at.away) throw new ReadBackError('the backend does not answer: ECONNREFUSED')
      at.asked.push(traceId)
      const copies = (at.stored.get(traceId) ?? []).map(
        ({ spanId, name }): Copy => ({ traceId, spanId, name, attribute: () => undefined }),
      )
      return { copies, notChecked: [] }
    },
    stateFile: at.stateFile,
    now: () => at.now,
    onMissing: async (count) => void at.gaps.push(count),
    log: (line) => at.lines.push(line),
  })
  return {
    audit,
    at,
    settle: async () => {
      for (let look = 0; look < 3; look++) await audit.look()
    },
  }
}

it('finds everything there, once a day, and asks only for what is new', async () => {
  const log = logOfTurns(3)
  const { audit, at, settle } = rig(log)
  await audit.look()
  expect(at.asked).toEqual([])
  await settle()
  expect(at.asked).toHaveLength(3)
  expect(audit.status()).toEqual({ name: 'backend', last: new Date(NOW).toISOString(), looked_for: 9, missing: 0 })
  const before = log.entries.length
  new Session(log, 'other').open().prompt().decide('x1').complete('x1').closeTurn()
  at.delivered = log.entries.length
  at.now += DAY - 1
  await settle()
  expect(at.asked).toHaveLength(3)
  at.now += 1
  await audit.look()
  expect(at.asked).toHaveLength(4)
  // What the backend never got is missing.
  expect(audit.status()).toMatchObject({ looked_for: 3, missing: 3 })
  expect(at.gaps).toEqual([3])
  expect(before).toBeLessThan(log.entries.length)
})

it('counts single spans that are gone, says so, and goes on after a restart', async () => {
  const log = logOfTurns(4)
  const folder = temporaryFolder()
  const { audit, at, settle } = rig(log, folder)
  const [first, second] = [...at.stored.keys()]
  at.stored.delete(first ?? '')
  at.stored.get(second ?? '')?.pop()
  await settle()
  expect(at.gaps).toEqual([4])
  expect(audit.status()).toMatchObject({ looked_for: 12, missing: 4 })
  expect(at.lines.join()).toContain('4 of 12 spans')
  const again = rig(log, folder)
  again.at.now += DAY
  await again.settle()
  expect(again.at.asked).toEqual([])
  expect(again.audit.status()).toMatchObject({ looked_for: 12, missing: 4 })
})

it('looks only for what the destination has taken', async () => {
  const log = logOfTurns(3)
  const { audit, at, settle } = rig(log)
  at.delivered = 0
  await settle()
  expect([at.asked, existsSync(at.stateFile)]).toEqual([[], false])
  const turn = log.entries.findIndex(({ record }) => record.type === 'turn.closed')
  at.delivered = turn + 1
  await settle()
  expect(audit.status()).toMatchObject({ looked_for: 3, missing: 0 })
})

it('calls nothing missing while the backend can not be asked, and asks again within the hour', async () => {
  const { audit, at, settle } = rig(logOfTurns(2))
  at.stored.clear()
  at.away = true
  await settle()
  expect([at.gaps, audit.status().problem]).toEqual([[], 'the backend does not answer: ECONNREFUSED'])
  at.away = false
  await audit.look()
  expect(at.gaps).toEqual([])
  at.now += 3_600_000
  await audit.look()
  expect(at.gaps).toEqual([6])
  expect(audit.status()).not.toHaveProperty('problem')
})

it('stops at its limit of traces and goes on an hour later', async () => {
  const log = logOfTurns(2_300)
  const { audit, at, settle } = rig(log)
  await settle()
  const asked = at.asked.length
  expect(asked).toBeGreaterThanOrEqual(2_000)
  expect(asked).toBeLessThan(2_300)
  at.now += 3_600_000
  await audit.look()
  expect(new Set(at.asked).size).toBe(2_300)
  expect(at.gaps).toEqual([])
  expect(JSON.parse(readFileSync(at.stateFile, 'utf8'))).toMatchObject({ next_seq: log.entries.length })
})

it('the gap is a signed record that names the destination', async () => {
  const t = await new TestPipeline().start()
  try {
    await t.pipeline.copiesMissing('jaeger', 7)
    expect(t.of('gap').map(({ body, tier, source }) => [body, tier, source.kind])).toEqual([
      [{ kind: 'copy_missing', count: 7, destination: 'jaeger' }, undefined, 'collector'],
    ])
  } finally {
    t.close()
  }
})
