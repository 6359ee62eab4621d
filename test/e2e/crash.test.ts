// Killed at any moment, the collector has everything it answered for: it is in the log once, and the log verifies.
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

/** Kills in one run; the long run of CI asks for more. */
const KILLS = Number(process.env.SPANSEAL_TEST_KILLS ?? 50)

let collector: Collector
afterEach(() => collector.remove())

it(`loses nothing it answered for, and records nothing twice, over ${KILLS} kills under load`, {
  timeout: 15 * 60_000,
}, async () => {
  collector = new Collector()
  const answered: string[] = []
  let next = 0
  for (let round = 0; round < KILLS; round++) {
    await collector.start()
    let killed = false
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      while (!killed) {
        const id = `call-${next++}`
        try {
          const reply = await collector.hook('PreToolUse', preToolUse(`S${worker}`, id))
          if (reply.body.startsWith('spanseal/1 pass')) answered.push(id)
          const after = await collector.hook('PostToolUse', postToolUse(`S${worker}`, id))
          if (after.body.startsWith('spanseal/1 pass')) answered.push(`${id}/done`)
        } catch {
          // The connection broke: nobody was told anything.
        }
      }
    })
    await sleep(Math.random() * 150)
    await collector.kill()
    killed = true
    await Promise.all(workers)
  }
  await collector.start()
  await collector.stop()

  const seen = new Map<string, number>()
  for (const record of collector.records()) {
    if (record.type === 'tool.decided') seen.set(`${record.call?.id}`, (seen.get(`${record.call?.id}`) ?? 0) + 1)
    if (record.type === 'tool.completed' && record.body.status === 'ok')
      seen.set(`${record.call?.id}/done`, (seen.get(`${record.call?.id}/done`) ?? 0) + 1)
  }
  expect(answered.length).toBeGreaterThan(KILLS)
  expect(answered.filter((id) => !seen.has(id))).toEqual([])
  expect([...seen].filter(([, times]) => times > 1)).toEqual([])
  const report = await collector.verify()
  expect(report.findings.filter(({ severity }) => severity === 'broken')).toEqual([])
  expect(report.status).toBe('intact')
})

it('loses nothing when its DuckDB file is deleted, corrupt or from another log: it is rebuilt', async () => {
  collector = await new Collector().start()
  for (let i = 0; i < 20; i++) await collector.hook('PreToolUse', preToolUse('S1', `c${i}`))
  const count = async () => (await collector.sql('SELECT count(*) FROM calls')).rows[0]?.[0]
  expect(Number(await count())).toBe(20)
  await collector.stop()
  rmSync(`${collector.root}/spanseal.duckdb`)
  await collector.start()
  expect(Number(await count())).toBe(20)
  await collector.stop()
  writeFileSync(`${collector.root}/spanseal.duckdb`, 'this is no database')
  await collector.start()
  expect(Number(await count())).toBe(20)
})

it('keeps the order of receipt with 100 parallel hooks, each answered only when its record is on disk', async () => {
  collector = await new Collector().start()
  const onDisk: boolean[] = []
  await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const reply = await collector.hook('PreToolUse', preToolUse(`S${i % 5}`, `c${i}`))
      expect(reply.body).toBe('spanseal/1 pass\n')
      onDisk.push(collector.records().some((record) => record.type === 'tool.decided' && record.call?.id === `c${i}`))
    }),
  )
  expect(onDisk.filter((is) => !is)).toEqual([])
  const records = collector.records()
  expect(records.map(({ log }) => log.seq)).toEqual(records.map((_, i) => i))
  const times = records.map(({ time }) => time)
  expect(times).toEqual([...times].sort())
})

it('answers in order of receipt on one connection after another', async () => {
  collector = await new Collector().start()
  for (let i = 0; i < 30; i++)
    await collector.hook('UserPromptSubmit', event('S1', 'UserPromptSubmit', { prompt: `n${i}`, prompt_id: `p${i}` }))
  const turns = collector.records().flatMap((record) => (record.type === 'prompt.submitted' ? [record.body.turn] : []))
  expect(turns).toEqual(Array.from({ length: 30 }, (_, i) => `p${i}`))
})
