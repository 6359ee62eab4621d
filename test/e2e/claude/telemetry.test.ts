// The real Claude Code with its own telemetry on (spans, log records, metrics), beside our hooks: the same calls told twice are linked,
// compared, and counted once. Only the model is a stand-in.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bash, FORCE_PUSH, Model } from './support/model.ts'
import { ClaudeUser, SESSION_MS } from './support/user.ts'

let user: ClaudeUser
let model: Model
let session: string

beforeAll(async () => {
  user = await new ClaudeUser().install()
  await user.run(['up'])
  const { otlp } = JSON.parse(readFileSync(`${user.home}/endpoint.json`, 'utf8')) as { otlp: string }
  const exporter = 'otlp'
  user.extraEnv = {
    DISABLE_TELEMETRY: '',
    CLAUDE_CODE_ENABLE_TELEMETRY: '1',
    CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: '1',
    OTEL_TRACES_EXPORTER: exporter,
    OTEL_LOGS_EXPORTER: exporter,
    OTEL_METRICS_EXPORTER: exporter,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_ENDPOINT: new URL(otlp).origin,
    OTEL_LOG_TOOL_DETAILS: '1',
  }
  model = await new Model({
    work: [
      { text: 'I begin.', calls: [bash('allowed')] },
      { calls: [bash('failing', 'exit 3')] },
      { calls: [bash('denied', FORCE_PUSH)] },
      { text: 'Done.' },
    ],
  }).start()
  const { stdout } = await user.claude(model, 'Go. [[work]]', '--output-format', 'json')
  session = JSON.parse(stdout).session_id
}, SESSION_MS)
afterAll(async () => {
  await model?.stop()
  await user?.remove()
})

const sql = async (query: string) => ((await user.json(['sql', query])) as { rows: unknown[][] }).rows

describe('Claude Code with its own telemetry beside our hooks', () => {
  it('tells in all three signals, understood', async () => {
    const seen = await sql(
      `SELECT signal, list_sort(list(DISTINCT dialect)) FROM telemetry WHERE session = '${session}' GROUP BY signal ORDER BY signal`,
    )
    expect(seen).toEqual([
      ['log', ['claude_code']],
      ['metric', ['claude_code']],
      ['span', ['claude_code']],
    ])
  })

  it('links each call by session and call id, and says where they differ', async () => {
    expect(
      await sql(
        `SELECT call_id, finding, hook_status, receipt_only FROM cross_checks WHERE session = '${session}' ORDER BY call_id`,
      ),
    ).toEqual([
      ['allowed', 'agrees', 'ok', true],
      ['denied', 'agrees', 'denied', true],
      ['failing', 'agrees', 'error', true],
    ])
  })

  it('counts no call and no token twice', async () => {
    expect(await sql('SELECT count(*), count(DISTINCT call_id) FROM calls')).toEqual([[3, 3]])
    expect(await sql('SELECT count(*) FROM runs')).toEqual([[1]])
    expect(await sql(`SELECT count(*) FROM imported_runs WHERE run_id IS NULL AND NOT not_session_data`)).toEqual([[0]])
    const usage = await sql(`SELECT DISTINCT tier FROM session_usage WHERE session = '${session}'`)
    expect(usage).toEqual([['T1']])
    // Both sides tell of the same answers of the model.
    const [[ours], [theirs]] = [
      await sql(`SELECT sum(input_tokens), sum(output_tokens) FROM session_usage WHERE session = '${session}'`),
      await sql(
        `SELECT sum(input_tokens), sum(output_tokens) FROM model_calls WHERE counted AND session = '${session}'`,
      ),
    ] as [unknown[][], unknown[][]]
    expect(theirs).toEqual(ours)
  })

  it('shows both in one run', async () => {
    const { stdout } = await user.run(['show', session])
    expect(stdout).toContain("the agent's own telemetry (T3, receipt only): 3 calls of 3 told alike")
  })
})
