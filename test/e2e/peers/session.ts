// What an agent does in the peer tests, told to a collector as its hooks tell it.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_ID_CHARS, MAX_NAME_CHARS } from '../../../conventions/limits.ts'
import type { Span } from '../../../conventions/otlp.ts'
import { type Collector, event, postToolUse, preToolUse } from '../../support/collector.ts'

/** Service name that the session's spans have in a backend. */
export const SERVICE = 'claude-code'

/** The call that `session` makes and the policy denies; its id in session `id`. */
export const deniedCall = (id: string) => `${id}-denied`

/** One turn: an allowed call, a denied one, a failed one, a sub-agent with a call inside, two messages of the model, a lost call. */
export async function session(collector: Collector, id: string): Promise<void> {
  const transcript = join(collector.root, `${id}.jsonl`)
  writeFileSync(transcript, '')
  const at = { transcript_path: transcript }
  await collector.hook('SessionStart', event(id, 'SessionStart', { ...at, source: 'startup' }))
  await collector.hook('UserPromptSubmit', event(id, 'UserPromptSubmit', { ...at, prompt: 'do it – “now” 🚀' }))
  const content = [
    { type: 'thinking', thinking: 'first this' },
    { type: 'text', text: 'then that' },
  ]
  const message = { id: 'm1', model: 'claude-opus-5-5', content, usage: { input_tokens: 5, output_tokens: 7 } }
  const line = { type: 'assistant', uuid: `${id}-u1`, sessionId: id, isSidechain: false, message }
  appendFileSync(transcript, `${JSON.stringify(line)}\n`)
  await collector.hook('PreToolUse', preToolUse(id, `${id}-ok`, 'ls', at))
  await collector.hook('PostToolUse', postToolUse(id, `${id}-ok`, 'ls', at))
  await collector.hook('PreToolUse', preToolUse(id, deniedCall(id), 'git push --force origin main', at))
  await collector.hook('PreToolUse', preToolUse(id, `${id}-failed`, 'exit 3', at))
  await collector.hook('PostToolUseFailure', {
    ...preToolUse(id, `${id}-failed`, 'exit 3', at),
    hook_event_name: 'PostToolUseFailure',
    error: 'Exit code 3',
    is_interrupt: false,
    duration_ms: 3,
  })
  await collector.hook('PreToolUse', {
    ...preToolUse(id, `${id}-agent`, '', at),
    tool_name: 'Agent',
    tool_input: { prompt: 'look around', run_in_background: false },
  })
  const inside = { ...at, agent_id: `${id}-sub`, agent_type: 'general-purpose' }
  await collector.hook('SubagentStart', event(id, 'SubagentStart', inside))
  await collector.hook('PreToolUse', preToolUse(id, `${id}-inner`, 'ls', inside))
  await collector.hook('PostToolUse', postToolUse(id, `${id}-inner`, 'ls', inside))
  await collector.hook('SubagentStop', event(id, 'SubagentStop', inside))
  await collector.hook('PreToolUse', preToolUse(id, `${id}-lost`, 'ls', at))
  await collector.hook('Stop', event(id, 'Stop', at))
  await collector.hook('SessionEnd', event(id, 'SessionEnd', { ...at, reason: 'other' }))
}

/** A call whose ids and names are the longest there may be: its records don't fit into one attribute. */
export async function longCall(collector: Collector, id: string): Promise<void> {
  const at = {
    prompt_id: `${id}-turn`.padEnd(MAX_ID_CHARS, 'x'),
    agent_id: `${id}-sub`.padEnd(MAX_ID_CHARS, 'x'),
    agent_type: 'x'.repeat(MAX_NAME_CHARS),
    tool_name: 'mcp__files__'.padEnd(MAX_NAME_CHARS, 'x'),
  }
  const call = `${id}-call`.padEnd(MAX_ID_CHARS, 'x')
  await collector.hook('PreToolUse', preToolUse(id, call, 'ls', at))
  await collector.hook('PostToolUse', postToolUse(id, call, 'ls', at))
  await collector.hook('SessionEnd', event(id, 'SessionEnd', { reason: 'other' }))
}

/** One turn in which nothing is denied and nothing fails. */
export async function calmSession(collector: Collector, id: string): Promise<void> {
  await collector.hook('UserPromptSubmit', event(id, 'UserPromptSubmit', { prompt: 'look' }))
  await collector.hook('PreToolUse', preToolUse(id, `${id}-ok`))
  await collector.hook('PostToolUse', postToolUse(id, `${id}-ok`))
  await collector.hook('Stop', event(id, 'Stop'))
  await collector.hook('SessionEnd', event(id, 'SessionEnd', { reason: 'other' }))
}

/** Spans by trace. */
export function byTrace(spans: Span[]): Map<string, Span[]> {
  const traces = new Map<string, Span[]>()
  for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span])
  return traces
}

/** A span without parent: backends leave the field out or empty. */
export function isRoot({ parentSpanId }: Span): boolean {
  return parentSpanId === undefined || parentSpanId === ''
}

/** Ids of spans, sorted, each once. */
export function ids(spans: Span[]): string[] {
  return [...new Set(spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`))].sort()
}
