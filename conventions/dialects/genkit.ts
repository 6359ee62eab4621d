// Genkit: `genkit:*` names only. Models are called provider/model; usage and answer are in the JSON of the output.
import { type DialectReader, ending, entry, said } from './draft.ts'
import { at, countAt, textAt } from './json-fields.ts'
import { parse, textOf } from './reader.ts'
import type { Operation } from './view.ts'

const SUBTYPES: Readonly<Record<string, Operation>> = {
  model: 'chat',
  tool: 'execute_tool',
  'tool.v2': 'execute_tool',
  embedder: 'embeddings',
  retriever: 'retrieval',
  agent: 'invoke_agent',
}

export const genkit: DialectReader = (read, item) => {
  if (item.signal !== 'span' || !read.has('genkit:type')) return null
  read.known('genkit:type', 'genkit:key', 'genkit:isRoot', 'genkit:isFailureSource', 'genkit:threadName')
  const operation = entry(SUBTYPES, read.text('genkit:metadata:subtype')) ?? 'step'
  const name = read.text('genkit:name')
  const given = read.content('genkit:input')
  const back = read.content('genkit:output')
  const { error, ...end } = ending(read, item)
  const state = read.text('genkit:state')
  const isTool = operation === 'execute_tool'
  const answer = operation === 'chat' && back !== undefined ? parse(back) : undefined
  const message = textOf(at(answer, 'message'))
  const [provider, model] = operation === 'chat' ? parts(name) : []
  return {
    ...end,
    dialect: 'genkit',
    operation,
    outcome: end.outcome ?? (state === 'success' ? 'success' : state === 'error' ? 'error' : undefined),
    agent: flowOf(read.text('genkit:path')),
    session: read.text('genkit:sessionId'),
    model,
    provider,
    tokens: {
      input: countAt(answer, 'usage', 'inputTokens'),
      output: countAt(answer, 'usage', 'outputTokens'),
      cache_read: countAt(answer, 'usage', 'cachedContentTokens'),
      reasoning: countAt(answer, 'usage', 'thoughtsTokens'),
    },
    tool: isTool ? name : undefined,
    call: isTool ? read.text('genkit:metadata:ref') : undefined,
    finish: textAt(answer, 'finishReason'),
    requested: said(message).requested,
    content: {
      arguments: isTool ? given : undefined,
      result: isTool ? back : undefined,
      input: isTool ? undefined : given,
      output: isTool ? undefined : (message ?? back),
      reasoning: said(message).reasoning,
      error,
    },
  }
}

/** `openai/gpt-4o`: who serves it, and its name there. */
function parts(name: string | undefined): [string | undefined, string | undefined] {
  const slash = name?.indexOf('/') ?? -1
  return slash > 0 ? [name?.slice(0, slash), name?.slice(slash + 1)] : [undefined, name]
}

/** The outermost flow of `/{weatherFlow,t:flow}/{generate,t:util}`: the nearest to an agent's name there is. */
function flowOf(path: string | undefined): string | undefined {
  return /^\/\{([^,}]+),t:flow/.exec(path ?? '')?.[1]
}
