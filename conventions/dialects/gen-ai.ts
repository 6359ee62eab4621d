// OpenTelemetry's GenAI conventions, old names (up to v1.36) and new ones (semantic-conventions-genai), which libraries mix freely.
// Other dialects are built on this one.

import { type DialectReader, type Draft, ending, entry, eventName, eventReader, pointDraft, said } from './draft.ts'
import type { SpanItem } from './item.ts'
import type { Reader } from './reader.ts'
import type { Operation } from './view.ts'

const OPERATIONS: Readonly<Record<string, Operation>> = {
  chat: 'chat',
  text_completion: 'chat',
  completion: 'chat',
  generate_content: 'chat',
  execute_tool: 'execute_tool',
  invoke_agent: 'invoke_agent',
  create_agent: 'create_agent',
  embeddings: 'embeddings',
  retrieval: 'retrieval',
  invoke_workflow: 'step',
  plan: 'step',
  agent_step: 'step',
}

export const genAi: DialectReader = (read, item) => {
  const dialect = read.has('gen_ai.system') && !read.has('gen_ai.provider.name') ? 'genai_old' : 'genai'
  if (item.signal === 'metric') {
    return item.metric.name.startsWith('gen_ai.') ? pointDraft(dialect, read, item) : null
  }
  if (item.signal === 'log') {
    const name = eventName(read, item)
    if (!name.startsWith('gen_ai.')) return null
    read.known('event.name')
    return { ...genAiFacts(read), dialect, operation: 'event' }
  }
  if (!read.hasPrefix('gen_ai.')) return null
  const draft = genAiSpan(read, item)
  draft.dialect = dialect
  return draft
}

/** A span under these names. The draft is the caller's to change. */
export function genAiSpan(read: Reader, item: SpanItem): Draft {
  // Filled in, not copied: most spans of most senders come through here.
  const draft = genAiFacts(read)
  const { outcome, error_type, duration_ms, error } = ending(read, item)
  const messages = eventMessages(item)
  const content = draft.content ?? {}
  draft.operation ??= byWhatItHas(draft)
  draft.outcome = outcome
  draft.error_type = error_type
  draft.duration_ms = duration_ms
  draft.finish ??= messages.finish
  if (!draft.requested?.length) draft.requested = said(messages.output).requested
  content.input ??= messages.input
  content.output ??= messages.output
  content.error = error
  draft.content = content
  return draft
}

/** Some libraries set no operation: a tool's name or call id says that it is a tool, an answer's model that it is a model. */
function byWhatItHas({ tool, call, tokens, response }: Draft): Operation | null {
  if (tool !== undefined || call !== undefined) return 'execute_tool'
  return tokens?.output !== undefined || response !== undefined ? 'chat' : null
}

/** Attributes of these names, wherever they are. */
export function genAiFacts(read: Reader): Draft {
  read.known('server.address', 'server.port', 'gen_ai.tool.type', 'gen_ai.output.type', 'gen_ai.usage.total_tokens')
  read.known('gen_ai.tool.description', 'gen_ai.tool.definitions', 'gen_ai.agent.description', 'gen_ai.agent.version')
  read.knownPrefix('gen_ai.request.', 'gen_ai.response.time_to_')
  const output = read.content('gen_ai.output.messages', 'gen_ai.completion')
  const answer = said(output)
  return {
    dialect: 'genai',
    operation: entry(OPERATIONS, read.text('gen_ai.operation.name')) ?? null,
    agent: read.text('gen_ai.agent.name', 'gen_ai.agent.id'),
    session: read.text('gen_ai.conversation.id', 'session.id'),
    model: read.text('gen_ai.response.model', 'gen_ai.request.model'),
    provider: read.text('gen_ai.provider.name', 'gen_ai.system'),
    tokens: {
      input: read.count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
      output: read.count('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
      cache_read: read.count('gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'),
      cache_write: read.count(
        'gen_ai.usage.cache_write.input_tokens',
        'gen_ai.usage.cache_creation.input_tokens',
        'gen_ai.usage.cache_write_input_tokens',
        'gen_ai.usage.cache_creation_input_tokens',
      ),
      reasoning: read.count('gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'),
    },
    response: read.text('gen_ai.response.id'),
    tool: read.text('gen_ai.tool.name'),
    call: read.text('gen_ai.tool.call.id', 'gen_ai.tool.call_id'),
    finish: read.firstOf('gen_ai.response.finish_reasons'),
    outcome: undefined,
    error_type: undefined,
    duration_ms: undefined,
    requested: answer.requested,
    content: {
      arguments: read.content('gen_ai.tool.call.arguments'),
      result: read.content('gen_ai.tool.call.result'),
      input: read.content('gen_ai.input.messages', 'gen_ai.prompt'),
      output,
      instructions: read.content('gen_ai.system_instructions'),
      reasoning: answer.reasoning,
      error: undefined,
    },
  }
}

/** Messages in span events, as the convention had it before v1.37. */
export function eventMessages({ span }: SpanItem): {
  input: string | undefined
  output: string | undefined
  finish: string | undefined
} {
  const input: string[] = []
  const output: string[] = []
  let finish: string | undefined
  for (const event of span.events ?? []) {
    const read = eventReader(event)
    if (event.name === 'gen_ai.choice') {
      finish = read.text('finish_reason') ?? finish
      const message = read.content('message', 'gen_ai.event.content', 'content')
      if (message !== undefined) output.push(message)
    } else if (/^gen_ai\.(system|user|assistant|tool)\.message$/.test(event.name)) {
      const content = read.content('content', 'gen_ai.event.content')
      if (content !== undefined) input.push(content)
    }
  }
  return { input: joined(input), output: joined(output), finish }
}

/** One text as it is, several as a list. */
function joined(texts: string[]): string | undefined {
  return texts.length > 1 ? `[${texts.map(jsonText).join(',')}]` : texts[0]
}

function jsonText(text: string): string {
  return /^[[{]/.test(text) ? text : JSON.stringify(text)
}
