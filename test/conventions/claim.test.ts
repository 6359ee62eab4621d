// Claims: written and read by one table; what is missing or of another type is a refusal that names the attribute.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLAIM_EVENTS, type Claim, claimAttributes, readClaims } from '../../conventions/claim.ts'
import { attribute, type ExportTraceServiceRequest, type KeyValue } from '../../conventions/otlp.ts'

const span = (attributes: KeyValue[]) => ({
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  name: 'claim',
  startTimeUnixNano: '1',
  endTimeUnixNano: '0',
  attributes,
})

const request = (...attributes: KeyValue[][]): ExportTraceServiceRequest => ({
  resourceSpans: [{ scopeSpans: [{ scope: { name: 'spanseal.hook' }, spans: attributes.map(span) }] }],
})

const text = fc.string({ maxLength: 20 })
const claims: fc.Arbitrary<Claim> = fc
  .record(
    {
      event: fc.constantFrom(...CLAIM_EVENTS),
      agent: fc.string({ minLength: 1, maxLength: 10 }),
      session: fc.string({ minLength: 1, maxLength: 10 }),
      tool: text,
      callId: text,
      args: text,
      result: text,
      prompt: text,
      durationMs: fc.integer(),
      exitCode: fc.integer(),
      machine: fc.boolean(),
      background: fc.boolean(),
    },
    { requiredKeys: ['event', 'agent', 'session'] },
  )
  .map((claim) => claim as Claim)

describe('a claim', () => {
  it('comes back from its attributes, and from JSON', () => {
    fc.assert(
      fc.property(claims, (claim) => {
        const sent: ExportTraceServiceRequest = JSON.parse(JSON.stringify(request(claimAttributes(claim))))
        expect(readClaims(sent)).toEqual([{ ok: true, claim }])
        const [result] = readClaims(sent)
        expect(result?.ok && Object.keys(result.claim).sort()).toEqual(Object.keys(claim).sort())
      }),
    )
  })

  it('keeps the exact text of content', () => {
    const args = '{"a": 1,\n "a":2}\ud83d\ude00'
    const [result] = readClaims(request(claimAttributes({ event: 'tool.before', agent: 'a', session: 's', args })))
    expect(result?.ok && result.claim.args).toBe(args)
  })

  it('keeps the span of a sender that has a telemetry of its own, and of nobody else', () => {
    const read = (scope: string) =>
      readClaims({
        resourceSpans: [
          {
            scopeSpans: [
              {
                scope: { name: scope },
                spans: [span(claimAttributes({ event: 'tool.before', agent: 'a', session: 's' }))],
              },
            ],
          },
        ],
      })[0]
    const foreign = read('my-agent')
    expect(foreign?.ok && foreign.claim.agentSpan?.spanId).toHaveLength(16)
    const own = read('spanseal.hooks.claude-code')
    expect(own?.ok && own.claim.agentSpan).toBeUndefined()
  })

  it('is read for each span, in order, refusals in their place', () => {
    const good = claimAttributes({ event: 'prompt', agent: 'a', session: 's' })
    expect(readClaims(request(good, [], good)).map(({ ok }) => ok)).toEqual([true, false, true])
    expect(readClaims({ resourceSpans: [{}, { scopeSpans: [{}] }] })).toEqual([])
  })

  const base = { event: 'spanseal.claim.event', agent: 'gen_ai.agent.name', session: 'gen_ai.conversation.id' }
  const good = [attribute(base.event, 'prompt'), attribute(base.agent, 'a'), attribute(base.session, 's')]
  it.each<[string, string, KeyValue[]]>([
    ['no event', base.event, good.slice(1)],
    ['an unknown event', base.event, [attribute(base.event, 'tool.maybe'), ...good.slice(1)]],
    ['no agent', base.agent, [...good.slice(0, 1), ...good.slice(2)]],
    ['no session', base.session, good.slice(0, 2)],
    ['an empty session', base.session, [...good.slice(0, 2), attribute(base.session, '')]],
    ['a number for a text', base.session, [...good.slice(0, 2), attribute(base.session, 5)]],
    ['a text for a number', 'spanseal.claim.exit_code', [...good, attribute('spanseal.claim.exit_code', '1')]],
    [
      'a fraction for a whole number',
      'spanseal.claim.duration_ms',
      [...good, attribute('spanseal.claim.duration_ms', 1.5)],
    ],
    [
      'a number too large to be exact',
      'spanseal.claim.duration_ms',
      [...good, { key: 'spanseal.claim.duration_ms', value: { intValue: '9007199254740993' } }],
    ],
    ['a text for a flag', 'spanseal.claim.machine', [...good, attribute('spanseal.claim.machine', 'true')]],
  ])('is refused with %s', (_, field, attributes) => {
    expect(readClaims(request(attributes))).toMatchObject([
      { ok: false, field, message: expect.stringContaining(field) },
    ])
  })
})
