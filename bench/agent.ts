// The real Claude Code as a clock: its own telemetry says how long each of its hooks took. Its home, key and model are made up, and
// nothing it sends leaves this machine.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { claudeBinary } from '../test/e2e/claude/support/install.ts'
import { Model } from '../test/e2e/claude/support/model.ts'
import { keepTrack } from './process.ts'

/** Milliseconds until a session that does not come to its end is given up. */
const STUCK_MS = 120_000
/** A proxy that nobody serves. */
const NOWHERE = 'http://127.0.0.1:9'

export interface Agent {
  /** Runs one session of `calls` calls in a project, `before` each; milliseconds that the agent says its PreToolUse hooks took. */
  session(project: string, calls: number, before: () => unknown): Promise<number[]>
  stop(): Promise<void>
}

/** Throws when the agent is not there and can't be fetched. `userHome`: an empty folder for it. */
export async function startAgent(userHome: string): Promise<Agent> {
  const program = await claudeBinary()
  const took: number[] = []
  const telemetry = createServer((request, response) => {
    read(request).then(
      (text) => {
        took.push(...hookTimes(text))
        response.setHeader('content-type', 'application/json').end('{}')
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((done) => telemetry.listen(0, '127.0.0.1', done))
  const address = telemetry.address()
  const otlp = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  let sessions = 0
  return {
    async session(project, calls, before) {
      mkdirSync(project, { recursive: true })
      const id = `bench${'x'.repeat(sessions++)}`
      const step = (n: number) => ({
        before,
        calls: [{ id: `${id}_${n}`, name: 'Bash', input: { command: 'true', description: `Call ${n}` } }],
      })
      const model = await new Model({
        [id]: [...Array.from({ length: calls }, (_, n) => step(n)), { text: 'Done.' }],
      }).start()
      took.length = 0
      const env = { ...agentEnv(userHome, model.url), ...telemetryEnv(otlp) }
      await run(program, project, env, `Go on. [[${id}]]`)
      const failed = model.failures[0] ?? [...model.results.values()].find(({ error }) => error)?.text
      await model.stop()
      if (failed !== undefined) throw new Error(`a call of the agent failed: ${failed}`)
      if (took.length !== calls) throw new Error(`the agent told of ${took.length} hook times, not of ${calls}`)
      return [...took]
    },
    stop: () => new Promise((done) => telemetry.close(() => done())),
  }
}

function run(program: string, cwd: string, env: NodeJS.ProcessEnv, prompt: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['-p', '--dangerously-skip-permissions'], { cwd, env, timeout: STUCK_MS })
    keepTrack(child)
    let words = ''
    for (const out of [child.stdout, child.stderr]) {
      out.on('data', (chunk: Buffer) => {
        words += chunk.toString()
      })
    }
    child.once('error', reject)
    child.once('close', (status) =>
      status === 0 ? resolve() : reject(new Error(`claude ended with ${status}: ${words}`)),
    )
    child.stdin.end(prompt)
  })
}

function agentEnv(HOME: string, model: string): NodeJS.ProcessEnv {
  return {
    HOME,
    PATH: '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TMPDIR: HOME,
    ANTHROPIC_API_KEY: 'sk-ant-api03-not-a-key',
    ANTHROPIC_BASE_URL: model,
    HTTPS_PROXY: NOWHERE,
    HTTP_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    // Without it the agent refuses to skip permissions as root.
    IS_SANDBOX: '1',
  }
}

function telemetryEnv(otlp: string): NodeJS.ProcessEnv {
  return {
    CLAUDE_CODE_ENABLE_TELEMETRY: '1',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp,
    OTEL_LOGS_EXPORT_INTERVAL: '200',
  }
}

interface LogsRequest {
  resourceLogs?: { scopeLogs?: { logRecords?: { attributes?: Attribute[] }[] }[] }[]
}
interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number }
}

/** `total_duration_ms` of the log events `hook_execution_complete` of PreToolUse hooks, in an OTLP/JSON logs request. */
export function hookTimes(text: string): number[] {
  const request = JSON.parse(text) as LogsRequest
  const records = (request.resourceLogs ?? [])
    .flatMap(({ scopeLogs = [] }) => scopeLogs)
    .flatMap(({ logRecords = [] }) => logRecords)
  return records.flatMap(({ attributes = [] }) => {
    const fields = new Map(
      attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
    )
    const ours = fields.get('event.name') === 'hook_execution_complete' && fields.get('hook_event') === 'PreToolUse'
    return ours ? [Number(fields.get('total_duration_ms'))] : []
  })
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
