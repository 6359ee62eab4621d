// Tools to effects: known tools by name, all others by the shape of their arguments.

import type { Json } from '../../../conventions/strict-json.ts'
import type { Facts, GateCall, Run } from '../call.ts'
import { readPatch } from './patch.ts'
import { holdsSecret } from './secrets.ts'
import { readByShape } from './shape.ts'
import { readShell, startShell } from './shell/read.ts'
import type { Shell } from './shell/state.ts'
import type { Sink } from './sink.ts'
import { emptyFacts, sinkInto } from './sink.ts'

type Args = { [key: string]: Json }
type ToolReader = (args: Args, sink: Sink, shell: Shell, tool: string) => void

/** Tools that touch neither files, programs nor the network by themselves. */
const INERT = new Set(
  'TodoWrite TodoRead Task Agent ExitPlanMode EnterPlanMode AskUserQuestion BashOutput KillShell KillBash TaskOutput TaskStop TaskCreate TaskUpdate TaskList TaskGet Skill SlashCommand LS Glob ToolSearch ListMcpResourcesTool ReadMcpResourceTool SendMessage update_plan write_todos list_directory glob StructuredOutput LSP'.split(
    ' ',
  ),
)

const TOOLS: Record<string, ToolReader> = {
  Bash: shellTool,
  Read: (args, sink, _, tool) => each(args, ['file_path', 'path', 'absolute_path'], (path) => sink.read(path, tool)),
  Write: writeTool,
  Edit: writeTool,
  MultiEdit: writeTool,
  NotebookEdit: (args, sink, _, tool) => each(args, ['notebook_path', 'file_path'], (path) => sink.write(path, tool)),
  Grep: (args, sink, _, tool) => {
    const path = text(args.path) ?? '.'
    sink.read(path, tool, true)
    const glob = text(args.glob)
    if (glob !== undefined && args.output_mode === 'content') sink.read(`${path}/**/${glob}`, tool)
  },
  WebFetch: webTool,
  WebSearch: (args, sink, _, tool) =>
    each(args, ['query'], (query) =>
      sink.net('https://web-search/', tool, { dir: 'out', carries: holdsSecret(query) ? 'secret' : 'nothing' }),
    ),
  apply_patch: (args, sink, _, tool) =>
    each(args, ['input', 'patch', 'command', 'diff'], (patch) => readPatch(patch, sink, tool)),
}

/** Effects of a call. Never throws on what an agent sends. */
export function readCall(call: GateCall): Facts {
  const tool = call.tool.normalize('NFKC').trim()
  const facts = emptyFacts(tool)
  const shell = startShell(call, workingFolder(call), (places) => sinkInto(facts, places))
  const { sink } = shell
  const { args } = call
  if (tool === '') sink.opaque('no_command', 'tool')
  if (tool !== call.tool || /[^\x21-\x7e]/.test(tool)) sink.opaque('odd_name', 'tool')
  if (args === null || typeof args !== 'object' || Array.isArray(args)) {
    sink.opaque('arguments', tool)
    return facts
  }
  if (leavesSandbox(tool, args)) sink.opaque('sandbox_off', tool)
  const reader = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined
  if (reader !== undefined) reader(args, sink, shell, tool)
  else if (!INERT.has(tool)) readByShape(args, shell, tool)
  facts.runs = different(facts.runs)
  return facts
}

/** How agents ask for a call outside their sandbox, or for more than it allows. */
function leavesSandbox(tool: string, args: Args): boolean {
  const { sandbox_permissions: permissions, additional_permissions: additional } = args
  return (
    args.dangerouslyDisableSandbox === true ||
    args.sandbox === false ||
    args.require_escalated === true ||
    args.with_escalated_permissions === true ||
    (typeof permissions === 'string' && permissions !== 'use_default') ||
    (typeof additional === 'object' && additional !== null && Object.keys(additional).length > 0) ||
    tool === 'request_permissions'
  )
}

/** Runs without repetitions: a loop is one run to a rule. */
function different(runs: Run[]): Run[] {
  if (new Set(runs.map(({ program }) => program)).size === runs.length) return runs
  return [...new Map(runs.map((run) => [JSON.stringify(run), run])).values()]
}

function workingFolder({ args, cwd }: GateCall): string {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return cwd
  const given = text(args.workdir) ?? text(args.directory) ?? text(args.cwd)
  if (given === undefined) return cwd
  return given.startsWith('/') ? given : `${cwd}/${given}`
}

/** A string argument. */
function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function each(args: Args, keys: string[], use: (value: string) => void): void {
  for (const key of keys) {
    const value = text(args[key])
    if (value !== undefined) use(value)
  }
}

function shellTool(args: Args, sink: Sink, shell: Shell, tool: string): void {
  const command = text(args.command)
  if (command === undefined) {
    // Another field may be what the agent's harness runs.
    sink.opaque('no_command', tool)
    readByShape(args, shell, tool)
    return
  }
  if (command.trim() === '') sink.opaque('no_command', tool)
  else readShell(shell, command)
}

function writeTool(args: Args, sink: Sink, _: Shell, tool: string): void {
  each(args, ['file_path', 'path'], (path) => {
    sink.write(path, tool)
    const contents = [text(args.content), text(args.new_string)].filter((content) => content !== undefined)
    if (/(?:^|\/)\.env(?:\.[\w.-]+)?$|(?:^|\/)\.envrc$/.test(path))
      for (const content of contents) environmentFile(content, sink)
  })
}

/** Names set in an environment file: an agent that starts later reads them. */
function environmentFile(content: string, sink: Sink): void {
  for (const match of content.slice(0, 65_536).matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/gm)) {
    const name = match[1] ?? ''
    if (/^(?:CODEX_|CLAUDE_|GEMINI_CLI|OPENCODE_|SPANSEAL_|NODE_OPTIONS$|BASH_ENV$|LD_|OTEL_SDK_DISABLED$)/.test(name))
      sink.env(name, 'guard')
  }
}

function webTool(args: Args, sink: Sink, _: Shell, tool: string): void {
  each(args, ['url', 'uri'], (url) => {
    if (/^file:/i.test(url)) sink.read(url, tool)
    const secret = holdsSecret(url)
    sink.net(url, tool, { dir: secret ? 'out' : 'in', carries: secret ? 'secret' : 'nothing' })
  })
}
