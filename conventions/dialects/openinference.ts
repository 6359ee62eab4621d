// OpenInference (Arize Phoenix): `openinference.span.kind`, messages flattened into attribute names.
import { type DialectReader, ending, entry } from './draft.ts'
import { unflatten } from './flattened.ts'
import { textAt } from './json-fields.ts'
import { readMessages } from './messages.ts'
import { parse, textOf } from './reader.ts'
import type { Operation } from './view.ts'

const KINDS: Readonly<Record<string, Operation>> = {
  LLM: 'chat',
  TOOL: 'execute_tool',
  AGENT: 'invoke_agent',
  EMBEDDING: 'embeddings',
  RETRIEVER: 'retrieval',
}

export const openInference: DialectReader = (read, item) => {
  if (item.signal !== 'span' || !read.has('openinference.span.kind')) return null
  const operation = entry(KINDS, read.text('openinference.span.kind')?.toUpperCase()) ?? 'step'
  const isTool = operation === 'execute_tool'
  read.known('input.mime_type', 'output.mime_type', 'llm.invocation_parameters', 'llm.token_count.total')
  read.knownPrefix('llm.tools.')
  const { error, ...end } = ending(read, item)
  const given = read.content('input.value')
  const back = read.content('output.value')
  const asked = unflatten(read, 'llm.input_messages.')
  const answered = unflatten(read, 'llm.output_messages.')
  const { requested, reasoning } = readMessages(answered)
  return {
    ...end,
    dialect: 'openinference',
    operation,
    agent: read.text('agent.name', 'graph.node.name') ?? textAt(read.json('metadata'), 'lc_agent_name'),
    session: read.text('session.id'),
    model: read.text('llm.response.model_name', 'llm.model_name', 'llm.request.model_name', 'embedding.model_name'),
    provider: read.text('llm.provider', 'llm.system'),
    tokens: {
      input: read.count('llm.token_count.prompt'),
      output: read.count('llm.token_count.completion'),
      cache_read: read.count('llm.token_count.prompt_details.cache_read'),
      cache_write: read.count('llm.token_count.prompt_details.cache_write'),
      reasoning: read.count('llm.token_count.completion_details.reasoning'),
    },
    tool: read.text('tool.name') ?? (isTool ? item.span.name : undefined),
    call: read.text('tool_call.id', 'tool.id') ?? (isTool ? callInResult(back) : undefined),
    finish: read.text('llm.finish_reason'),
    requested,
    content: {
      arguments: read.content('tool.parameters') ?? (isTool ? given : undefined),
      result: isTool ? back : undefined,
      input: isTool ? undefined : (textOf(asked) ?? given),
      output: isTool ? undefined : (textOf(answered) ?? back),
      reasoning,
      error,
    },
  }
}

/** LangChain's tool spans have no call id, but the message that is their result has. */
function callInResult(back: string | undefined): string | undefined {
  return back === undefined ? undefined : textAt(parse(back), 'output', 'kwargs', 'tool_call_id')
}
