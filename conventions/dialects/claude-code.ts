// Claude Code's own telemetry: spans `claude_code.*` with GenAI names beside its own, log records, metrics. One tool call is told by
// up to three spans and two log records, which share its call id.
import { type DialectReader, type Draft, entry, eventName, eventReader, outcomeOf, pointDraft } from './draft.ts'
import { genAiSpan } from './gen-ai.ts'
import type { LogItem, SpanItem } from './item.ts'
import { textAt } from './json-fields.ts'
import type { Reader } from './reader.ts'
import type { Operation } from './view.ts'

const AGENT = 'claude-code'
const SPAN = 'claude_code.'

const SPANS: Readonly<Record<string, Operation>> = {
  interaction: 'invoke_agent',
  llm_request: 'chat',
  tool: 'execute_tool',
  'tool.execution': 'execute_tool',
  'tool.blocked_on_user': 'decision',
}

const EVENTS: Readonly<Record<string, Operation>> = {
  user_prompt: 'prompt',
  tool_decision: 'decision',
  tool_result: 'execute_tool',
  api_request: 'chat',
  api_error: 'chat',
}

export const claudeCode: DialectReader = (read, item) => {
  if (item.signal === 'metric') {
    if (!item.metric.name.startsWith(SPAN)) return null
    return { ...pointDraft('claude_code', read, item), agent: AGENT }
  }
  if (item.signal === 'span') return item.span.name.startsWith(SPAN) ? span(read, item) : null
  const { body } = item.log
  const text = body !== undefined && 'stringValue' in body ? body.stringValue : ''
  return text.startsWith(SPAN) || item.scope.name === 'com.anthropic.claude_code.events' ? event(read, item) : null
}

function span(read: Reader, item: SpanItem): Draft {
  const kind = item.span.name.slice(SPAN.length)
  known(read)
  read.known('span.type', 'user_prompt_length', 'interaction.duration_ms', 'duration_ms', 'speed', 'attempt', 'effort')
  const base = genAiSpan(read, item)
  const own = ownTokens(read)
  const isTool = entry(SPANS, kind) === 'execute_tool'
  const output = item.span.events?.find(({ name }) => name === 'tool.output')
  return {
    ...base,
    dialect: 'claude_code',
    operation: entry(SPANS, kind) ?? base.operation ?? 'event',
    agent: AGENT,
    model: base.model ?? read.text('model'),
    tokens: base.tokens?.input === undefined ? own : base.tokens,
    response: base.response ?? read.text('request_id'),
    tool: toolName(base.tool) ?? toolName(read.text('tool_name', 'tool_name_safe')),
    call: base.call ?? read.text('tool_use_id'),
    decision: read.text('decision'),
    outcome: base.outcome ?? outcomeOf(read.flag('success')),
    finish: base.finish ?? read.text('stop_reason'),
    content: {
      ...base.content,
      arguments: isTool ? partOfArguments(read) : undefined,
      result: output && (eventReader(output).content('output') ?? eventReader(output).content('content')),
      prompt: read.content('user_prompt'),
      error: read.content('error') ?? base.content?.error,
    },
  }
}

function event(read: Reader, item: LogItem): Draft {
  const name = eventName(read, item)
  known(read)
  read.known(
    'event.name',
    'event.timestamp',
    'event.sequence',
    'prompt.id',
    'message.uuid',
    'tool_input_size_bytes',
    'tool_result_size_bytes',
  )
  read.known('cost_usd', 'cost_usd_micros', 'ttft_ms', 'speed', 'effort', 'attempt', 'prompt_length', 'response_length')
  const operation = entry(EVENTS, name) ?? 'event'
  const isCall = operation === 'execute_tool' || operation === 'decision'
  return {
    dialect: 'claude_code',
    operation,
    agent: AGENT,
    session: read.text('session.id'),
    model: read.text('model'),
    provider: operation === 'chat' ? read.text('gen_ai.provider.name') : undefined,
    tokens: operation === 'chat' ? ownTokens(read) : undefined,
    response: read.text('request_id'),
    tool: isCall ? (toolName(read.text('tool_name')) ?? mcpTool(read)) : undefined,
    call: isCall ? read.text('tool_use_id') : undefined,
    decision: isCall ? read.text('decision', 'decision_type') : undefined,
    outcome: name === 'api_error' ? 'error' : outcomeOf(read.flag('success')),
    error_type: read.text('error_type', 'error_code'),
    duration_ms: read.number('duration_ms'),
    content: {
      // The whole input where it was sent, else what of it the agent calls its parameters.
      arguments: isCall ? read.content('tool_input', 'tool_parameters') : undefined,
      prompt: read.content('prompt', 'prompt_text'),
      output: read.content('response'),
      error: read.content('error'),
    },
  }
}

/** On many items, and of no use in a view, or said by a GenAI name, too. */
function known(read: Reader): void {
  read.known(
    'model',
    'stop_reason',
    'tool_name',
    'tool_name_safe',
    'tool_use_id',
    'success',
    'request_id',
    'error_class',
  )
  read.known(
    'ttft_ms',
    'first_content_ms',
    'interaction.sequence',
    'parent.source',
    'queued_sends',
    'input_tokens',
    'output_tokens',
  )
  read.known('cache_read_tokens', 'cache_creation_tokens')
  read.known('user.id', 'terminal.type', 'anthropic.provider', 'anthropic.custom_base_url', 'source', 'tool_source')
  read.known(
    'permission_mode',
    'query_source',
    'query_source_safe',
    'llm_request.context',
    'bash_command_class',
    'bash_argv0',
  )
}

/** Its own counts leave cached tokens out of the input; a view's input has them in. */
function ownTokens(read: Reader): Draft['tokens'] {
  const fresh = read.count('input_tokens')
  const cache_read = read.count('cache_read_tokens')
  const cache_write = read.count('cache_creation_tokens')
  read.known('cache_creation_5m_tokens', 'cache_creation_1h_tokens')
  return {
    input: fresh === undefined ? undefined : fresh + (cache_read ?? 0) + (cache_write ?? 0),
    output: read.count('output_tokens'),
    cache_read,
    cache_write,
  }
}

/** In place of an MCP tool's name where names are not to be told. */
const MASKED = 'mcp_tool'

/** Its full name, as hooks tell it, where the parameters hold the two halves. */
function mcpTool(read: Reader): string | undefined {
  const parameters = read.json('tool_parameters')
  const server = textAt(parameters, 'mcp_server_name')
  const tool = textAt(parameters, 'mcp_tool_name')
  return server === undefined || tool === undefined ? undefined : `mcp__${server}__${tool}`
}

function toolName(name: string | undefined): string | undefined {
  return name === MASKED ? undefined : name
}

/** A span names one parameter of a call, not all of them. */
function partOfArguments(read: Reader): string | undefined {
  const command = read.content('full_command')
  const path = read.content('file_path')
  if (command === undefined && path === undefined) return undefined
  return JSON.stringify({ ...(command !== undefined && { command }), ...(path !== undefined && { file_path: path }) })
}
