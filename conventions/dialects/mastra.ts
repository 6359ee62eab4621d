// Mastra: GenAI names and `mastra.*`; operations of its own, of which only `chat` is one call of the model.
import { type DialectReader, said } from './draft.ts'
import { genAiSpan } from './gen-ai.ts'

export const mastra: DialectReader = (read, item) => {
  if (item.signal !== 'span' || !read.has('mastra.span.type')) return null
  read.known(
    'mastra.span.type',
    'mastra.completion_start_time',
    'mastra.metadata.runId',
    'mastra.model_step.step_index',
    'mastra.model_step.is_continued',
    'gen_ai.tool.description',
    'gen_ai.tool.definitions',
  )
  const base = genAiSpan(read, item)
  const message = read.content('error.message')
  const stepOutput = read.content('mastra.model_step.output')
  return {
    ...base,
    dialect: 'mastra',
    // agent_step, model_generation, model_chunk: parts of the work, and ways of looking at the same answer.
    operation: base.operation ?? 'step',
    session: base.session ?? read.text('mastra.metadata.threadId', 'mastra.metadata.sessionId'),
    requested: base.requested?.length ? base.requested : said(stepOutput).requested,
    content: {
      ...base.content,
      input:
        base.content?.input ??
        read.content('mastra.agent_run.input', 'mastra.model_step.input', 'mastra.model_generation.input'),
      output:
        base.content?.output ?? read.content('mastra.agent_run.output', 'mastra.model_generation.output') ?? stepOutput,
      error: base.content?.error ?? message,
    },
  }
}
