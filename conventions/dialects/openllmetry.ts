// OpenLLMetry (Traceloop): GenAI names of several ages, `traceloop.*` around them, messages flattened in older versions.
import { type DialectReader, entry, outcomeOf } from './draft.ts'
import { unflatten } from './flattened.ts'
import { genAiSpan } from './gen-ai.ts'
import { at, textAt } from './json-fields.ts'
import { readMessages } from './messages.ts'
import { parse, textOf } from './reader.ts'
import type { Operation } from './view.ts'

const KINDS: Readonly<Record<string, Operation>> = {
  tool: 'execute_tool',
  agent: 'invoke_agent',
  workflow: 'step',
  task: 'step',
  session: 'step',
}

export const openLlmetry: DialectReader = (read, item) => {
  if (item.signal !== 'span') return null
  const scope = item.scope.name ?? ''
  if (!scope.startsWith('@traceloop/') && !read.hasPrefix('traceloop.') && !read.has('llm.request.type')) return null
  read.known('llm.usage.total_tokens', 'gen_ai.usage.total_tokens', 'traceloop.workflow.name', 'traceloop.entity.path')
  const kind = read.text('traceloop.span.kind')
  const type = read.text('llm.request.type')
  const prompts = unflatten(read, 'gen_ai.prompt.')
  const completions = unflatten(read, 'gen_ai.completion.')
  const base = genAiSpan(read, item)
  const operation = entry(KINDS, kind) ?? base.operation ?? (type === 'chat' || type === 'completion' ? 'chat' : null)
  const isTool = operation === 'execute_tool'
  const entity = read.text('traceloop.entity.name')
  const given = read.content('traceloop.entity.input')
  const back = read.content('traceloop.entity.output')
  const flat = readMessages(completions)
  const failed = isTool && back !== undefined && at(parse(back), 'is_error') === true
  const agent = read.text('traceloop.agent.name')
  return {
    ...base,
    dialect: 'openllmetry',
    operation: operation ?? (given !== undefined || back !== undefined ? mcpRequest(item.span.name) : null),
    agent: base.agent ?? agent ?? (operation === 'invoke_agent' ? entity : undefined),
    session:
      base.session ??
      read.text(
        'traceloop.association.properties.session_id',
        'traceloop.association.properties.conversation_id',
        'traceloop.association.properties.thread_id',
      ),
    tool: base.tool ?? (isTool ? entity : undefined),
    outcome: failed ? outcomeOf(false) : base.outcome,
    finish: base.finish ?? textAt(Array.isArray(completions) ? completions[0] : undefined, 'finish_reason'),
    requested: base.requested?.length ? base.requested : flat.requested,
    content: {
      ...base.content,
      arguments: base.content?.arguments ?? (isTool ? unwrapped(given) : undefined),
      result: base.content?.result ?? (isTool ? back : undefined),
      input: base.content?.input ?? textOf(prompts) ?? (isTool ? undefined : given),
      output: base.content?.output ?? textOf(completions) ?? (isTool ? undefined : back),
    },
  }
}

/** `tools/list.mcp`, `initialize.mcp`: requests that are no tool calls. */
function mcpRequest(name: string): Operation {
  return name.endsWith('.mcp') ? 'mcp' : 'step'
}

/** The arguments alone, where they came wrapped: {tool_name, arguments} or Python's {args, kwargs}. */
function unwrapped(given: string | undefined): string | undefined {
  const parsed = given === undefined ? undefined : parse(given)
  const args = at(parsed, 'arguments')
  if (args !== undefined) return textOf(args)
  const positional = at(parsed, 'args')
  const named = at(parsed, 'kwargs')
  return named !== undefined && Array.isArray(positional) && positional.length === 0 ? textOf(named) : given
}
