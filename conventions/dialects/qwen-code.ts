// Qwen Code's own telemetry: spans with GenAI names beside its own, log records as Gemini CLI has them.
import { type DialectReader, entry, eventName, outcomeOf, pointDraft } from './draft.ts'
import { geminiEvent } from './gemini-cli.ts'
import { genAiSpan } from './gen-ai.ts'
import type { Operation } from './view.ts'

const QWEN = 'qwen-code'

const QWEN_SPANS: Readonly<Record<string, Operation>> = {
  'qwen-code.interaction': 'invoke_agent',
  'qwen-code.llm_request': 'chat',
  'qwen-code.tool': 'execute_tool',
  'qwen-code.tool.execution': 'execute_tool',
}

export const qwenCode: DialectReader = (read, item) => {
  const own = item.scope.name === QWEN
  if (item.signal === 'metric') {
    return own || item.metric.name.startsWith('qwen-code.')
      ? { ...pointDraft('qwen_code', read, item), agent: QWEN }
      : null
  }
  if (item.signal === 'log') {
    return own || eventName(read, item).startsWith('qwen-code.')
      ? { ...geminiEvent(read, item, 'qwen-code.'), dialect: 'qwen_code', agent: QWEN }
      : null
  }
  if (!own) return null
  read.known('success', 'tool_name', 'tool.call_id', 'call_id', 'finish_reason', 'interaction.sequence')
  read.known('duration_ms', 'ttft_ms', 'attempt', 'sampling_ms', 'request_setup_ms', 'retry_total_delay_ms')
  read.known('output_tokens_per_second', 'execution_status', 'llm_request.context', 'interaction.duration_ms')
  read.knownPrefix('qwen-code.')
  const base = genAiSpan(read, item)
  return {
    ...base,
    dialect: 'qwen_code',
    operation: entry(QWEN_SPANS, item.span.name) ?? 'event',
    agent: QWEN,
    call: base.call ?? read.text('tool.call_id', 'call_id'),
    tool: base.tool ?? read.text('tool_name'),
    outcome: base.outcome ?? outcomeOf(read.flag('success')),
    finish: base.finish ?? read.text('finish_reason'),
    tokens: { ...base.tokens, reasoning: base.tokens?.reasoning ?? read.count('thoughts_token_count') },
  }
}
