// Spans forwarded to a real Jaeger and read back through its query API.
import { truncateSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { readFrames } from '../../../collector/store/segments.ts'
import { MAX_ID_CHARS } from '../../../conventions/limits.ts'
import { LOG_START } from '../../../conventions/log.ts'
import { text } from '../../support/backend.ts'
import { runCli } from '../../support/cli.ts'
import { allVerified, cleanUp, direct, startedSending, whileSending } from './chain.ts'
import { until } from './program.ts'
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

it('the self-audit asks Jaeger for what it took, and writes a signed gap when Jaeger has lost it', async () => {
  const { jaeger } = await direct('memory')
  const audited = { name: 'audited', url: jaeger.url, query: { kind: 'jaeger', url: jaeger.queryUrl } }
  const sending = await startedSending(jaeger.url, [audited])
  const { collector } = sending
  await session(collector, 'S1')
  const expected = await sending.expected()
  await sending.served('audited')
  await allVerified({ jaeger, sending }, expected)
  // In memory: a restart forgets all of it.
  await jaeger.kill()
  await jaeger.start()
  const gaps = () =>
    collector.records().flatMap(({ body }) => ('kind' in body && body.kind === 'copy_missing' ? [body] : []))
  await until('the gap', () => gaps().length > 0, 180_000)
  expect(gaps()).toEqual([{ kind: 'copy_missing', count: expected.length, destination: 'audited' }])
  const status = await runCli(['--home', collector.root, 'status'])
  expect(status.stdout).toContain(`audited: ${expected.length} of ${expected.length} spans missing`)
  const doctor = await runCli(['--home', collector.root, 'doctor'])
  expect(doctor.stdout).toContain(`${expected.length} of ${expected.length} spans that audited took are not there`)
})

it('verify --against Jaeger agrees with an honest log, and names a tail that was cut off afterwards; check span resolves N/N', async () => {
  const { jaeger, sending } = await direct('memory')
  const { collector } = sending
  for (const id of ['S1', 'S2']) await session(collector, id)
  const expected = await sending.expected()
  await sending.served('peer')
  const spans = await allVerified({ jaeger, sending }, expected)
  await collector.stop()
  const trust = `${collector.root}/pinned.trust`
  const cli = (...args: string[]) => runCli(['--home', collector.root, ...args])
  writeFileSync(trust, (await cli('verify', '--print-trust')).stdout)
  const place = `jaeger=${jaeger.queryUrl}`

  const honest = await cli('verify', '--trust', trust, '--against', place, '--json')
  expect(JSON.parse(honest.stdout)).toMatchObject({
    status: 'intact',
    copies: { counts: { agrees: spans.length, damaged: 0, mismatch: 0, beyond_log: 0, not_signed: 0 } },
  })
  for (const [traceId, members] of byTrace(spans)) {
    const checked = await cli('check', 'span', traceId, '--in', place, '--json')
    expect(JSON.parse(checked.stdout)).toMatchObject({ agree: members.length, of: members.length })
  }

  // As someone who wants the end gone: the records and every checkpoint over them.
  const frames = readFrames(`${collector.root}/log`, LOG_START, Number.POSITIVE_INFINITY)
  truncateSync(`${collector.root}/log/00000000.seg`, frames[11]?.next.offset ?? 0)
  for (const name of ['checkpoint', 'checkpoints.jsonl']) writeFileSync(`${collector.root}/log/${name}`, '')
  expect(JSON.parse((await cli('verify', '--json')).stdout).status).toBe('self_consistent')
  const tampered = await cli('verify', '--against', place)
  expect(tampered.status).toBe(1)
  expect(tampered.stdout).toMatch(/BROKEN: .*copy\.beyond_log/)
})
