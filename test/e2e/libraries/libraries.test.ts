// Two real instrumented libraries send their own spans to a running collector: one tool that works, one that fails. Only the model is a
// stand-in, on loopback.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Collector } from '../../support/collector.ts'
import { fetched } from './install.ts'
import { OpenAiModel } from './model.ts'

const RUN_MS = 60_000
/** A proxy that nobody serves: what does not go to the stand-in goes nowhere. */
const DEAD_PROXY = 'http://127.0.0.1:9'

let folder: string
let collector: Collector

beforeAll(async () => {
  folder = await fetched('test/e2e/libraries', ['vercel-ai.mjs', 'langchain.mjs'])
  collector = await new Collector().start()
}, 300_000)
afterAll(() => collector.remove())

async function run(program: string): Promise<number> {
  const model = new OpenAiModel()
  const url = await model.start()
  const env = { PATH: '/usr/bin:/bin', HOME: folder, HTTPS_PROXY: DEAD_PROXY, OTEL_SERVICE_NAME: program }
  try {
    const traces = new URL('/v1/traces', collector.endpoint().otlp).href
    await promisify(execFile)(process.execPath, [`${folder}/${program}.mjs`, url, traces], { env, timeout: RUN_MS })
    return model.asked
  } finally {
    await model.stop()
  }
}

async function query(sql: string): Promise<unknown[][]> {
  const { rows, error } = await collector.sql(sql)
  if (error !== undefined) throw new Error(error)
  return rows
}

describe.each([
  {
    program: 'vercel-ai',
    dialect: 'vercel_ai_legacy',
    session: 'live-vercel',
    agent: 'weather-agent',
    worked: 'no error reported',
    would: 'would_flag',
  },
  {
    program: 'langchain',
    dialect: 'openinference',
    session: 'live-langchain',
    agent: 'weather_agent',
    worked: 'success reported',
    // It sends one argument alone, as text: too little to judge.
    would: null,
  },
])('$program', ({ program, dialect, session, agent, worked, would }) => {
  beforeAll(async () => {
    expect(await run(program)).toBe(3)
  }, RUN_MS)

  it('is one run with its calls of the model counted once', async () => {
    expect(
      await query(
        `SELECT session, agent, dialects, model_calls, models, input_tokens, output_tokens, cache_read_tokens,
          tool_calls, tool_errors, receipt_only FROM imported_runs WHERE run = '${session}'`,
      ),
    ).toEqual([[session, agent, [dialect], 3, ['gpt-stub'], 100 + 101 + 102, 30, 120, 2, 1, true]])
  })

  it('tells the tool that failed from the one that did not', async () => {
    expect(await query(`SELECT tool, outcome, would FROM tool_calls WHERE run = '${session}' ORDER BY time`)).toEqual([
      ['get_weather', worked, would],
      ['read_file', 'error reported', would],
    ])
  })

  it('leaves no content in the index, and all of it in the vault', async () => {
    for (const view of ['telemetry', 'tool_calls', 'model_calls', 'spans']) {
      expect(JSON.stringify(await query(`SELECT * FROM ${view}`))).not.toMatch(/weather in Paris|missing\.txt/)
    }
    expect(await query(`SELECT count(*) > 0 FROM contents WHERE name = 'body'`)).toEqual([[true]])
  })
})
