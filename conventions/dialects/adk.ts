// Google's Agent Development Kit: GenAI names and `gcp.vertex.agent.*`. A failed tool's span may have no attribute at all.
import { type DialectReader, said } from './draft.ts'
import { genAiSpan } from './gen-ai.ts'
import { at, countAt, textAt } from './json-fields.ts'
import { parse, textOf } from './reader.ts'
import type { Operation } from './view.ts'

/** Its tracer, and what it calls its system, which is no provider of models. */
const SYSTEM = 'gcp.vertex.agent'

const NAMES: readonly [RegExp, Operation][] = [
  [/^execute_tool /, 'execute_tool'],
  [/^invoke_agent /, 'invoke_agent'],
  [/^call_llm$/, 'chat'],
  [/^invocation$/, 'step'],
]

export const adk: DialectReader = (read, item) => {
  if (item.signal !== 'span') return null
  if (item.scope.name !== SYSTEM && !read.hasPrefix(`${SYSTEM}.`)) return null
  read.known(
    'gcp.vertex.agent.invocation_id',
    'gcp.vertex.agent.event_id',
    'gen_ai.agent.description',
    'gen_ai.tool.description',
  )
  const base = genAiSpan(read, item)
  const operation = base.operation ?? NAMES.find(([name]) => name.test(item.span.name))?.[1] ?? null
  const session = read.text('gcp.vertex.agent.session_id')
  const asked = read.content('gcp.vertex.agent.llm_request')
  const answered = read.content('gcp.vertex.agent.llm_response')
  const isModel = operation === 'chat'
  const answer = isModel && answered !== undefined ? parse(answered) : undefined
  const message = textOf(at(answer, 'content'))
  return {
    ...base,
    dialect: 'adk',
    operation,
    session: base.session ?? session,
    provider: base.provider === SYSTEM ? undefined : base.provider,
    tokens: {
      ...base.tokens,
      cache_read: base.tokens?.cache_read ?? countAt(answer, 'usageMetadata', 'cachedContentTokenCount'),
      reasoning: base.tokens?.reasoning ?? countAt(answer, 'usageMetadata', 'thoughtsTokenCount'),
    },
    tool: base.tool ?? (operation === 'execute_tool' ? named(item.span.name) : undefined),
    finish: base.finish ?? textAt(answer, 'finishReason'),
    requested: said(message).requested,
    content: {
      ...base.content,
      arguments: base.content?.arguments ?? read.content('gcp.vertex.agent.tool_call_args'),
      result: base.content?.result ?? read.content('gcp.vertex.agent.tool_response'),
      // Tools carry an empty one of each.
      input: base.content?.input ?? (isModel ? asked : undefined),
      output: base.content?.output ?? message,
      reasoning: said(message).reasoning,
    },
  }
}

function named(span: string): string | undefined {
  const name = span.slice('execute_tool '.length)
  return span.startsWith('execute_tool ') && name !== '' && name.length <= 256 ? name : undefined
}
