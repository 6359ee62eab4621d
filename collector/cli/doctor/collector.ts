// The doctor looks at the collector: does it run or start, is its port its own, do spans go out.
import type { HomePaths } from '../../../conventions/home.ts'
import { type Status, statusOf } from '../admin-client.ts'
import { messageOf } from '../exit.ts'
import { ensureCollector } from '../start-collector.ts'
import { visible } from '../text.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Bytes of log that the index may be behind while it works. */
const MAX_LAG_BYTES = 64 * 1024 * 1024

declare const SPANSEAL_VERSION: string

/** Starts the collector when none runs, as a hook would. */
export async function checkCollector(home: HomePaths): Promise<Check[]> {
  let status: Status | null
  let started = false
  try {
    status = await statusOf(home)
    if (status === null) {
      status = (await ensureCollector(home)).status
      started = true
    }
  } catch (error) {
    return [fail('collector.running', messageOf(error), `see ${home.startLog}, then: spanseal up`)]
  }
  const running = `process ${status.pid}, version ${status.version}`
  return [
    ok('collector.running', started ? `it was not running and could be started: ${running}` : running),
    checkVersion(status),
    checkPort(home, 'otlp.port', 'OTLP', status.otlp),
    ...(status.otlp_grpc === undefined ? [] : [checkPort(home, 'otlp.grpc.port', 'OTLP/gRPC', status.otlp_grpc)]),
    checkIndex(status),
    ...status.forward.map(checkForward),
    ...status.audit.map(checkAudit),
  ]
}

function checkVersion({ version }: Status): Check {
  if (version === SPANSEAL_VERSION) return ok('collector.version', `it is of this version, ${version}`)
  const detail = `it is of version ${version}, this command of ${SPANSEAL_VERSION}`
  return warn('collector.version', detail, 'spanseal init, with the version you want')
}

function checkPort(home: HomePaths, field: string, what: string, address: string | null): Check {
  if (address !== null) return ok(field, `${what} on ${address}`)
  const fix = `stop the other program, or set ${field} in ${home.config}, then: spanseal down && spanseal up`
  return fail(field, `another program has the ${what} port: no ${what} is received; hooks are not affected`, fix)
}

function checkIndex({ index }: Status): Check {
  if (index.lag <= MAX_LAG_BYTES) return ok('index.lag', index.lag === 0 ? 'up to date' : `${index.lag} bytes behind`)
  return warn(
    'index.lag',
    `${index.lag} bytes of log behind`,
    'wait; if it stays: spanseal down, delete spanseal.duckdb, spanseal up',
  )
}

function checkForward({ name, origin, state, reason }: Status['forward'][number]): Check {
  const id = `forward.${name}`
  const why = reason === undefined ? '' : `: ${visible(reason)}`
  const detail = `${visible(origin)} is ${state}${why}`
  if (state !== 'blocked' && state !== 'halted' && state !== 'retrying') return ok(id, detail)
  return warn(id, detail, 'check the destination in config.yaml; nothing is lost, it is sent when it can be')
}

function checkAudit({ name, looked_for, missing, problem }: Status['audit'][number]): Check {
  const id = `audit.${name}`
  if (problem !== undefined) return warn(id, visible(problem), `check forward: query of ${name} in config.yaml`)
  if (missing === 0)
    return ok(id, looked_for === 0 ? 'nothing looked for yet' : `${looked_for} spans looked for, none missing`)
  const fix = 'see what removed them there (retention, sampling, a person); the records are in the log'
  return warn(id, `${missing} of ${looked_for} spans that ${name} took are not there`, fix)
}
