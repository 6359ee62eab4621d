// Faults of the forwarding process, against the built collector: whatever becomes of it, hooks are answered and every span arrives.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Span } from '../../conventions/otlp.ts'
import { Backend } from '../support/backend.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'
import { scrape, total } from '../telemetry/support.ts'

interface Stream {
  name: string
  state: string
  reason?: string
  sent: number
}

let backend: Backend
let collector: Collector
let calls = 0
beforeEach(async () => {
  backend = await new Backend().start()
  collector = new Collector({ config: `version: 1\notlp: {port: 0}\nforward: [{name: test, url: "${backend.url}"}]\n` })
  calls = 0
})
afterEach(async () => {
  await collector.remove()
  await backend.stop()
})

/** A turn of two calls; each must be answered, whatever else goes on. */
async function turn(): Promise<void> {
  const session = `S${calls}`
  await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'go on' }))
  for (let i = 0; i < 2; i++) {
    const id = `c${calls++}`
    expect((await collector.hook('PreToolUse', preToolUse(session, id))).body).toBe('spanseal/1 pass\n')
    await collector.hook('PostToolUse', postToolUse(session, id))
  }
  await collector.hook('Stop', event(session, 'Stop'))
}

/** The forwarding process; undefined while there is none. */
function worker(of: number = collector.endpoint().pid): number | undefined {
  const children = readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  return children.find((pid) => argumentsOf(pid).includes('forward-worker'))
}

/** Empty where the process is gone. */
function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** `ms`: far more than it takes. */
async function until(what: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await sleep(20)) if (await what()) return
  throw new Error(`it did not happen: ${what}\n${collector.stderr}`)
}

async function stream(): Promise<Stream> {
  const { forward } = (await collector.status()) as unknown as { forward: Stream[] }
  return forward[0] as Stream
}

const arrived = () =>
  new Set(backend.spans().flatMap((span) => (span.name === 'execute_tool Bash' ? [span.spanId] : [])))

/** Sent again after a kill, a span is the same one. */
function expectOneBodyEach(spans: Span[]): void {
  const bodies = new Map<string, string>()
  for (const span of spans) {
    const body = JSON.stringify(span)
    expect(bodies.get(span.spanId) ?? body).toBe(body)
    bodies.set(span.spanId, body)
  }
}

it('killed again and again, it starts again and goes on where it was; hooks are answered all the while, and it is counted', async () => {
  await collector.start()
  for (let kill = 0; kill < 3; kill++) {
    await until(() => worker() !== undefined)
    const sent = backend.bodies.length
    await turn()
    // At another moment each time: before it has read the log, while it lingers, when it has sent.
    if (kill === 2) await until(() => backend.bodies.length > sent)
    else await sleep(kill * 250)
    process.kill(worker() ?? 0, 'SIGKILL')
    await turn()
    if (kill === 0) {
      await until(async () => (await stream()).state === 'retrying')
      expect((await stream()).reason).toMatch(/^the forwarding process ended \(SIGKILL\); it starts again in 1 s$/)
    }
  }
  await until(() => arrived().size === calls)
  await until(async () => (await stream()).state === 'idle')
  expect(await stream()).not.toHaveProperty('reason')
  expectOneBodyEach(backend.spans())
  expect(total(await scrape(collector), 'spanseal_forward_restarts_total')).toBe(3)
  expect(collector.stderr.match(/the forwarding process ended/g)).toHaveLength(3)
  expect((await collector.verify()).status).toBe('intact')
})

it('one that can not even start is tried more and more rarely; the next version of it sends everything', async () => {
  const bundles = mkdtempSync(join(tmpdir(), 'spanseal-bundles-'))
  try {
    cpSync('dist', bundles, { recursive: true })
    symlinkSync(resolve('node_modules'), `${bundles}/node_modules`)
    writeFileSync(`${bundles}/forward-worker.mjs`, 'process.exit(7)')
    const broken = new Collector({ root: collector.root, keepConfig: true, bundle: `${bundles}/collector.cjs` })
    const { root } = collector
    collector = broken
    await collector.start()
    for (let i = 0; i < 5; i++) await turn()
    await until(() => /exit 7\); it starts again in 4 s/.test(collector.stderr))
    expect(collector.stderr.match(/it starts again in \d+ s/g)?.map((text) => Number(text.match(/\d+/)))).toEqual([
      1, 2, 4,
    ])
    expect(await stream()).toMatchObject({ state: 'retrying', reason: expect.stringContaining('exit 7') })
    await collector.stop()
    expect(collector.child?.exitCode).toBe(0)
    collector = new Collector({ root, keepConfig: true })
    await collector.start()
    await until(() => arrived().size === calls)
  } finally {
    rmSync(bundles, { recursive: true })
  }
})

it('one that hangs holds up neither hooks nor the end of the collector; what it had not sent goes out after the next start', async () => {
  await collector.start()
  await turn()
  await until(() => arrived().size === calls)
  const pid = worker() ?? 0
  process.kill(pid, 'SIGSTOP')
  for (let i = 0; i < 5; i++) await turn()
  await collector.stop()
  expect(collector.child?.exitCode).toBe(0)
  expect(argumentsOf(pid)).toBe('')
  expect(arrived().size).toBe(2)
  await collector.start()
  await until(() => arrived().size === calls)
  expectOneBodyEach(backend.spans())
})

it('ends with its collector, however that ends, and with none to forward to there is none', async () => {
  await collector.start()
  // While it is still starting, and when it has started.
  for (const ready of [() => worker() !== undefined, async () => (await stream()).state === 'idle']) {
    await until(ready)
    const orphan = worker() ?? 0
    await collector.kill()
    await until(() => argumentsOf(orphan) === '', 10_000)
    await collector.start()
  }
  await until(async () => (await stream()).state === 'idle')
  await turn()
  const stopped = worker() ?? 0
  // To the whole group of processes, as a terminal does it: what is left is sent all the same.
  process.kill(stopped, 'SIGTERM')
  await collector.stop()
  expect(argumentsOf(stopped)).toBe('')
  expect(arrived().size).toBe(calls)
  writeFileSync(`${collector.root}/config.yaml`, 'version: 1\notlp: {port: 0}\n')
  await collector.start()
  await turn()
  expect(worker()).toBeUndefined()
})
