// Spans of others, passed on to a real Jaeger: each resolves to the signed record of the request it came in, also after restarts.
import { truncateSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { readFrames } from '../../../collector/store/segments.ts'
import { LOG_START } from '../../../conventions/log.ts'
import { attribute, type Span } from '../../../conventions/otlp.ts'
import { text } from '../../support/backend.ts'
import { runCli } from '../../support/cli.ts'
import { cleanUp, startedJaeger, startedSending } from './chain.ts'
import { until } from './program.ts'
import { byTrace, ids, session } from './session.ts'

afterEach(cleanUp)

const SERVICE = 'their-app'
const TRACES = 5

/** A trace of their own: a root, a model's answer, a tool call that failed. */
function traceOf(n: number, sessionId: string): Span[] {
  const traceId = `${n}`.padStart(32, 'c')
  const [root = '', chat = '', tool = ''] = [1, 2, 3].map((m) => `${n}${m}`.padStart(16, 'd'))
  const start = BigInt(Date.now()) * 1_000_000n
  const times = { startTimeUnixNano: String(start), endTimeUnixNano: String(start + 5_000_000n) }
  const common = [attribute('gen_ai.conversation.id', sessionId)]
  return [
    { traceId, spanId: root, name: 'invoke_agent theirs', kind: 1, attributes: common, ...times },
    {
      traceId,
      spanId: chat,
      parentSpanId: root,
      name: 'chat m1',
      kind: 3,
      attributes: [
        ...common,
        attribute('gen_ai.request.model', 'm1'),
        attribute('gen_ai.usage.input_tokens', 5),
        attribute('gen_ai.input.messages', 'CONTENT'),
      ],
      links: [{ traceId: 'e'.repeat(32), spanId: 'e'.repeat(16) }],
      ...times,
    },
    {
      traceId,
      spanId: tool,
      parentSpanId: root,
      name: 'execute_tool search',
      kind: 1,
      attributes: [...common, attribute('gen_ai.tool.name', 'search')],
      events: [
        { timeUnixNano: times.endTimeUnixNano, name: 'exception', attributes: [attribute('exception.type', 'E')] },
      ],
      status: { code: 2 },
      ...times,
    },
  ]
}

it.each(['http/json', 'http/protobuf'])(
  'all of them resolve over %s, over restarts; a log that was cut is found out',
  async (protocol) => {
    const jaeger = await startedJaeger('disk')
    const sending = await startedSending(jaeger.url, [
      { name: 'passing', url: jaeger.url, protocol, pass_through: true },
    ])
    const { collector } = sending
    const send = async (spans: Span[]) => {
      const resource = { attributes: [attribute('service.name', SERVICE), attribute('process.owner', 'OWNER')] }
      const answer = await fetch(`${collector.endpoint().otlp}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'sdk' }, spans }] }] }),
      })
      expect(answer.status).toBe(200)
    }
    await session(collector, 'S1')
    await send(traceOf(99, 'S1'))
    const theirs: Span[] = []
    for (let n = 0; n < TRACES; n++) {
      const spans = traceOf(n, `T${n}`)
      theirs.push(...spans)
      if (n === 2) {
        await jaeger.kill()
        await send(spans)
        await collector.kill()
        await collector.start()
        await jaeger.start()
      } else await send(spans)
    }
    await sending.served('passing')
    let found: Span[] = []
    await until('their spans in Jaeger', async () => {
      found = await jaeger.spans(SERVICE)
      return ids(found).length >= theirs.length
    })
    // None of the session that hooks speak for.
    expect(ids(found)).toEqual(ids(theirs))
    expect(await sending.forwarded('passing')).toMatchObject({
      withheld: 3,
      unreadable: 0,
      quarantined: 0,
      rejected: 0,
    })
    expect(JSON.stringify(found)).not.toMatch(/CONTENT|OWNER/)
    for (const span of found) {
      expect(text(span, 'spanseal.tier')).toBe('T3')
      expect(span.attributes).toContainEqual(attribute('spanseal.receipt_only', true))
      const { parentSpanId = '', name, kind } = theirs.find(({ spanId }) => spanId === span.spanId) as Span
      expect([span.parentSpanId ?? '', span.name, span.kind]).toEqual([parentSpanId, name, kind])
    }
    await collector.stop()
    const place = `jaeger=${jaeger.queryUrl}`
    const cli = (...args: string[]) => runCli(['--home', collector.root, ...args])
    for (const [traceId, members] of byTrace(found)) {
      const checked = await cli('check', 'span', traceId, '--in', place, '--json')
      expect(JSON.parse(checked.stdout)).toMatchObject({ agree: members.length, of: members.length })
      expect(checked.status).toBe(0)
    }
    const honest = await cli('verify', '--against', place, '--json')
    expect(JSON.parse(honest.stdout).copies.counts).toMatchObject({
      damaged: 0,
      mismatch: 0,
      receipt: 0,
      not_signed: 0,
    })
    expect(JSON.parse(honest.stdout).copies.counts.agrees).toBeGreaterThanOrEqual(found.length)

    // As someone who wants the last request gone.
    const frames = readFrames(`${collector.root}/log`, LOG_START, Number.POSITIVE_INFINITY)
    const last = theirs.at(-1) as Span
    const seq = Number(seqOf(found.find(({ spanId }) => spanId === last.spanId) as Span))
    truncateSync(`${collector.root}/log/00000000.seg`, frames[seq - 1]?.next.offset ?? 0)
    for (const name of ['checkpoint', 'checkpoints.jsonl']) writeFileSync(`${collector.root}/log/${name}`, '')
    const tampered = await cli('verify', '--against', place)
    expect(tampered.status).toBe(1)
    expect(tampered.stdout).toMatch(/BROKEN: .*copy\.beyond_log/)
    const gone = await cli('check', 'span', last.traceId, '--in', place, '--json')
    expect(gone.status).toBe(1)
    expect(JSON.parse(gone.stdout)).toMatchObject({ agree: 0, of: 3, log: 'broken' })
  },
)

function seqOf({ attributes }: Span): string {
  const value = attributes?.find(({ key }) => key === 'spanseal.seq')?.value
  return value !== undefined && 'intValue' in value ? String(value.intValue) : ''
}
