// Mixed load for a while: sessions come and go, calls are decided, denied and completed, third-party spans arrive, somebody asks the
// index. Memory, open files and the index's lag stay bounded, and what was recorded verifies.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { Backend } from '../support/backend.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

/** Seconds of load; the long run of CI asks for ten minutes. */
const SECONDS = Number(process.env.SPANSEAL_TEST_SOAK_SECONDS ?? 20)
/** Calls a session makes before it ends, as real ones do. */
const CALLS = 20

let collector: Collector
let backend: Backend
afterEach(async () => {
  await collector.remove()
  await backend.stop()
})

const look = (pid: number) => ({
  rss: Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  files: readdirSync(`/proc/${pid}/fd`).length,
})

it(`stays within its bounds for ${SECONDS} s`, { timeout: (SECONDS + 120) * 1_000 }, async () => {
  // Memory and open files of another process are read from /proc; elsewhere only the evidence is checked.
  const proc = process.platform === 'linux'
  backend = await new Backend().start()
  collector = await new Collector({
    config: `version: 1\notlp: {port: 0}\nforward: [{name: b, url: "${backend.url}"}]\n`,
  }).start()
  const { otlp, pid } = collector.endpoint()
  const end = Date.now() + SECONDS * 1_000
  const going = () => Date.now() < end
  let calls = 0
  let refused = 0

  const agent = async (worker: number) => {
    for (let session = 0; going(); session++) {
      const id = `S${worker}-${session}`
      await collector.hook('UserPromptSubmit', event(id, 'UserPromptSubmit', { prompt: 'go' }))
      for (let n = 0; n < CALLS && going(); n++) {
        const command = n % 7 === 3 ? 'git push --force origin main' : `echo ${'x'.repeat(n * 50)}`
        const { body } = await collector.hook('PreToolUse', preToolUse(id, `c${n}`, command))
        calls++
        if (body.startsWith('spanseal/1 block')) refused++
        else await collector.hook('PostToolUse', postToolUse(id, `c${n}`, command))
      }
      await collector.hook('Stop', event(id, 'Stop'))
      await collector.hook('SessionEnd', event(id, 'SessionEnd'))
    }
  }
  const sender = async () => {
    for (let n = 0; going(); n++) {
      const spans = Array.from({ length: 50 }, (_, i) => ({
        traceId: n.toString(16).padStart(32, 'a'),
        spanId: i.toString(16).padStart(16, 'b'),
        name: 'chat',
        startTimeUnixNano: '1',
        endTimeUnixNano: '2',
      }))
      const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
      await fetch(`${otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      await sleep(50)
    }
  }
  const looks: { rss: number; files: number }[] = []
  const reader = async () => {
    while (going()) {
      await sleep(1_000)
      const { error, rows } = await collector.sql('SELECT count(*) FROM calls')
      expect(error).toBeUndefined()
      expect(Number(rows[0]?.[0])).toBeGreaterThan(0)
      if (proc) looks.push(look(pid))
    }
  }
  await Promise.all([agent(0), agent(1), agent(2), sender(), reader()])

  expect(calls).toBeGreaterThan(SECONDS)
  expect(refused).toBeGreaterThan(0)
  if (proc) {
    const settled = looks.slice(Math.floor(looks.length / 3))
    const [first, last] = [settled[0], settled.at(-1)]
    expect(Math.max(...looks.map(({ rss }) => rss))).toBeLessThan(400)
    // Two thirds of the run may add a third at most: caches fill, nothing grows with the number of sessions.
    expect(last?.rss ?? 0).toBeLessThan((first?.rss ?? 0) * 1.34 + 30)
    expect(last?.files ?? 0).toBeLessThan((first?.files ?? 0) + 20)
  }
  const status = (await collector.status()) as unknown as { index: { lag: number } }
  expect(status.index.lag).toBeLessThan(8 * 1024 * 1024)
  await collector.stop()
  expect((await collector.verify()).findings.filter(({ severity }) => severity === 'broken')).toEqual([])
})
