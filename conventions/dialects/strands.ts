// Strands Agents: GenAI names, content in span events.
import { type DialectReader, eventReader, outcomeOf } from './draft.ts'
import { genAiSpan } from './gen-ai.ts'
import type { SpanItem } from './item.ts'

/** What it calls its system, which is itself and no provider of models. */
const SYSTEM = 'strands-agents'

export const strands: DialectReader = (read, item) => {
  if (item.signal !== 'span') return null
  if (
    item.scope.name !== SYSTEM &&
    read.peek('gen_ai.system') !== SYSTEM &&
    read.peek('gen_ai.provider.name') !== SYSTEM
  )
    return null
  read.known(
    'gen_ai.event.start_time',
    'gen_ai.event.end_time',
    'gen_ai.usage.total_tokens',
    'gen_ai.agent.tools',
    'name',
  )
  const base = genAiSpan(read, item)
  const isTool = base.operation === 'execute_tool'
  const status = read.text('gen_ai.tool.status')
  return {
    ...base,
    dialect: 'strands',
    operation: base.operation ?? (item.span.name === 'execute_agent_loop_cycle' ? 'step' : null),
    provider: base.provider === SYSTEM ? undefined : base.provider,
    outcome: status === undefined ? base.outcome : outcomeOf(status === 'success'),
    content: {
      ...base.content,
      instructions: base.content?.instructions ?? read.content('system_prompt'),
      ...(isTool && { arguments: ofEvent(item, 'gen_ai.tool.message', 'content'), input: undefined }),
      ...(isTool && { result: ofEvent(item, 'gen_ai.choice', 'message'), output: undefined }),
    },
  }
}

function ofEvent({ span }: SpanItem, name: string, attribute: string): string | undefined {
  const event = span.events?.find((one) => one.name === name)
  return event && eventReader(event).content(attribute)
}
