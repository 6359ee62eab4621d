// Through a real OpenTelemetry Collector that does to spans what teams do: each copy ends verified or damaged, none as another one.
import { afterEach, expect, it } from 'vitest'
import type { Span } from '../../../conventions/otlp.ts'
import { chain, cleanUp } from './chain.ts'
import { CopyJudge, type Worth } from './copies.ts'
import { until } from './program.ts'
import { byTrace, ids, SERVICE, session } from './session.ts'

afterEach(cleanUp)

interface Arrived {
  sent: Span[]
  found: Span[]
  worth: Record<Worth, number>
}

/** What arrives of `sessions` sessions behind the processors; `enough` says when to stop waiting. */
async function through(
  processors: string[],
  sessions: number,
  enough: (found: Span[], sent: Span[]) => boolean,
): Promise<Arrived> {
  const { sending, jaeger } = await chain({ program: 'otelcol-altering', processors })
  for (let i = 0; i < sessions; i++) await session(sending.collector, `S${i}`)
  const sent = await sending.expected()
  await sending.served('peer')
  let found: Span[] = []
  await until('the copies', async () => {
    found = await jaeger.spans(SERVICE)
    return enough(found, sent)
  })
  return { sent, found, worth: new CopyJudge(sending.collector).count(found) }
}

const allThere = (found: Span[], sent: Span[]) => ids(found).length === ids(sent).length

it.each([
  ['deletes the attribute', 'attributes'],
  ['masks long strings', 'redaction'],
  ['cuts attributes at 256 characters', 'transform'],
])('a Collector that %s leaves damaged copies, no wrong ones', async (_, processor) => {
  const { found, worth } = await through([processor], 1, allThere)
  expect(worth).toEqual({ verified: 0, damaged: found.length, wrong: 0 })
})

it('default tail sampling leaves out whole traces; what is left is verified', async () => {
  const sessions = 24
  // Half of 24 and more traces: neither none nor all is left, in practice.
  const { sent, found, worth } = await through(['tail_sampling/chance'], sessions, (some) => some.length > 0)
  expect(worth).toEqual({ verified: found.length, damaged: 0, wrong: 0 })
  expect(byTrace(found).size).toBeLessThan(byTrace(sent).size)
})
