// Promises of the classifier for any decoded item, and what no recorded body shows.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from '../../../conventions/dialects/classify.ts'
import type { Item, SpanItem } from '../../../conventions/dialects/item.ts'
import {
  DIALECTS,
  MAX_CONTENT_CHARS,
  MAX_REQUESTED,
  MAX_TEXT_CHARS,
  MAX_UNREAD_NAMES,
  OPERATIONS,
} from '../../../conventions/dialects/view.ts'
import type { AnyValue, KeyValue, Span } from '../../../conventions/otlp.ts'
import { bodiesOf, itemsOf, sources } from './bodies.ts'

const text = (key: string, stringValue: string): KeyValue => ({ key, value: { stringValue } })
const int = (key: string, intValue: string): KeyValue => ({ key, value: { intValue } })

function span(attributes: KeyValue[], more: Partial<Span> = {}, about: Partial<SpanItem> = {}): SpanItem {
  const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), startTimeUnixNano: '1', endTimeUnixNano: '2000001' }
  return { signal: 'span', resource: [], scope: {}, span: { ...ids, name: 'x', attributes, ...more }, ...about }
}

/** Names that any dialect reads, from the recorded bodies, and some nobody does. */
const seen = sources.flatMap((source) => bodiesOf(source).flatMap(itemsOf))
const attributesOf = (item: Item) =>
  (item.signal === 'span'
    ? item.span.attributes
    : item.signal === 'log'
      ? item.log.attributes
      : item.point.attributes) ?? []
const names = [...new Set(seen.flatMap((item) => attributesOf(item).map(({ key }) => key)))]
const spanNames = [...new Set(seen.flatMap((item) => (item.signal === 'span' ? [item.span.name] : [])))]
const scopes = [...new Set(seen.map(({ scope }) => scope.name ?? ''))]
const odd = [
  '__proto__',
  'constructor',
  'toString',
  '',
  '\ud800',
  '9'.repeat(30),
  '-1',
  '1e400',
  '[',
  '[[[[',
  '{"a":',
  'null',
  '"x"',
]
const texts = fc.oneof(
  fc.string(),
  fc.constantFrom(...odd),
  fc.json(),
  fc.constantFrom(
    '[{"role":"assistant","parts":[{"type":"tool_call","name":"f","arguments":{}}]}]',
    'tools/call',
    'TOOL',
    'chat',
  ),
)
const value: fc.Arbitrary<AnyValue> = fc.letrec<{ any: AnyValue }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    texts.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => ({ intValue: String(n) })),
    fc.double().map((doubleValue) => ({ doubleValue })),
    fc.constant({ bytesValue: 'AA==' }),
    fc.constant({}),
    fc.array(tie('any'), { maxLength: 4 }).map((values) => ({ arrayValue: { values } })),
    fc
      .array(fc.record({ key: texts, value: tie('any') }), { maxLength: 4 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
})).any
const attribute: fc.Arbitrary<KeyValue> = fc.record(
  { key: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: texts }), value },
  { requiredKeys: ['key'] },
)
const attributes = fc.array(attribute, { maxLength: 12 })
const nanos = fc.constantFrom('0', '1', '18446744073709551615', 'x', '')
const origin = { resource: attributes, scope: fc.record({ name: fc.constantFrom(...scopes) }) }
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    signal: fc.constant('span' as const),
    ...origin,
    span: fc.record({
      traceId: fc.constant('a'.repeat(32)),
      spanId: fc.constant('b'.repeat(16)),
      name: fc.oneof(fc.constantFrom(...spanNames), texts),
      startTimeUnixNano: nanos,
      endTimeUnixNano: nanos,
      attributes,
      status: fc.record({ code: fc.constantFrom(0, 1, 2, 7), message: texts }),
      events: fc.array(
        fc.record({
          timeUnixNano: nanos,
          name: fc.constantFrom('gen_ai.choice', 'gen_ai.tool.message', 'exception', 'tool.output'),
          attributes,
        }),
        { maxLength: 3 },
      ),
    }),
  }),
  fc.record({
    signal: fc.constant('log' as const),
    ...origin,
    log: fc.record({ attributes, body: value, eventName: texts }, { requiredKeys: [] }),
  }),
  fc.record({
    signal: fc.constant('metric' as const),
    ...origin,
    metric: fc.record({
      name: fc.constantFrom('claude_code.token.usage', 'gen_ai.x', 'codex.y', 'z'),
      kind: fc.constant('sum' as const),
    }),
    point: fc.record(
      { attributes, asInt: fc.constantFrom('9223372036854775807', 'x', 3), asDouble: fc.double() },
      { requiredKeys: [] },
    ),
  }),
)

describe('classify, of any item', () => {
  it('never throws, and says nothing that is not said', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const view = classify(item)
        expect([...OPERATIONS, null]).toContain(view.operation)
        expect([...DIALECTS, null]).toContain(view.dialect)
        for (const count of Object.values(view.tokens ?? {}))
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
        for (const fact of Object.values(view)) expect(fact === undefined).toBe(false)
        for (const [name, fact] of Object.entries(view)) {
          if (typeof fact === 'string' && name !== 'dialect') expect(fact.length).toBeGreaterThan(0)
        }
        if (view.dialect === null) expect(view.operation).toBeNull()
        if (attributesOf(item).length === 0 && item.signal === 'span' && item.span.status?.code === 0) {
          expect(view.outcome).toBe('none')
        }
        expect(view.unread.count).toBeLessThanOrEqual(attributesOf(item).length)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is bounded, however large the item', () => {
    const huge = 'x'.repeat(3 * MAX_CONTENT_CHARS)
    const calls = JSON.stringify([
      {
        role: 'assistant',
        parts: Array.from({ length: 500 }, (_, i) => ({
          type: 'tool_call',
          id: `c${i}`,
          name: 'f',
          arguments: 'y'.repeat(100),
        })),
      },
    ])
    const many = Array.from({ length: 5_000 }, (_, i) => text(`unknown.${i}.${'n'.repeat(1_000)}`, 'v'))
    const view = classify(
      span([
        ...many,
        text('gen_ai.operation.name', 'execute_tool'),
        text('gen_ai.tool.call.arguments', huge),
        text('gen_ai.tool.call.result', huge),
        text('gen_ai.output.messages', calls),
        text('gen_ai.tool.name', huge),
      ]),
    )
    expect(view.content.arguments?.length).toBe(MAX_CONTENT_CHARS)
    expect(view.cut.sort()).toEqual(['arguments', 'result'])
    expect(view.requested).toHaveLength(MAX_REQUESTED)
    expect(view.tool).toBeUndefined()
    expect(view.unread.count).toBe(5_001)
    expect(view.unread.names).toHaveLength(MAX_UNREAD_NAMES)
    expect(Math.max(...view.unread.names.map((name) => name.length))).toBe(MAX_TEXT_CHARS)
  })

  it('does not follow JSON into its depths, and reads no more of it than a view holds', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(classify(span([text('gen_ai.output.messages', deep), text('gen_ai.system', 's')])).requested).toEqual([])
    // Text that can be parsed and not written again, where a call's arguments are written again.
    const call = `[{"type":"tool_call","name":"a","arguments":${deep}}]`
    expect(classify(span([text('gen_ai.output.messages', call), text('gen_ai.system', 's')])).requested).toEqual([])
    const flat = `[{"type":"tool_call","name":"a","arguments":{"text":"${'['.repeat(1_000)}\\""}}]`
    expect(classify(span([text('gen_ai.output.messages', flat), text('gen_ai.system', 's')])).requested).toHaveLength(1)
    const long = JSON.stringify([{ type: 'tool_call', name: 'f', arguments: 'z'.repeat(MAX_CONTENT_CHARS) }])
    expect(classify(span([text('gen_ai.output.messages', long), text('gen_ai.system', 's')])).requested).toEqual([])
  })

  it('takes time in proportion: each attribute is looked at a fixed number of times', () => {
    // Counted, not timed: a Proxy sees every key that is read.
    const looks = (n: number) => {
      let count = 0
      const list = Array.from({ length: n }, (_, i) => ({
        key: `llm.output_messages.${i}.message.content`,
        value: { stringValue: 'v' },
      }))
      const get = (target: KeyValue, name: string | symbol) => {
        count++
        return Reflect.get(target, name)
      }
      const watched = list.map((one) => new Proxy(one, { get }))
      classify(span([text('openinference.span.kind', 'LLM'), ...watched]))
      return count
    }
    expect(looks(4_000)).toBeLessThanOrEqual(4 * looks(1_000) + 100)
  })
})

describe('classify', () => {
  it.each(['constructor', '__proto__', 'toString', 'no_such'])('an operation called %s is none', (name) => {
    expect(classify(span([text('gen_ai.operation.name', name)])).operation).toBeNull()
    expect(classify(span([text('openinference.span.kind', name)])).operation).toBe('step')
    expect(classify(span([text('traceloop.span.kind', name)])).operation).toBeNull()
  })

  it('an absent count stays absent, a zero that was sent stays zero', () => {
    const chat = [text('gen_ai.operation.name', 'chat'), text('gen_ai.provider.name', 'p')]
    expect(classify(span(chat)).tokens).toBeUndefined()
    expect(classify(span([...chat, int('gen_ai.usage.output_tokens', '0')])).tokens).toEqual({ output: 0 })
  })

  it('a count that no double holds is left unread rather than rounded', () => {
    const view = classify(span([text('gen_ai.system', 'p'), int('gen_ai.usage.input_tokens', '9007199254740993')]))
    expect(view.tokens).toBeUndefined()
    expect(view.unread.names).toEqual(['gen_ai.usage.input_tokens'])
  })

  it('a tool that reported no error is not called a success', () => {
    const tool = [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 't')]
    expect(classify(span(tool)).outcome).toBe('none')
    expect(classify(span(tool, { status: { code: 1 } })).outcome).toBe('success')
    expect(classify(span(tool, { status: { code: 2, message: 'no' } }))).toMatchObject({
      outcome: 'error',
      content: { error: 'no' },
    })
    expect(classify(span([...tool, text('error.type', 'tool_error')]))).toMatchObject({
      outcome: 'error',
      error_type: 'tool_error',
    })
  })

  it.each([
    ['gen_ai.usage.cache_creation.input_tokens', 'cache_write'],
    ['gen_ai.usage.cache_write.input_tokens', 'cache_write'],
    ['gen_ai.usage.cache_creation_input_tokens', 'cache_write'],
    ['gen_ai.usage.cache_read.input_tokens', 'cache_read'],
    ['gen_ai.usage.cache_read_input_tokens', 'cache_read'],
    ['gen_ai.usage.reasoning.output_tokens', 'reasoning'],
    ['gen_ai.usage.prompt_tokens', 'input'],
    ['gen_ai.usage.completion_tokens', 'output'],
  ])('%s is %s', (name, kind) => {
    expect(classify(span([text('gen_ai.operation.name', 'chat'), int(name, '7')])).tokens).toEqual({ [kind]: 7 })
  })

  it('structured messages, arguments and results read as JSON text', () => {
    const part = { kvlistValue: { values: [text('type', 'tool_call'), text('id', 'c1'), text('name', 'f')] } }
    const message = { kvlistValue: { values: [{ key: 'parts', value: { arrayValue: { values: [part] } } }] } }
    const view = classify(
      span([
        text('gen_ai.operation.name', 'chat'),
        { key: 'gen_ai.output.messages', value: { arrayValue: { values: [message] } } },
        { key: 'gen_ai.tool.call.arguments', value: { kvlistValue: { values: [text('a', 'b')] } } },
      ]),
    )
    expect(view.requested).toEqual([{ id: 'c1', name: 'f' }])
    expect(view.content.arguments).toBe('{"a":"b"}')
  })

  it('MCP: a tool call is a tool call, another request is not; isError shows', () => {
    const call = [text('mcp.method.name', 'tools/call'), text('mcp.session.id', 's')]
    expect(classify(span(call, { name: 'tools/call get_weather' }))).toMatchObject({
      dialect: 'mcp',
      operation: 'execute_tool',
      tool: 'get_weather',
      outcome: 'none',
    })
    expect(classify(span(call)).session).toBeUndefined()
    expect(classify(span([...call, text('error.type', 'tool_error')])).outcome).toBe('error')
    const list = classify(span([text('mcp.method.name', 'tools/list'), text('gen_ai.tool.name', 'x')]))
    expect(list).toMatchObject({ dialect: 'mcp', operation: 'mcp' })
  })

  it('agentgateway: known by its service or by its target, in the names it publishes', () => {
    const published = [
      text('mcp.method.name', 'tools/call'),
      text('mcp.target', 'files'),
      text('gen_ai.tool.name', 'read'),
    ]
    expect(classify(span(published))).toMatchObject({
      dialect: 'agentgateway',
      operation: 'execute_tool',
      tool: 'read',
    })
    const resource = [text('service.name', 'agentgateway')]
    const model = [text('gen_ai.operation.name', 'chat'), text('gen_ai.provider.name', 'openai')]
    expect(classify(span(model, {}, { resource }))).toMatchObject({ dialect: 'agentgateway', operation: 'chat' })
    expect(classify(span([text('http.path', '/')], {}, { resource })).dialect).toBeNull()
  })

  it('OpenLLMetry of older versions: flattened messages', () => {
    const view = classify(
      span([
        text('llm.request.type', 'chat'),
        text('gen_ai.system', 'OpenAI'),
        text('gen_ai.prompt.0.role', 'user'),
        text('gen_ai.prompt.0.content', 'hello'),
        text('gen_ai.completion.0.finish_reason', 'tool_calls'),
        text('gen_ai.completion.0.tool_calls.0.id', 'c1'),
        text('gen_ai.completion.0.tool_calls.0.name', 'f'),
        text('gen_ai.completion.0.tool_calls.0.arguments', '{"a":1}'),
      ]),
    )
    expect(view).toMatchObject({
      dialect: 'openllmetry',
      operation: 'chat',
      finish: 'tool_calls',
      requested: [{ id: 'c1', name: 'f', arguments: '{"a":1}' }],
      content: { input: '[{"role":"user","content":"hello"}]' },
    })
  })

  it('what no dialect knows is kept, its names counted', () => {
    const view = classify(span([text('http.url', 'x'), text('openai.agents.span_data.type', 'function')]))
    expect(view).toEqual({
      dialect: null,
      operation: null,
      outcome: 'none',
      requested: [],
      content: {},
      cut: [],
      unread: { count: 2, names: ['http.url', 'openai.agents.span_data.type'] },
    })
  })
})
