// Speaks with the running collector over its admin socket.
import type { ClientRequest } from 'node:http'
import type { HomePaths } from '../../conventions/home.ts'
import { readEndpoint } from './endpoint.ts'
import { CliError } from './exit.ts'

/** Milliseconds. A question may run as long as the collector lets it; its own budget is shorter. */
const ANSWER_MS = 60_000
/** Milliseconds. Somebody who holds the socket but does not answer is not a collector that works. */
const STATUS_MS = 5_000

/** Nobody listens on the admin socket: no collector runs. */
export class NotRunning extends CliError {
  override name = 'NotRunning'
  constructor() {
    super('no collector is running; start it with: spanseal up')
  }
}

/** Takes a third of an empty Node's start, so who has to wait anyway loads it meanwhile. */
export const loadHttp = () => import('node:http')

export interface Answer {
  status: number
  body: unknown
}

/** One request to the collector of `home`. Throws NotRunning, or CliError when it does not answer as one. */
export async function ask(
  home: HomePaths,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  timeoutMs = ANSWER_MS,
): Promise<Answer> {
  const endpoint = readEndpoint(home)
  if (endpoint === null) throw new NotRunning()
  const { default: http } = await loadHttp()
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const call: ClientRequest = http.request(
      {
        socketPath: endpoint.admin,
        method,
        path,
        agent: false,
        headers:
          text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        timeout: timeoutMs,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const value = parse(Buffer.concat(chunks).toString('utf8'))
          if (value === undefined) reject(new CliError(`${endpoint.admin} does not answer like a collector`))
          else resolve({ status: response.statusCode ?? 0, body: value })
        })
      },
    )
    call.on('timeout', () => call.destroy(new CliError(`the collector (process ${endpoint.pid}) does not answer`)))
    call.on('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED'
      reject(absent ? new NotRunning() : error)
    })
    call.end(text)
  })
}

/** The same, but any answer that is no success throws CliError with the collector's words. */
export async function askOk(home: HomePaths, method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const answer = await ask(home, method, path, body)
  if (answer.status === 200) return answer.body
  throw new CliError(errorOf(answer.body) ?? `the collector answered ${answer.status}`)
}

/** The status of a running collector; null when none runs or it is just going. */
export async function statusOf(home: HomePaths): Promise<Status | null> {
  try {
    const { status, body } = await ask(home, 'GET', '/status', undefined, STATUS_MS)
    return status === 200 ? (body as Status) : null
  } catch (error) {
    if (error instanceof NotRunning || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return null
    throw error
  }
}

/** What GET /status says. */
export interface Status {
  version: string
  pid: number
  started: string
  otlp: string | null
  /** Absent where gRPC is not asked for. */
  otlp_grpc?: string | null
  /** Where http hooks are answered. */
  fast: string | null
  log_id: string
  log_key: string
  genesis: string
  records: number
  /** Records under the newest checkpoint. */
  checkpoint: number
  open_runs: number
  pending_approvals: number
  policy: { hash: string; origin: string; rules: number }
  counts: Record<string, number>
  forward: {
    name: string
    origin: string
    state: string
    reason?: string
    sent: number
    withheld: number
    unreadable: number
    next_seq: number
  }[]
  audit: { name: string; last?: string; looked_for: number; missing: number; problem?: string }[]
  index: { lag: number }
}

/** What a call that is held looks like in GET /approvals. */
export interface PendingApproval {
  id: string
  agent: string
  session: string
  call: string
  tool: string
  rules: string[]
  reason: string
  requested: string
  expires: string
}

function errorOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
  return typeof body.error === 'string' ? body.error : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
