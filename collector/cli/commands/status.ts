// `spanseal status`
import { existsSync } from 'node:fs'
import { lockHolder } from '../../lock.ts'
import { type Status, statusOf } from '../admin-client.ts'
import { type Context, flag } from '../context.ts'
import { EXIT_FAILED } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { visible } from '../text.ts'
import { counted, dateTime } from '../times.ts'

export async function run({ home, options }: Context): Promise<number> {
  const status = await statusOf(home)
  const json = flag(options, 'json')
  if (status !== null) {
    if (json) printJson({ running: true, home: home.root, ...status })
    else print(lines(home.root, status).join('\n'))
    return 0
  }
  const holder = lockHolder(home.lock)
  if (json) printJson({ running: false, home: home.root, starting: holder !== null })
  else if (holder !== null) print(`collector   process ${holder} is starting or stopping`)
  else {
    const next = existsSync(home.log) ? 'spanseal up' : 'spanseal init'
    print(`collector   not running; start it with: ${next}\nhome        ${home.root}`)
  }
  return EXIT_FAILED
}

function lines(home: string, status: Status): string[] {
  const { policy, counts } = status
  const refused = Object.entries(counts).filter(([, count]) => count > 0)
  return [
    `collector   running, process ${status.pid}, version ${status.version}, since ${dateTime(status.started)} UTC`,
    `home        ${home}`,
    `otlp        ${status.otlp ?? 'off: its port is taken, see spanseal doctor'}`,
    ...(status.otlp_grpc === undefined
      ? []
      : [`otlp grpc   ${status.otlp_grpc ?? 'off: its port is taken, see spanseal doctor'}`]),
    `log         ${status.log_id}, ${counted(status.records, 'record')}, checkpoint over ${status.checkpoint}`,
    `runs        ${status.open_runs} open`,
    `approvals   ${status.pending_approvals === 0 ? 'none waits' : `${counted(status.pending_approvals, 'call waits', 'calls wait')}, see: spanseal approvals list`}`,
    `policy      ${policy.origin}, ${counted(policy.rules, 'rule')}, ${policy.hash.slice(0, 12)}`,
    `index       ${status.index.lag === 0 ? 'up to date' : `${status.index.lag} bytes of log behind`}`,
    ...(status.forward.length === 0 ? ['forward     nowhere'] : status.forward.map(forwardLine)),
    ...status.audit.map(auditLine),
    ...(refused.length === 0 ? [] : [`counted     ${refused.map(([name, count]) => `${name} ${count}`).join(', ')}`]),
  ]
}

function forwardLine(stream: Status['forward'][number]): string {
  const { name, origin, state, reason, sent, withheld, unreadable } = stream
  const why = reason === undefined ? '' : `, ${visible(reason)}`
  const leftOut = [
    ...(withheld === 0 ? [] : [`${withheld} of others withheld`]),
    ...(unreadable === 0 ? [] : [`${unreadable} of others unreadable`]),
  ]
  const counts = [`${counted(sent, name.endsWith('.logs') ? 'log record' : 'span')} sent`, ...leftOut].join(', ')
  return `forward     ${name} (${visible(origin)}): ${state}${why}; ${counts}`
}

function auditLine({ name, last, looked_for, missing, problem }: Status['audit'][number]): string {
  const found =
    last === undefined
      ? 'nothing looked for yet'
      : `${missing} of ${counted(looked_for, 'span')} missing, ${dateTime(last)} UTC`
  return `audit       ${name}: ${found}${problem === undefined ? '' : `; ${visible(problem)}`}`
}
