// One line of Claude Code's transcript (~/.claude/projects/<slug>/<session>.jsonl) -> what the model said.
// An assistant line holds one content block, sometimes several; the blocks of one message share its id and repeat its usage.
import { type Json, parseStrict } from '../../conventions/strict-json.ts'
import { isId, type SaidBlock } from '../adapter.ts'

type JsonObject = { [key: string]: Json }

/** Blocks of an `assistant` line; none for other lines, half lines and broken ones. Never throws. */
export function readTranscriptLine(line: string): SaidBlock[] {
  // Most lines are something else, and some are large: look before parsing.
  if (!line.includes('"assistant"')) return []
  const parsed = parseStrict(line, { looseNumbers: true })
  if (!parsed.ok || !isObject(parsed.value)) return []
  const entry = parsed.value
  const message = entry.message
  if (entry.type !== 'assistant' || !isObject(message)) return []
  const { id, model, content } = message
  if (!isId(id) || !isId(entry.uuid)) return []
  const usage = readUsage(message.usage)
  const time = typeof entry.timestamp === 'string' ? Date.parse(entry.timestamp) : Number.NaN
  const shared = {
    message: id,
    uuid: entry.uuid,
    ...(Number.isNaN(time) ? {} : { time }),
    ...(isId(model) ? { model } : {}),
    ...(usage === undefined ? {} : { usage }),
    ...(isId(entry.promptId) ? { turn: entry.promptId } : {}),
    ...sessionOf(entry),
    ...(entry.isSidechain === true && isId(entry.agentId) ? { sub: entry.agentId } : {}),
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
  return blocks.flatMap((block) => {
    const said = readBlock(block)
    return said === undefined ? [] : [{ ...said, ...shared }]
  })
}

/** A fork's copies keep their ids and name where they come from; older versions kept the session's own id in them. */
function sessionOf({ sessionId, forkedFrom }: JsonObject): Pick<SaidBlock, 'session'> {
  const from = isObject(forkedFrom) ? forkedFrom.sessionId : sessionId
  return isId(from) ? { session: from } : {}
}

/** Empty text is nothing said: Claude Code writes an empty thinking block where the reasoning is not shown. */
function readBlock(block: Json | undefined): Pick<SaidBlock, 'kind' | 'text' | 'callId' | 'tool'> | undefined {
  if (!isObject(block)) return undefined
  const { type, text, thinking } = block
  if (type === 'text' && typeof text === 'string' && text !== '') return { kind: 'text', text }
  if (type === 'thinking' && typeof thinking === 'string' && thinking !== '')
    return { kind: 'reasoning', text: thinking }
  if (type !== 'tool_use') return undefined
  return {
    kind: 'tool_use',
    text: JSON.stringify(block.input ?? null),
    ...(isId(block.id) ? { callId: block.id } : {}),
    ...(isId(block.name) ? { tool: block.name } : {}),
  }
}

/** Anthropic counts uncached input apart; the GenAI conventions ask for all of it in one number. */
function readUsage(usage: Json | undefined): SaidBlock['usage'] {
  if (!isObject(usage)) return undefined
  const input = count(usage.input_tokens)
  const output = count(usage.output_tokens)
  if (input === undefined || output === undefined) return undefined
  const read = count(usage.cache_read_input_tokens)
  const write = count(usage.cache_creation_input_tokens)
  const hour = isObject(usage.cache_creation) ? count(usage.cache_creation.ephemeral_1h_input_tokens) : undefined
  const details = usage.output_tokens_details
  const reasoning = isObject(details) ? count(details.thinking_tokens) : undefined
  return {
    input: input + (read ?? 0) + (write ?? 0),
    output,
    ...(read === undefined ? {} : { cache_read: read }),
    ...(write === undefined ? {} : { cache_write: write }),
    // Mostly 0, and a record is short: what is not there is none.
    ...(hour ? { cache_write_1h: hour } : {}),
    ...(reasoning ? { reasoning } : {}),
  }
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
