// Our collector, a real OpenTelemetry Collector and a real Jaeger one after the other, and what all peer tests ask of the last one.
import { expect } from 'vitest'
import type { Span } from '../../../conventions/otlp.ts'
import { CopyJudge } from './copies.ts'
import { Jaeger } from './jaeger.ts'
import { Otelcol, type OtelcolSetup } from './otelcol.ts'
import { until } from './program.ts'
import { Sending } from './sending.ts'
import { ids, SERVICE, session } from './session.ts'

/** A test must not wait the half minute that the OpenTelemetry Collector may wait between attempts. */
const IMPATIENT = [
  'exporters::otlp_http::retry_on_failure::initial_interval: 200ms',
  'exporters::otlp_http::retry_on_failure::max_interval: 1s',
]

const cleanUps: (() => Promise<void>)[] = []

/** Ends and removes, after a test, everything that it started. */
export async function cleanUp(): Promise<void> {
  for (const step of cleanUps.splice(0).reverse()) await step()
}

export interface Direct {
  jaeger: Jaeger
  sending: Sending
}

export interface Chain extends Direct {
  otelcol: Otelcol
}

/** Everything started: our collector sends to Jaeger. */
export async function direct(storage: 'memory' | 'disk'): Promise<Direct> {
  const jaeger = await startedJaeger(storage)
  return { jaeger, sending: await startedSending(jaeger.url) }
}

/** Everything started: our collector sends to an OpenTelemetry Collector, that one to Jaeger. */
export async function chain(setup: Omit<OtelcolSetup, 'backend'> = {}): Promise<Chain> {
  const { jaeger, otelcol } = await startedOtelcol(setup)
  return { jaeger, otelcol, sending: await startedSending(otelcol.url) }
}

/** A Jaeger, and an OpenTelemetry Collector in front of it. */
export async function startedOtelcol(setup: Omit<OtelcolSetup, 'backend'> = {}): Promise<Omit<Chain, 'sending'>> {
  const jaeger = await startedJaeger('disk')
  const settings = [...IMPATIENT, ...(setup.settings ?? [])]
  const otelcol = new Otelcol({ ...setup, settings, backend: jaeger.url })
  cleanUps.push(() => otelcol.remove())
  await otelcol.start()
  return { jaeger, otelcol }
}

/** Waits until Jaeger holds all spans; each must resolve to a verified record. Gives them as Jaeger has them. */
export async function allVerified({ jaeger, sending }: Direct, expected: Span[]): Promise<Span[]> {
  const wanted = ids(expected)
  let found: Span[] = []
  await until(`${wanted.length} spans in Jaeger`, async () => {
    found = await jaeger.spans(SERVICE)
    return ids(found).length >= wanted.length
  })
  expect(ids(found)).toEqual(wanted)
  expect(new CopyJudge(sending.collector).count(found)).toEqual({ verified: found.length, damaged: 0, wrong: 0 })
  return found
}

/** Does it three times, each time when new spans have been taken, while an agent goes on working. */
export async function whileSending(sending: Sending, disturb: () => Promise<void>): Promise<void> {
  let left = 3
  const agent = (async () => {
    for (let i = 0; left > 0; i++) await session(sending.collector, `S${i}`)
  })()
  while (left > 0) {
    const { sent } = await sending.forwarded('peer')
    await until('spans on their way', async () => (await sending.forwarded('peer')).sent > sent)
    await disturb()
    left--
  }
  await agent
}

/** Ends it after the test. */
export function cleanUpLater(step: () => Promise<void>): void {
  cleanUps.push(step)
}

export async function startedJaeger(storage: 'memory' | 'disk'): Promise<Jaeger> {
  const jaeger = new Jaeger(storage)
  cleanUps.push(() => jaeger.remove())
  return jaeger.start()
}

/** Our collector; `more`: destinations beside the peer. */
export async function startedSending(peer: string, more: object[] = []): Promise<Sending> {
  const sending = await Sending.to(peer, more)
  cleanUps.push(() => sending.remove())
  return sending
}
