// A run's tree as lines for a terminal. Everything that somebody else wrote is made visible first.
import { usageLines } from './cost.ts'
import type { Paint } from './output.ts'
import type { Approval, Call, Node, RunTree, Sub, Turn } from './run-nodes.ts'
import { shorten, visible, visibleLines } from './text.ts'
import { clock, counted, dateTime, duration } from './times.ts'

/** Characters of a text that stands on one line. */
const PREVIEW_CHARS = 100
/** Characters of an id that tell it from others. */
export const SHORT_ID = 8

/** What the other modes mean. */
const UNENFORCED: Readonly<Record<string, string>> = {
  observe: 'only observed',
  ungated: 'UNGATED: no hook spoke for it',
}

export interface RenderOptions {
  paint: Paint
  /** All of the content instead of its beginning. */
  content: boolean
}

/** The tree as text, with a final line feed. Its last line sums up. */
export function renderTree(tree: RunTree, options: RenderOptions): string {
  const lines = heading(tree, options.paint)
  const children = [
    ...tree.inside.map((node) => ({ seq: node.seq, branch: branch(node, options) })),
    ...tree.turns.map((turn) => ({ seq: turn.seq, branch: turnBranch(turn, options) })),
  ]
    .sort((a, b) => a.seq - b.seq)
    .map((child) => child.branch)
  lines.push(...branchLines(children), '', ...(tree.usage === undefined ? [] : usageLines(tree.usage)), summary(tree))
  return `${lines.join('\n')}\n`
}

interface Branch {
  /** The first is the branch itself, the others belong to it. */
  lines: string[]
  children: Branch[]
}

function heading(tree: RunTree, paint: Paint): string[] {
  const lines = [
    `${paint('bold', `run ${tree.id.slice(0, SHORT_ID)}`)}  ${visible(tree.agent)}, session ${visible(tree.session)}`,
  ]
  for (const { part, opened, reason, mode, failMode, closed, closeReason } of tree.parts) {
    const which = tree.parts.length > 1 ? `part ${part}: ` : ''
    const end = closed === null ? 'still open' : `closed ${clock(closed)} (${closeReason})`
    const how = mode === 'enforce' ? `enforced, fail mode ${failMode}` : (UNENFORCED[mode] ?? mode)
    lines.push(`${which}opened ${dateTime(opened)} UTC (${reason}), ${end}, ${how}`)
  }
  const said = tree.constraints.map(({ kind, target }) => (target === null ? kind : `${kind} ${visible(target)}`))
  if (tree.constraintsLost) said.push('more than a run keeps: every change of a file waits')
  if (said.length > 0) lines.push(`constraints of the person: ${said.join(', ')}`)
  return lines
}

function turnBranch(turn: Turn, options: RenderOptions): Branch {
  const end = turn.closed === null ? 'open' : `${turn.closed}${turn.finished ? '' : ', unfinished'}`
  const words = `${options.paint('bold', `turn ${shorten(visible(turn.id), SHORT_ID + 1)}`)}  ${clock(turn.opened)}, ${end}`
  return { lines: [words], children: turn.inside.map((node) => branch(node, options)) }
}

function branch(node: Node, options: RenderOptions): Branch {
  const { paint } = options
  switch (node.kind) {
    case 'call':
      return callBranch(node, options)
    case 'subagent':
      return subBranch(node, options)
    case 'gap':
      return { lines: [paint('yellow', `gap: ${visible(node.text)}`)], children: [] }
    case 'violation':
      return { lines: [paint('red', `violation: ${visible(node.text)}`)], children: [] }
    case 'note':
      return { lines: [paint('dim', visible(node.text))], children: [] }
    default: {
      const label = paint(
        node.kind === 'prompt' ? 'cyan' : 'dim',
        node.tool === undefined ? node.what : `${node.what} ${visible(node.tool)}`,
      )
      return { lines: withText(label, node.text, options), children: [] }
    }
  }
}

function callBranch(call: Call, options: RenderOptions): Branch {
  const { paint } = options
  const words = [paint('bold', visible(call.tool)), decisionWords(call, paint), ...outcome(call, paint)]
  const attempt = call.attempt > 1 ? [`attempt ${call.attempt}`] : []
  const head = [...words, ...attempt].join('  ')
  const lines = options.content
    ? [head, ...block('arguments', call.args), ...block('result', call.result)]
    : [call.args === undefined ? head : `${head}  ${paint('dim', preview(argsPreview(call.args)))}`]
  return { lines, children: call.inside.map((node) => branch(node, options)) }
}

function decisionWords(call: Call, paint: Paint): string {
  if (call.decision === null) return paint('yellow', 'not decided')
  const colour = call.decision === 'deny' ? 'red' : call.decision === 'allow' ? 'green' : 'yellow'
  const rules = call.rules.length === 0 ? '' : ` (${call.rules.map(visible).join(', ')})`
  const only = call.enforced ? '' : ', only observed'
  return (
    paint(colour, call.decision) +
    rules +
    only +
    (call.approval === undefined ? '' : `, ${approvalWords(call.approval)}`)
  )
}

function approvalWords({ id, state, waitedMs, authentication }: Approval): string {
  if (state === 'pending') return `waits for a person (${id})`
  const answered = state === 'used' || state === 'approved' ? 'approved' : state
  const used = state === 'approved' ? ', not used' : ''
  const after = waitedMs === undefined ? '' : ` after ${duration(waitedMs)}`
  return `${answered}${after}${used} (${[id, authentication].filter(Boolean).join(', ')})`
}

function outcome(call: Call, paint: Paint): string[] {
  const took = call.durationMs === undefined ? '' : `, ${duration(call.durationMs)}`
  const code = call.exitCode === undefined ? '' : `, exit code ${call.exitCode}`
  if (call.status === null) return stopped(call) ? ['did not run'] : ['no result yet']
  if (call.status === 'ok') return [`ok${took}`]
  if (call.status === 'error') return [paint('red', `failed${code}`) + took]
  return [`${call.status}${code}${took}`]
}

function stopped({ decision, enforced, approval }: Call): boolean {
  if (!enforced) return false
  return (
    decision === 'deny' || (decision === 'ask' && approval !== undefined && /^(rejected|expired)/.test(approval.state))
  )
}

function subBranch(sub: Sub, options: RenderOptions): Branch {
  const type = sub.type === '' ? '' : ` ${visible(sub.type)}`
  const state = sub.finished === null ? 'at work' : sub.finished ? 'finished' : 'unfinished'
  const words = `${options.paint('bold', `sub-agent${type}`)}  ${visible(sub.id)}, ${sub.background ? 'in the background, ' : ''}${state}`
  return { lines: [words], children: sub.inside.map((node) => branch(node, options)) }
}

function withText(label: string, text: string | undefined, { content }: RenderOptions): string[] {
  if (text === undefined) return [`${label}  [content not kept]`]
  if (!content) return [`${label}  ${preview(text)}`]
  return [label, ...visibleLines(text).map((line) => `  ${line}`)]
}

function block(label: string, text: string | undefined): string[] {
  if (text === undefined) return []
  return [`  ${label}:`, ...visibleLines(text).map((line) => `    ${line}`)]
}

function preview(text: string): string {
  return shorten(visible(text.trim()), PREVIEW_CHARS)
}

/** Arguments that say most about a call, by the names agents use. */
const TELLING = ['command', 'file_path', 'path', 'url', 'query', 'pattern', 'prompt'] as const

/** What a call is about, in one text: its most telling argument, else all of them. */
export function argsPreview(args: string): string {
  let value: unknown
  try {
    value = JSON.parse(args)
  } catch {
    return args
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return args
  const known = value as Record<string, unknown>
  for (const name of TELLING) {
    const found = known[name]
    if (typeof found === 'string' && found !== '') return found
  }
  return args
}

function branchLines(branches: readonly Branch[], indent = ''): string[] {
  return branches.flatMap(({ lines, children }, i) => {
    const last = i === branches.length - 1
    const [first = '', ...rest] = lines
    const inner = indent + (last ? '   ' : '│  ')
    const below = children.length > 0 ? '│ ' : '  '
    return [
      indent + (last ? '└─ ' : '├─ ') + first,
      ...rest.map((line) => inner + below + line),
      ...branchLines(children, inner),
    ]
  })
}

/** One line: how many calls, what was decided, what went wrong. */
export function summary(tree: RunTree): string {
  const nodes = [...walk(tree.inside), ...tree.turns.flatMap((turn) => [...walk(turn.inside)])]
  const calls = nodes.filter((node) => node.kind === 'call')
  const having = (test: (call: Call) => boolean) => calls.filter(test).length
  const parts = [
    counted(calls.length, 'call'),
    `${having((call) => call.decision === 'allow')} allowed`,
    `${having((call) => call.decision === 'flag')} flagged`,
    `${having((call) => call.decision === 'ask')} asked (${having((call) => call.approval?.state === 'used')} approved)`,
    `${having((call) => call.decision === 'deny')} denied`,
    `${having((call) => call.status === 'error')} failed`,
    counted(nodes.filter((node) => node.kind === 'gap').length, 'gap'),
    counted(nodes.filter((node) => node.kind === 'violation').length, 'violation'),
    counted(tree.records, 'signed record'),
  ]
  return parts.join(', ')
}

function* walk(nodes: readonly Node[]): Generator<Node> {
  for (const node of nodes) {
    yield node
    if (node.kind === 'call' || node.kind === 'subagent') yield* walk(node.inside)
  }
}
