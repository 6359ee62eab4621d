// What the views make of real bodies: each call of a model and each tool call counted once, however many items tell of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeOf } from '../../collector/judge.ts'
import { readImport } from '../../collector/receive/otlp/import.ts'
import { type IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import type { Row } from '../../collector/store/index/values.ts'
import { type Body, bodiesOf } from '../conventions/dialects/bodies.ts'
import { type Entry, LogFixture } from './index-log.ts'

let log: LogFixture
let index: IndexDatabase
const TYPES = { traces: 'spans.imported', logs: 'logs.imported', metrics: 'metrics.imported' } as const

function request({ signal, encoding, bytes }: Body): Entry {
  const counts = { count: 1, rejected: 0, encoding, bytes: bytes.length, spoofed: 0 }
  return { type: TYPES[signal], source: { kind: 'otlp' }, body: counts, contents: [{ name: 'body', bytes }] }
}

/** Each of a service of its own, so that one index can hold them all. */
const SOURCES = {
  'vercel-ai-new': 'demo-vercel-ai-new',
  'vercel-ai-legacy': 'demo-vercel-ai-legacy',
  strands: 'demo-strands',
  'google-adk': 'demo-adk',
  mastra: 'demo-mastra',
  genkit: 'demo-genkit',
  'openinference-langchain': 'demo-openinference-langchain',
  'openai-agents-bridge': 'demo-openai-agents-bridge',
  'traceloop-mcp': 'demo-mcp-client',
  'claude-agent-sdk-json': 'claude-code',
  codex: 'codex_exec',
  copilot: 'github-copilot',
  'gemini-cli': 'gemini-cli',
  opencode: 'opencode',
  'qwen-code': 'qwen-code',
} as const
type Source = keyof typeof SOURCES

beforeAll(async () => {
  log = new LogFixture()
  const entries = (Object.keys(SOURCES) as Source[]).flatMap(bodiesOf).map(request)
  // One of them three times, as a client that never hears the answer sends it.
  const thrice = bodiesOf('vercel-ai-new').map(request)
  log.addAll([...entries, ...thrice, ...thrice])
  const judge = judgeOf(log.dir, '/home/dev')
  index = await openIndexDirect({ ...log.options, readImport: (...given) => readImport(...given, { judge }) })
})
afterAll(async () => {
  await index.close()
  log.remove()
})

const rows = (sql: string): Promise<Row[]> => index.query(sql)
const of = (source: Source) => `service = '${SOURCES[source]}'`

describe('usage', () => {
  test.each([
    // Source, calls of the model, tokens in, tokens out: three calls of 120, 160 and 200 in, 18 out each, a run.
    ['vercel-ai-new', 6, 960, 108],
    ['vercel-ai-legacy', 6, 960, 108],
    ['strands', 3, 480, 54],
    ['google-adk', 3, 480, 54],
    ['mastra', 3, 480, 54],
    ['genkit', 4, 560, 72],
    ['openinference-langchain', 6, 960, 108],
    ['claude-agent-sdk-json', 3, 184 + 224 + 264, 54],
    // Its spans and its log records tell of the same five calls; of another session only log records tell, of four.
    ['codex', 5 + 4, 920 + 189 + 190 + 191 + 192, 100 + 80],
    ['copilot', 12, 1200, 240],
    ['qwen-code', 3, 300, 60],
    ['gemini-cli', 10, 125 + 126 + 127 + 128 + 129 + 130 + 131 + 132 + 133 + 134, 200],
  ] as const)('%s: %i calls of the model, each counted once', async (source, calls, input, output) => {
    const sums = 'sum(input_tokens) AS input, sum(output_tokens) AS output'
    const counted = `FROM model_calls WHERE counted AND receipt_only AND ${of(source)}`
    expect(await rows(`SELECT count(*) AS calls, ${sums} ${counted}`)).toEqual([{ calls, input, output }])
    const runs = `FROM imported_runs WHERE receipt_only AND ${of(source)}`
    expect(await rows(`SELECT sum(model_calls) AS calls, ${sums} ${runs}`)).toEqual([{ calls, input, output }])
    const sessions = `FROM session_usage WHERE tier = 'T3' AND receipt_only AND ${of(source)}`
    expect(await rows(`SELECT ${sums} ${sessions}`)).toEqual([{ input, output }])
  })

  test('a request that came three times changes nothing but how often its items were received', async () => {
    expect(
      await rows(
        `SELECT count(*) AS n, min(received) AS least, max(received) AS most FROM telemetry WHERE ${of('vercel-ai-new')}`,
      ),
    ).toEqual([{ n: 18, least: 3, most: 3 }])
  })
})

describe('tool_calls', () => {
  test.each([
    ['vercel-ai-new', 4, 2, 2],
    ['strands', 2, 1, 0],
    ['mastra', 2, 1, 0],
    ['genkit', 3, 1, 0],
    ['openinference-langchain', 4, 2, 0],
    ['traceloop-mcp', 3, 2, 0],
    // Neither of ADK's two says that it failed, and one did.
    ['google-adk', 2, 0, 2],
    ['claude-agent-sdk-json', 2, 1, 0],
    ['opencode', 1, 0, 1],
    ['qwen-code', 2, 0, 0],
    // Six by spans; of one, that failed before it ran, a log record alone tells.
    ['gemini-cli', 7, 1, 0],
    ['codex', 4 + 4, 0, 0],
    // One of the agent's sub-agent among them.
    ['copilot', 11, 1, 10],
  ] as const)('%s: %i calls, %i with an error reported, %i with none', async (source, calls, errors, none) => {
    expect(
      await rows(
        `SELECT count(*) AS calls, count(*) FILTER (outcome = 'error reported') AS errors,
          count(*) FILTER (outcome = 'no error reported') AS none FROM tool_calls WHERE receipt_only AND ${of(source)}`,
      ),
    ).toEqual([{ calls, errors, none }])
  })

  test('Claude Code tells of one call in spans and log records: one row, with the name of one and the outcome of another', async () => {
    expect(
      await rows(
        `SELECT tool, call_id, outcome, items, told_by, execution_reported FROM tool_calls
        WHERE ${of('claude-agent-sdk-json')} ORDER BY call_id`,
      ),
    ).toEqual([
      {
        tool: 'Bash',
        call_id: 'toolu_1abc123',
        outcome: 'success reported',
        items: 4,
        told_by: ['log', 'span'],
        execution_reported: true,
      },
      {
        tool: 'Read',
        call_id: 'toolu_2abc123',
        outcome: 'error reported',
        items: 4,
        told_by: ['log', 'span'],
        execution_reported: true,
      },
    ])
  })

  test('the policy says afterwards what it would have done, and nothing calls that blocked', async () => {
    const found = await rows(
      `SELECT tool, would, would_rules, would_policy FROM tool_calls WHERE ${of('vercel-ai-new')} ORDER BY time`,
    )
    expect(found.map(({ would }) => would)).toEqual(Array(4).fill('would_flag'))
    expect(found[0]).toMatchObject({
      would_rules: ['SP-UNKNOWN-TOOL'],
      would_policy: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })
})

describe('runs', () => {
  test('a session is one run, a trace without one its own; what nobody understood is counted', async () => {
    expect(
      await rows(
        `SELECT service, session, agent, dialects, items, not_understood, model_calls, tool_calls, tool_errors, not_session_data
        FROM imported_runs WHERE service IN ('claude-code', 'demo-openai-agents-bridge', 'demo-vercel-ai-new')
        ORDER BY service, items`,
      ),
    ).toEqual([
      {
        service: 'claude-code',
        session: 'bc09c767-e1fc-4314-b5f1-3db211b752fe',
        agent: 'claude-code',
        dialects: ['claude_code'],
        items: 42,
        not_understood: 0,
        model_calls: 3,
        tool_calls: 2,
        tool_errors: 1,
        not_session_data: false,
      },
      {
        service: 'demo-openai-agents-bridge',
        session: null,
        agent: null,
        dialects: null,
        items: 11,
        not_understood: 11,
        model_calls: 0,
        tool_calls: 0,
        tool_errors: 0,
        not_session_data: true,
      },
      ...[0, 1].map(() => ({
        service: 'demo-vercel-ai-new',
        session: null,
        agent: 'weather-agent',
        dialects: ['vercel_ai'],
        items: 9,
        not_understood: 0,
        model_calls: 3,
        tool_calls: 2,
        tool_errors: 1,
        not_session_data: false,
      })),
    ])
    expect(await rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 0 }])
    const unknown = `dialect IS NULL AND unread_attributes > 0 AND ${of('openai-agents-bridge')}`
    expect(await rows(`SELECT count(*) AS n FROM telemetry WHERE ${unknown}`)).toEqual([{ n: 11 }])
  })

  test('no content is in any row', async () => {
    for (const view of ['telemetry', 'tool_calls', 'model_calls', 'imported_runs', 'import_views']) {
      expect(JSON.stringify(await rows(`SELECT * FROM ${view}`))).not.toMatch(
        /Weather in Paris|sunny|missing\.txt|echo hello/,
      )
    }
  })
})

describe('two instrumentations of one program', () => {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const used = [
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: '2' } },
  ]
  const span = (id: string, parent: string, operation: string, attributes: object[]) => ({
    traceId: 'a'.repeat(32),
    spanId: id.repeat(16),
    ...(parent !== '' && { parentSpanId: parent.repeat(16) }),
    name: operation,
    startTimeUnixNano: '1796058000000000001',
    endTimeUnixNano: '1796058000000000002',
    attributes: [text('gen_ai.operation.name', operation), ...attributes],
  })

  async function told(spans: object[]): Promise<IndexDatabase> {
    const own = new LogFixture()
    const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))
    own.addAll([request({ source: '', file: '', signal: 'traces', encoding: 'json', bytes })])
    const made = await openIndexDirect({ ...own.options, readImport })
    own.remove()
    return made
  }

  test('a call of the model inside a call of the model is one, and so are two that name the same answer', async () => {
    const made = await told([
      span('1', '', 'invoke_agent', used),
      span('2', '1', 'chat', used),
      span('3', '2', 'chat', [...used, text('gen_ai.response.id', 'r1')]),
      span('4', '1', 'chat', [...used, text('gen_ai.response.id', 'r1')]),
      span('5', '1', 'chat', [...used, text('gen_ai.response.id', 'r2')]),
    ])
    expect(await made.query('SELECT span_id, counted FROM model_calls ORDER BY span_id')).toEqual([
      { span_id: '2'.repeat(16), counted: false },
      { span_id: '3'.repeat(16), counted: true },
      { span_id: '4'.repeat(16), counted: false },
      { span_id: '5'.repeat(16), counted: true },
    ])
    await made.close()
  })

  test('an MCP request inside a tool call is that call, not another; one on its own counts', async () => {
    const request = [text('mcp.method.name', 'tools/call'), text('gen_ai.tool.name', 't')]
    const made = await told([
      span('1', '', 'execute_tool', [text('gen_ai.tool.name', 't'), text('gen_ai.tool.call.id', 'c1')]),
      span('2', '1', 'execute_tool', request),
      span('3', '', 'execute_tool', request),
    ])
    expect(await made.query('SELECT call_id, items FROM tool_calls ORDER BY call_id NULLS LAST')).toEqual([
      { call_id: 'c1', items: 1 },
      { call_id: null, items: 1 },
    ])
    await made.close()
  })

  test('a span that came again with other content is counted once', async () => {
    const made = await told([span('1', '', 'chat', used), span('1', '', 'chat', [...used, text('gen_ai.system', 'p')])])
    expect(await made.query('SELECT sum(input_tokens) AS n FROM model_calls WHERE counted')).toEqual([{ n: 10 }])
    await made.close()
  })
})

describe('the same calls, told by our hooks and by the agent itself', () => {
  const SESSION = 'bc09c767-e1fc-4314-b5f1-3db211b752fe'
  const run = { id: 'f'.repeat(32), part: 0 }
  const decided = (id: string, tool: string, decision: 'allow' | 'deny'): Entry => ({
    type: 'tool.decided',
    run,
    call: { id, attempt: 1 },
    body: {
      tool,
      decision,
      rules: [],
      rules_total: 0,
      policy_hash: 'b'.repeat(64),
      enforced: true,
      args_source: 'raw',
    },
  })
  const completed = (id: string, tool: string, status: 'ok' | 'error' | 'denied'): Entry => ({
    type: 'tool.completed',
    run,
    call: { id, attempt: 1 },
    body: { tool, status, decision: null },
  })
  const message = (output: number): Entry => ({
    type: 'model.message',
    run,
    source: { kind: 'transcript' },
    body: {
      kind: 'text',
      model: 'claude-sonnet-4-5',
      message: 'm1',
      offset: output,
      usage: { input: 10, output, cache_read: 5 },
    },
  })
  const opening: Entry = {
    type: 'run.opened',
    run,
    body: {
      session: SESSION,
      agent: 'claude-code',
      ordinal: 0,
      mode: 'enforce',
      fail_mode: 'closed',
      reason: 'startup',
    },
  }

  async function compared(...calls: Entry[]): Promise<Row[]> {
    const own = new LogFixture()
    own.addAll([opening, message(7), ...bodiesOf('claude-agent-sdk-json').map(request), ...calls])
    const both = await openIndexDirect({ ...own.options, readImport })
    try {
      const found = await both.query('SELECT call_id, finding, receipt_only FROM cross_checks ORDER BY call_id')
      // Whatever telemetry says, our views say what our hooks saw, and usage is counted once.
      expect(await both.query('SELECT count(*) AS n FROM calls')).toEqual([
        { n: new Set(calls.map(({ call }) => call?.id)).size },
      ])
      expect(await both.query('SELECT tier, input_tokens, output_tokens FROM session_usage')).toEqual([
        { tier: 'T1', input_tokens: 10, output_tokens: 7 },
      ])
      expect(await both.query('SELECT run_id FROM imported_runs')).toEqual([{ run_id: run.id }])
      return found
    } finally {
      await both.close()
      own.remove()
    }
  }

  const BASH = 'toolu_1abc123'
  const READ = 'toolu_2abc123'

  test('agree, and differ, and miss one another', async () => {
    expect(
      await compared(
        decided(BASH, 'Bash', 'allow'),
        completed(BASH, 'Bash', 'ok'),
        completed(READ, 'Read', 'ok'),
        completed('c3', 'Glob', 'ok'),
      ),
    ).toEqual([
      { call_id: 'c3', finding: 'only hooks', receipt_only: false },
      { call_id: BASH, finding: 'agrees', receipt_only: true },
      { call_id: READ, finding: 'outcome differs', receipt_only: true },
    ])
  })

  test('a call we denied that the agent says succeeded is named as that', async () => {
    expect(
      await compared(
        decided(BASH, 'Bash', 'deny'),
        completed(BASH, 'Bash', 'denied'),
        completed(READ, 'Write', 'error'),
      ),
    ).toEqual([
      { call_id: BASH, finding: 'ran although denied', receipt_only: true },
      { call_id: READ, finding: 'tool differs', receipt_only: true },
    ])
  })

  test('a call that only telemetry tells of is no call of ours and closes nothing', async () => {
    expect(await compared(completed(READ, 'Read', 'error'))).toEqual([
      { call_id: BASH, finding: 'only telemetry', receipt_only: true },
      { call_id: READ, finding: 'agrees', receipt_only: true },
    ])
  })
})
