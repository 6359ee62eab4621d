// What lies in front of a real backend answers as gateways do when something is wrong: a refusal stops that destination alone and is
// said, a poisoned span is found and left out, nothing else is lost, and the gate goes on.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Span } from '../../../conventions/otlp.ts'
import { runCli } from '../../support/cli.ts'
import { event, postToolUse, preToolUse } from '../../support/collector.ts'
import { allVerified, cleanUp, cleanUpLater, direct, startedJaeger, startedOtelcol, startedSending } from './chain.ts'
import { Gateway, type Refusal } from './gateway.ts'
import { until } from './program.ts'
import { ids, session } from './session.ts'

afterEach(cleanUp)

/** Seconds. */
const RETRY_AFTER = 3

const SERVER = {
  cert: readFileSync('test/fixtures/tls/server.pem', 'utf8'),
  key: readFileSync('test/fixtures/tls/server.key', 'utf8'),
}

const refusing = (refusal: Refusal) => () => refusal
const idsOf = (spans: Span[]) => spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`)

async function gateway(backend: string, refusal: Gateway['refusal'], tls?: { cert: string; key: string }) {
  const started = await new Gateway(backend, refusal, tls).start()
  cleanUpLater(() => started.stop())
  return started
}

/** Real backends, and where spans go in. */
const BACKENDS = {
  Jaeger: async () => {
    const jaeger = await startedJaeger('disk')
    return { jaeger, backend: jaeger.url }
  },
  'an OpenTelemetry Collector': async () => {
    const { jaeger, otelcol } = await startedOtelcol()
    return { jaeger, backend: otelcol.url }
  },
} as const

it.each(['Jaeger', 'an OpenTelemetry Collector'] as const)(
  'in front of %s: each refusal stops its destination alone, every good span arrives once, one poisoned span is left out',
  async (name) => {
    const { jaeger, backend } = await BACKENDS[name]()
    const stopping = {
      'HTTP 401': await gateway(backend, refusing({ status: 401 })),
      'HTTP 403': await gateway(backend, refusing({ status: 403 })),
      'HTTP 404': await gateway(backend, refusing({ status: 404 })),
    }
    const passing = {
      'HTTP 429': await gateway(backend, refusing({ status: 429, headers: { 'retry-after': `${RETRY_AFTER}` } })),
      'HTTP 503': await gateway(backend, refusing({ status: 503 })),
    }
    let poisoned: string | undefined
    const poison = await gateway(backend, (spans) => {
      poisoned ??= spans.find((span) => span.name === 'execute_tool Bash')?.spanId
      return spans.some(({ spanId }) => spanId === poisoned) ? { status: 400 } : null
    })
    const untrusted = await gateway(backend, () => null, SERVER)

    const gateways = { ...stopping, ...passing }
    const nameOf = (reason: string) => reason.toLowerCase().replace(' ', '-')
    const sending = await startedSending(backend, [
      ...Object.entries(gateways).map(([reason, { url }]) => ({ name: nameOf(reason), url })),
      { name: 'poisoned', url: poison.url },
      { name: 'tls', url: untrusted.url },
    ])
    const { collector } = sending
    await session(collector, 'S1')

    for (const reason of Object.keys(stopping)) {
      await until(`blocked by ${reason}`, async () => (await sending.forwarded(nameOf(reason))).state === 'blocked')
      expect(await sending.forwarded(nameOf(reason))).toMatchObject({ reason, sent: 0, quarantined: 0 })
    }
    for (const reason of Object.keys(passing)) {
      await until(`retrying for ${reason}`, async () => (await sending.forwarded(nameOf(reason))).retries >= 2)
      expect(await sending.forwarded(nameOf(reason))).toMatchObject({ state: 'retrying', reason, sent: 0 })
    }
    await until('blocked by TLS', async () => (await sending.forwarded('tls')).state === 'blocked')
    expect((await sending.forwarded('tls')).reason).toMatch(/^TLS: /)
    await until('the poisoned span', async () => (await sending.forwarded('poisoned')).quarantined === 1)

    // Said where people look: status, doctor, and one line of the log for each.
    const status = await runCli(['--home', collector.root, 'status'])
    const doctor = await runCli(['--home', collector.root, 'doctor'])
    for (const reason of [...Object.keys(gateways), 'TLS: ']) {
      expect(status.stdout).toContain(`${reason}`)
      expect(doctor.stdout).toContain(`${reason}`)
      expect(collector.stderr).toMatch(
        new RegExp(`forward ${reason === 'TLS: ' ? 'tls' : nameOf(reason)}: .*${reason}`),
      )
    }
    expect(collector.stderr).toContain(`HTTP 400 to span ${poisoned}`)
    expect(collector.stderr + status.stdout + doctor.stdout).not.toContain('text of a gateway')
    const [first = 0, second = 0] = passing['HTTP 429'].asked
    expect(second - first).toBeGreaterThanOrEqual(RETRY_AFTER * 1_000)

    // The gate answers all the while, and a collector that is killed loses none of what waits.
    await collector.kill()
    await collector.start()
    await session(collector, 'S2')
    const answer = await collector.hook('PreToolUse', preToolUse('S3', 'c1'))
    expect(answer).toEqual({ status: 200, body: 'spanseal/1 pass\n' })
    await collector.hook('PostToolUse', postToolUse('S3', 'c1'))
    await collector.hook('SessionEnd', event('S3', 'SessionEnd', { reason: 'other' }))

    for (const each of Object.values(gateways)) each.refusal = () => null
    const expected = await sending.expected()
    await sending.served('peer')
    for (const [reason, { taken }] of Object.entries(gateways)) {
      await sending.served(nameOf(reason))
      expect(idsOf(taken).sort()).toEqual(ids(expected))
      expect(await sending.forwarded(nameOf(reason))).toMatchObject({ sent: expected.length, quarantined: 0 })
    }
    await sending.served('poisoned')
    expect(idsOf(poison.taken).sort()).toEqual(ids(expected.filter(({ spanId }) => spanId !== poisoned)))
    expect(await sending.forwarded('poisoned')).toMatchObject({ sent: expected.length - 1, quarantined: 1 })
    expect(await sending.forwarded('tls')).toMatchObject({ state: 'blocked', sent: 0, quarantined: 0 })
    await allVerified({ jaeger, sending }, expected)
  },
)

it('a certificate that nobody trusts stops its destination until its authority is known', async () => {
  const jaeger = await startedJaeger('disk')
  const secure = await gateway(jaeger.url, () => null, SERVER)
  const folder = mkdtempSync(join(tmpdir(), 'spanseal-tls-'))
  cleanUpLater(async () => rmSync(folder, { recursive: true }))
  const ca = join(folder, 'ca.pem')
  copyFileSync('test/fixtures/tls/client.pem', ca)
  const sending = await startedSending(jaeger.url, [{ name: 'secure', url: secure.url, tls: { ca } }])
  await session(sending.collector, 'S1')
  await until('blocked', async () => (await sending.forwarded('secure')).state === 'blocked')
  expect(secure.taken).toEqual([])
  copyFileSync('test/fixtures/tls/ca.pem', ca)
  const expected = await sending.expected()
  await sending.served('secure')
  expect(idsOf(secure.taken).sort()).toEqual(ids(expected))
  await allVerified({ jaeger, sending }, expected)
})

it('a backend that is away while thousands of spans queue up gets each once, over restarts of the collector', async () => {
  const { jaeger, sending } = await direct('disk')
  const { collector } = sending
  await jaeger.kill()
  for (let round = 0; round < 3; round++) {
    for (let call = 0; call < 500; call++) {
      const asked = await collector.hook('PreToolUse', preToolUse(`S${round}`, `c${call}`))
      expect(asked.body).toBe('spanseal/1 pass\n')
      await collector.hook('PostToolUse', postToolUse(`S${round}`, `c${call}`))
    }
    await collector.hook('SessionEnd', event(`S${round}`, 'SessionEnd', { reason: 'other' }))
    await collector.kill()
    await collector.start()
  }
  const expected = await sending.expected()
  expect(expected.length).toBeGreaterThanOrEqual(3_000)
  expect(await sending.forwarded('peer')).toMatchObject({ state: 'retrying', reason: 'ECONNREFUSED', sent: 0 })
  await jaeger.start()
  await sending.served('peer')
  // What was sent is what there is: nothing twice.
  expect(await sending.forwarded('peer')).toMatchObject({ sent: ids(expected).length, rejected: 0, quarantined: 0 })
  await allVerified({ jaeger, sending }, expected)
})
