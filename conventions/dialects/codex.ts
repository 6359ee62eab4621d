// Codex CLI's own telemetry: spans of its Rust code, log records `codex.*`, metrics. Tokens are on the span that takes in the end of
// an answer (`handle_responses`); a tool's span says no outcome, its log record does.
import { type DialectReader, type Draft, ending, eventName, ofResource, outcomeOf, pointDraft } from './draft.ts'
import { genAiFacts } from './gen-ai.ts'
import type { LogItem, SpanItem } from './item.ts'
import type { Reader } from './reader.ts'

const AGENT = 'codex'

export const codex: DialectReader = (read, item) => {
  if (item.signal === 'metric') {
    if (!item.metric.name.startsWith('codex.')) return null
    return { ...pointDraft('codex', read, item), agent: AGENT }
  }
  const scope = item.scope.name ?? ''
  const own = /^codex[_:.-]|^codex$/.test(scope) || /^codex(_|-|$)/.test(ofResource(item, 'service.name') ?? '')
  if (item.signal === 'log') {
    return own || (read.peek('event.name') ?? '').startsWith('codex.') ? event(read, item) : null
  }
  return own ? span(read, item) : null
}

function span(read: Reader, item: SpanItem): Draft {
  known(read)
  const { error, ...end } = ending(read, item)
  const facts = genAiFacts(read)
  const tokens = {
    ...facts.tokens,
    reasoning: facts.tokens?.reasoning ?? read.count('codex.usage.reasoning_output_tokens'),
  }
  const phase = read.text('codex.tool.phase')
  const isMcp = item.span.name === 'mcp.tools.call'
  const call = phase === undefined && !isMcp ? undefined : read.text('call_id', 'tool.call_id')
  const whole = turnTokens(read)
  return {
    ...end,
    dialect: 'codex',
    operation: isMcp
      ? 'mcp'
      : call !== undefined
        ? 'execute_tool'
        : tokens.output !== undefined
          ? 'chat'
          : item.span.name === 'session_task.turn'
            ? 'invoke_agent'
            : 'step',
    agent: AGENT,
    session: read.text('conversation.id', 'session.id') ?? facts.session,
    model: read.text('model') ?? facts.model,
    tokens: whole ?? tokens,
    // Other spans name a tool without being its call.
    tool: call === undefined ? undefined : read.text('tool_name', 'tool.name'),
    call,
    content: { error },
  }
}

/** Sums over a turn, on its own span. */
function turnTokens(read: Reader): Draft['tokens'] {
  const prefix = 'codex.turn.token_usage.'
  if (!read.hasPrefix(prefix)) return undefined
  read.known(`${prefix}non_cached_input_tokens`, `${prefix}total_tokens`)
  return {
    input: read.count(`${prefix}input_tokens`),
    output: read.count(`${prefix}output_tokens`),
    cache_read: read.count(`${prefix}cached_input_tokens`),
    cache_write: read.count(`${prefix}cache_write_input_tokens`),
    reasoning: read.count(`${prefix}reasoning_output_tokens`),
  }
}

function event(read: Reader, item: LogItem): Draft {
  const name = eventName(read, item)
  known(read)
  const tokens = {
    input: read.count('input_token_count'),
    output: read.count('output_token_count'),
    cache_read: read.count('cached_token_count'),
    cache_write: read.count('cache_write_token_count'),
    reasoning: read.count('reasoning_token_count'),
  }
  const operation =
    name === 'codex.user_prompt'
      ? 'prompt'
      : name === 'codex.tool_decision'
        ? 'decision'
        : name === 'codex.tool_result'
          ? 'execute_tool'
          : tokens.output !== undefined
            ? 'chat'
            : 'event'
  return {
    dialect: 'codex',
    operation,
    agent: AGENT,
    session: read.text('conversation.id'),
    model: read.text('model', 'slug'),
    tokens,
    tool: fullName(read),
    call: read.text('call_id'),
    decision: read.text('decision'),
    outcome: outcomeOf(read.flag('success')),
    duration_ms: read.number('duration_ms'),
    content: {
      arguments: read.content('arguments'),
      result: operation === 'execute_tool' ? read.content('output') : undefined,
      prompt: read.content('prompt'),
      error: read.content('error.message'),
    },
  }
}

/** MCP tools are told as a server's namespace and a name; the agent's hooks call them by both. */
function fullName(read: Reader): string | undefined {
  const name = read.text('tool_name')
  const space = read.text('tool_namespace')
  return name !== undefined && space?.startsWith('mcp__') ? `${space}__${name}` : name
}

/** On many items, and of no use in a view. */
function known(read: Reader): void {
  read.knownPrefix('code.', 'thread.', 'auth.', 'app_server.', 'rpc.', 'codex.response.', 'codex.request.', 'mcp.')
  read.known(
    'event.name',
    'target',
    'busy_ns',
    'idle_ns',
    'turn.id',
    'turn_id',
    'cwd',
    'from',
    'aborted',
    'tool_source',
    'level',
  )
  read.known(
    'event.timestamp',
    'app.version',
    'originator',
    'terminal.type',
    'source',
    'event.kind',
    'tool_token_count',
  )
  read.known(
    'codex.usage.total_tokens',
    'tool_result_seq',
    'output_truncated',
    'mcp_server',
    'mcp_server_origin',
    'agent_name',
  )
  read.known('prompt_length', 'ttft_ms', 'model_reasoning_effort', 'codex.turn.reasoning_effort')
}
