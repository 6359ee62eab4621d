// Gemini CLI's own telemetry: spans, log records, metrics. Its log records are read for Qwen Code, too, which began as a copy of it.
import { type DialectReader, type Draft, entry, eventName, ofResource, outcomeOf, pointDraft } from './draft.ts'
import { genAiFacts, genAiSpan } from './gen-ai.ts'
import type { LogItem, SpanItem } from './item.ts'
import { at } from './json-fields.ts'
import { parse, type Reader, textOf } from './reader.ts'
import type { Operation } from './view.ts'

const SPANS: Readonly<Record<string, Operation>> = {
  llm_call: 'chat',
  tool_call: 'execute_tool',
  agent_call: 'invoke_agent',
  user_prompt: 'invoke_agent',
  schedule_tool_calls: 'step',
}

const EVENTS: Readonly<Record<string, Operation>> = {
  user_prompt: 'prompt',
  tool_call: 'execute_tool',
  api_response: 'chat',
  api_error: 'chat',
}

export const geminiCli: DialectReader = (read, item) => {
  const agent = 'gemini-cli'
  if (item.signal === 'metric') {
    if (item.scope.name !== agent && !item.metric.name.startsWith('gemini_cli.')) return null
    return { ...pointDraft('gemini_cli', read, item), agent }
  }
  if (item.signal === 'log') {
    return item.scope.name === agent || eventName(read, item).startsWith('gemini_cli.')
      ? { ...geminiEvent(read, item, 'gemini_cli.'), dialect: 'gemini_cli', agent }
      : null
  }
  return item.scope.name === agent ? span(read, item) : null
}

function span(read: Reader, item: SpanItem): Draft {
  read.known('gen_ai.agent.description', 'gen_ai.tool.description', 'gen_ai.tool.definitions', 'gen_ai.prompt.name')
  const base = genAiSpan(read, item)
  const operation = entry(SPANS, item.span.name) ?? base.operation ?? 'step'
  const isTool = operation === 'execute_tool'
  const given = base.content?.input
  return {
    ...base,
    dialect: 'gemini_cli',
    operation,
    session: base.session ?? ofResource(item, 'session.id'),
    // What it hands to a tool and gets back stands under the names of messages.
    content: isTool
      ? {
          arguments: textOf(at(given === undefined ? undefined : parse(given), 'args')),
          result: base.content?.output,
          error: base.content?.error,
        }
      : { ...base.content },
    requested: isTool ? [] : (base.requested ?? []),
  }
}

/** A log record of either agent. */
export function geminiEvent(read: Reader, item: LogItem, prefix: string): Omit<Draft, 'dialect' | 'agent'> {
  const name = eventName(read, item)
  read.known(
    'installation.id',
    'interactive',
    'auth_type',
    'event.name',
    'event.timestamp',
    'prompt_id',
    'prompt_length',
    'role',
  )
  read.known('total_token_count', 'tool_token_count', 'status_code', 'http.status_code', 'content_length', 'tool_type')
  read.known(
    'mcp_server_name',
    'extension_name',
    'extension_id',
    'start_time',
    'end_time',
    'subagent_name',
    'response_id',
  )
  read.known('status', 'execution_status', 'parent_call_id', 'metadata', 'source', 'ttft_ms')
  const facts = genAiFacts(read)
  const operation = entry(EVENTS, name.startsWith(prefix) ? name.slice(prefix.length) : undefined) ?? 'event'
  const isChat = operation === 'chat'
  return {
    operation,
    session: read.text('session.id') ?? facts.session,
    model: read.text('model') ?? facts.model,
    provider: facts.provider,
    tokens: isChat
      ? {
          input: read.count('input_token_count'),
          output: read.count('output_token_count'),
          cache_read: read.count('cached_content_token_count'),
          reasoning: read.count('thoughts_token_count'),
        }
      : undefined,
    response: isChat ? read.text('response_id') : undefined,
    tool: read.text('function_name') ?? (operation === 'event' ? undefined : facts.tool),
    call: read.text('call_id'),
    decision: read.text('decision'),
    outcome: name.endsWith('.api_error') ? 'error' : outcomeOf(read.flag('success')),
    error_type: read.text('error_type'),
    finish: read.firstOf('finish_reasons') ?? facts.finish,
    duration_ms: read.number('duration_ms'),
    requested: facts.requested ?? [],
    content: {
      ...facts.content,
      arguments: read.content('function_args'),
      prompt: read.content('prompt'),
      input: facts.content?.input ?? read.content('request_text'),
      output: facts.content?.output ?? read.content('response_text'),
      error: read.content('error', 'error_message', 'error.message'),
    },
  }
}
