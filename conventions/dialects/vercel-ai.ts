// Vercel AI SDK: its own `ai.*` names (versions 4 to 6, and 7 with LegacyOpenTelemetry), and the GenAI names of @ai-sdk/otel.
import { type DialectReader, type Draft, ending, said } from './draft.ts'
import { genAiFacts, genAiSpan } from './gen-ai.ts'
import type { Operation } from './view.ts'

/** Scope of @ai-sdk/otel. */
const NEW_SCOPE = 'gen_ai'

export const vercelAi: DialectReader = (read, item) => {
  if (item.signal !== 'span' || item.scope.name !== NEW_SCOPE || !read.hasPrefix('gen_ai.')) return null
  read.known('gen_ai.client.operation.duration', 'gen_ai.execute_tool.duration')
  return { ...genAiSpan(read, item), dialect: 'vercel_ai' }
}

export const vercelAiLegacy: DialectReader = (read, item) => {
  if (item.signal !== 'span') return null
  const id = read.peek('ai.operationId') ?? (/^ai\.[A-Za-z.]+$/.test(item.span.name) ? item.span.name : undefined)
  if (id === undefined) return null
  read.known('ai.operationId', 'operation.name', 'resource.name', 'ai.usage.totalTokens', 'ai.usage.tokens')
  read.knownPrefix('ai.settings.', 'ai.usage.inputTokenDetails.', 'ai.usage.outputTokenDetails.')
  const { error, ...end } = ending(read, item)
  const generic = genAiFacts(read)
  const output = read.content('ai.response.text', 'ai.response.object')
  const calls = read.content('ai.response.toolCalls')
  const draft: Draft = {
    ...end,
    dialect: 'vercel_ai_legacy',
    operation: operationOf(id),
    agent: read.text('ai.telemetry.functionId'),
    session: read.text('ai.telemetry.metadata.sessionId') ?? generic.session,
    model: read.text('ai.response.model', 'ai.model.id') ?? generic.model,
    provider: read.text('ai.model.provider') ?? generic.provider,
    tokens: {
      input: read.count('ai.usage.inputTokens', 'ai.usage.promptTokens') ?? generic.tokens?.input,
      output: read.count('ai.usage.outputTokens', 'ai.usage.completionTokens') ?? generic.tokens?.output,
      cache_read: read.count('ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'),
      cache_write: read.count('ai.usage.inputTokenDetails.cacheWriteTokens'),
      reasoning: read.count('ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'),
    },
    response: read.text('ai.response.id') ?? generic.response,
    tool: read.text('ai.toolCall.name'),
    call: read.text('ai.toolCall.id'),
    finish: read.text('ai.response.finishReason') ?? generic.finish,
    requested: said(calls).requested,
    content: {
      arguments: read.content('ai.toolCall.args', 'ai.toolCall.input'),
      result: read.content('ai.toolCall.result', 'ai.toolCall.output'),
      input: read.content('ai.prompt.messages', 'ai.prompt'),
      output: output ?? calls,
      reasoning: read.content('ai.response.reasoning', 'ai.response.reasoningText'),
      error,
    },
  }
  return draft
}

/** `ai.generateText` is the whole loop of an agent, `ai.generateText.doGenerate` one call of the model in it. */
function operationOf(id: string): Operation | null {
  if (id === 'ai.toolCall') return 'execute_tool'
  if (/\.do(Generate|Stream)$/.test(id)) return 'chat'
  if (/\.doEmbed$/.test(id)) return 'embeddings'
  if (/^ai\.(generate|stream)(Text|Object)$/.test(id)) return 'invoke_agent'
  return 'step'
}
