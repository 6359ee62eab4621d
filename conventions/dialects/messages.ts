// What a model's answer asks for and thinks, found in messages of any of the shapes in use: GenAI parts, OpenAI, Anthropic, Google,
// Strands, Genkit and the Vercel AI SDK. Looks MAX_MESSAGE_LEVELS deep and no further.
import type { Json } from '../strict-json.ts'
import { textOf } from './reader.ts'
import { MAX_MESSAGE_LEVELS, MAX_REQUESTED, MAX_TEXT_CHARS, type RequestedCall } from './view.ts'

export interface Said {
  requested: RequestedCall[]
  reasoning?: string
}

type Fields = { [key: string]: Json }

/** Tool calls and reasoning in the messages a model gave back. */
export function readMessages(messages: Json | undefined): Said {
  const said: Said = { requested: [] }
  if (messages !== undefined) look(messages, said, MAX_MESSAGE_LEVELS)
  return said
}

function look(value: Json, said: Said, levels: number): void {
  if (typeof value !== 'object' || value === null || levels === 0) return
  if (Array.isArray(value)) {
    for (const item of value) look(item, said, levels - 1)
    return
  }
  const call = callOf(value)
  if (call !== undefined) {
    if (said.requested.length < MAX_REQUESTED) said.requested.push(call)
    return
  }
  const thought = thoughtOf(value)
  if (thought !== undefined) {
    said.reasoning = said.reasoning === undefined ? thought : `${said.reasoning}\n${thought}`
    if (isThought(value)) return
  }
  // A tool's answer may hold anything, also what looks like a call.
  if (isAnswer(value)) return
  for (const key of Object.keys(value)) if (!TEXT.has(key)) look(value[key] ?? null, said, levels - 1)
}

/** Text, never structure, in every shape. */
const TEXT = new Set(['text', 'role', 'id', 'name', 'finish_reason', 'finishReason'])

const THOUGHTS = new Set(['reasoning', 'thinking'])

function isThought(part: Fields): boolean {
  return (typeof part.type === 'string' && THOUGHTS.has(part.type)) || part.thought === true
}

/** Text of a part that is a thought, or the thought beside the text of a whole message. */
function thoughtOf(part: Fields): string | undefined {
  if (!isThought(part)) return textIn(part.reasoning_content)
  return textIn(part.content) ?? textIn(part.text) ?? textIn(part.thinking)
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const ANSWERS = ['toolResult', 'functionResponse', 'toolResponse', 'tool_call_response', 'tool_result', 'tool-result']

function isAnswer(part: Fields): boolean {
  return (typeof part.type === 'string' && ANSWERS.includes(part.type)) || ANSWERS.some((key) => fieldsOf(part[key]))
}

/** A tool call in one of the shapes; undefined for anything else. */
function callOf(part: Fields): RequestedCall | undefined {
  const type = typeof part.type === 'string' ? part.type : ''
  // OpenAI: {id, type: function, function: {name, arguments}}.
  const named = fieldsOf(part.function)
  if (named) return made(named.name, part.id, named.arguments)
  // Google {functionCall: {name, args, id}}, Strands and Bedrock {toolUse: {...}}, Genkit {toolRequest: {name, ref, input}}.
  const wrapped = fieldsOf(part.functionCall) ?? fieldsOf(part.toolUse) ?? fieldsOf(part.toolRequest)
  if (wrapped) {
    return made(wrapped.name, wrapped.id ?? wrapped.toolUseId ?? wrapped.ref, wrapped.args ?? wrapped.input)
  }
  if (['tool_call', 'tool_use', 'toolUse', 'function_call', 'server_tool_call', 'tool-call'].includes(type)) {
    const id = part.id ?? part.toolUseId ?? part.toolCallId ?? part.call_id
    return made(part.name ?? part.toolName, id, part.arguments ?? part.input ?? part.args)
  }
  // OpenLLMetry, flattened: {id, name, arguments}.
  if (type === '' && typeof part.id === 'string' && 'arguments' in part) return made(part.name, part.id, part.arguments)
  // Vercel AI SDK and Mastra: {toolCallId, toolName, input | args}.
  if (type === '' && typeof part.toolName === 'string' && typeof part.toolCallId === 'string') {
    if ('output' in part || 'result' in part) return undefined
    return made(part.toolName, part.toolCallId, part.input ?? part.args ?? part.toolInput)
  }
  return undefined
}

function made(name: Json | undefined, id: Json | undefined, args: Json | undefined): RequestedCall | undefined {
  if (!isName(name)) return undefined
  const text = textOf(args)
  return { name, ...(isName(id) && { id }), ...(text !== undefined && { arguments: text }) }
}

function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARS
}

function fieldsOf(value: Json | undefined): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
