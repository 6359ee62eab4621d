// `spanseal check span`
import { type JudgedCopy, verifyHome } from '../../verify/index.ts'
import { copiesOfTrace } from '../against.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_FAILED, EXIT_USAGE } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { visible } from '../text.ts'
import { readGiven } from '../trust-lines.ts'

/** 0: every span is a signed record of this log. 1: one is not, or the log is broken. 2: wrong usage, or nothing can be said. */
export async function run(context: Context): Promise<number> {
  const { home, options, args } = context
  const [traceId = ''] = args
  if (!/^[0-9a-f]{32}$/.test(traceId)) throw new CliError('a trace id is 32 lower-case hex characters', EXIT_USAGE)
  const trustFile = textOption(options, 'trust')
  const copies = await copiesOfTrace(context, 'in', traceId)
  let judged: readonly JudgedCopy[] = []
  const report = await verifyHome({
    root: home.root,
    copies,
    onCopies: (all) => {
      judged = all
    },
    ...(trustFile === undefined ? {} : { trust: readGiven('trust', trustFile) }),
  })
  if (report.status === 'unusable') throw new CliError(report.unusable ?? 'the log can not be verified', EXIT_USAGE)
  if (judged.length === 0) throw new CliError(`${copies.from}: no span of trace ${traceId}`)
  const agree = judged.filter(({ verdict }) => verdict === 'agrees').length
  const all = { trace: traceId, from: copies.from, log: report.status, spans: judged, agree, of: judged.length }
  if (flag(options, 'json')) printJson(all)
  else print(lines(all).join('\n'))
  return agree === judged.length && report.status !== 'broken' ? 0 : EXIT_FAILED
}

interface Checked {
  trace: string
  from: string
  log: string
  spans: readonly JudgedCopy[]
  agree: number
  of: number
}

function lines({ from, log, spans, agree, of }: Checked): string[] {
  return [
    ...spans.map(
      ({ span_id, name, verdict, seq }) =>
        `${span_id}  ${verdict.replace('_', ' ').padEnd(10)}  ${seq === undefined ? '' : `record ${seq}, `}${visible(name)}`,
    ),
    '',
    `${from}: ${agree} of ${of} spans are signed records of this log; the log is ${log.replace('_', '-')}.`,
  ]
}
