// A collector that is stopped or killed while calls wait for a person: no held call is ever let through, every hold ends in the log
// exactly once, and the log verifies.
import { afterEach, expect, it } from 'vitest'
import { Collector, preToolUse } from '../support/collector.ts'

/** Restarts in one run; the long run of CI asks for more. */
const RESTARTS = Number(process.env.SPANSEAL_TEST_RESTARTS ?? 6)

let collector: Collector
afterEach(() => collector.remove())

it(`ends every hold over ${RESTARTS} restarts, half of them kills`, { timeout: 5 * 60_000 }, async () => {
  collector = new Collector()
  const held: string[] = []
  const answers: string[] = []
  for (let round = 0; round < RESTARTS; round++) {
    await collector.start()
    const waiting = [0, 1].map(async (n) => {
      const asked = await collector.hook('PreToolUse', preToolUse('S1', `c${round}-${n}`, 'git push origin main'))
      const id = /^spanseal\/1 hold (\S+)\n/.exec(asked.body)?.[1] ?? ''
      held.push(id)
      // One of the two is approved by a person at the worst moment: nobody waits for it yet.
      if (n === 1) await collector.admin('POST', `/approvals/${id}/approve`)
      else answers.push((await collector.get(`/hook/wait/${id}`).catch(() => ({ body: 'broken' }))).body)
    })
    await waiting[1]
    if (round % 2 === 0) await collector.kill()
    else await collector.stop()
    await Promise.all(waiting)
  }
  await collector.start()
  for (const id of held) {
    expect(id).toMatch(/^apr-/)
    expect((await collector.get(`/hook/wait/${id}`)).body).toMatch(/^spanseal\/1 block\n/)
  }
  await collector.stop()
  expect(answers.filter((body) => body.startsWith('spanseal/1 pass'))).toEqual([])
  const expired = collector
    .records()
    .flatMap((record) => (record.type === 'approval.expired' ? [record.body.approval] : []))
  expect(expired.toSorted()).toEqual(held.toSorted())
  expect(collector.records().filter(({ type }) => type === 'approval.consumed')).toEqual([])
  const report = await collector.verify()
  expect(report.findings.filter(({ severity }) => severity !== 'warning')).toEqual([])
  expect(report.status).toBe('intact')
})
