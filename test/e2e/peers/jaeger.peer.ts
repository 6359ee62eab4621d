// Spans forwarded to a real Jaeger and read back through its query API.
import { afterEach, expect, it } from 'vitest'
import { MAX_ID_CHARS } from '../../../conventions/limits.ts'
import { text } from '../../support/backend.ts'
import { allVerified, cleanUp, direct, whileSending } from './chain.ts'
import { byTrace, deniedCall, isRoot, longCall, session } from './session.ts'

afterEach(cleanUp)

it('every span in Jaeger resolves to a verified record, every trace has its root, denied calls are errors', async () => {
  const { jaeger, sending } = await direct('memory')
  const sessions = ['S1', 'S2', 'S3']
  for (const id of sessions) await session(sending.collector, id)
  await longCall(sending.collector, 'L'.repeat(MAX_ID_CHARS - 10))
  const expected = await sending.expected()
  expect(expected.length).toBeGreaterThanOrEqual(sessions.length * 12)
  await sending.served('peer')
  expect(await sending.forwarded('peer')).toMatchObject({ sent: expected.length, rejected: 0, quarantined: 0 })
  const spans = await allVerified({ jaeger, sending }, expected)
  expect(spans.filter((span) => text(span, 'spanseal.record.1') !== undefined).length).toBeGreaterThan(0)

  for (const [, members] of byTrace(spans)) {
    expect(members.filter(isRoot)).toHaveLength(1)
    const known = new Set(members.map(({ spanId }) => spanId))
    for (const span of members) if (!isRoot(span)) expect(known).toContain(span.parentSpanId)
  }
  for (const id of sessions) {
    const denied = spans.filter(
      (span) => span.name === 'execute_tool Bash' && text(span, 'gen_ai.tool.call.id') === deniedCall(id),
    )
    expect(denied.map((span) => [span.status?.code, text(span, 'error.type')])).toEqual([[2, 'policy_denied']])
  }
})

it('all spans arrive in a Jaeger that is killed and restarted while they are sent', async () => {
  const { jaeger, sending } = await direct('disk')
  await whileSending(sending, async () => {
    await jaeger.kill()
    await jaeger.start()
  })
  const expected = await sending.expected()
  await sending.served('peer')
  expect(await sending.forwarded('peer')).toMatchObject({ sent: expected.length, rejected: 0, quarantined: 0 })
  await allVerified({ jaeger, sending }, expected)
})

it('a Jaeger that was away gets everything, also what was recorded before our collector was killed', async () => {
  const { jaeger, sending } = await direct('memory')
  await jaeger.kill()
  await session(sending.collector, 'S1')
  await sending.collector.kill()
  await sending.collector.start()
  await session(sending.collector, 'S2')
  const expected = await sending.expected()
  expect((await sending.forwarded('peer')).sent).toBe(0)
  await jaeger.start()
  await sending.served('peer')
  await allVerified({ jaeger, sending }, expected)
})
