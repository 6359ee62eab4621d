// One decoded item -> the one view. The first dialect that knows the item reads it; what none knows is kept with its names counted.
import { adk } from './adk.ts'
import { agentGateway } from './agentgateway.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { DialectReader, Draft } from './draft.ts'
import { geminiCli } from './gemini-cli.ts'
import { genAi } from './gen-ai.ts'
import { genkit } from './genkit.ts'
import type { Item } from './item.ts'
import { mastra } from './mastra.ts'
import { mcp } from './mcp.ts'
import { openInference } from './openinference.ts'
import { openLlmetry } from './openllmetry.ts'
import { qwenCode } from './qwen-code.ts'
import { Reader } from './reader.ts'
import { strands } from './strands.ts'
import { vercelAi, vercelAiLegacy } from './vercel-ai.ts'
import {
  CONTENT_NAMES,
  type Content,
  MAX_CONTENT_CHARS,
  type RequestedCall,
  TOKEN_KINDS,
  type Tokens,
  type View,
} from './view.ts'

/** In this order: those with names of their own first, the conventions that many share last. */
const READERS: readonly DialectReader[] = [
  claudeCode,
  codex,
  geminiCli,
  qwenCode,
  mastra,
  adk,
  genkit,
  strands,
  vercelAiLegacy,
  openInference,
  openLlmetry,
  vercelAi,
  agentGateway,
  mcp,
  genAi,
]

/** Characters of the arguments of a call that was asked for; an answer may ask for many. */
const MAX_REQUESTED_CHARS = 16 * 1024

/** A view in two: what may be kept, and what stays in the vault. */
export interface Classified {
  facts: Omit<View, 'content' | 'cut'>
  content: Content
  cut: (keyof Content)[]
}

/** Classifies a decoded item. Never throws; time and size are linear in the item's, and the view is bounded. */
export function classify(item: Item): View {
  const { facts, content, cut } = classified(item)
  return { ...facts, content, cut }
}

/** The same, content apart. */
export function classified(item: Item): Classified {
  const read = new Reader(attributesOf(item))
  for (const dialect of READERS) {
    const draft = dialect(read, item)
    if (draft !== null) return viewOf(draft, read)
  }
  return viewOf({ dialect: null, operation: null }, read)
}

function attributesOf(item: Item) {
  if (item.signal === 'span') return item.span.attributes ?? []
  return (item.signal === 'log' ? item.log.attributes : item.point.attributes) ?? []
}

/** Without what was not said. Member by member: a loop over names costs as much as all the reading. */
function viewOf(draft: Omit<Draft, 'dialect'> & Pick<View, 'dialect'>, read: Reader): Classified {
  const { requested = NONE } = draft
  const facts: Classified['facts'] = {
    dialect: draft.dialect,
    operation: draft.operation,
    outcome: draft.outcome ?? 'none',
    requested: requested.length === 0 ? requested : requested.map(shortened),
    unread: read.unread(),
  }
  const tokens = counted(draft.tokens)
  if (draft.agent !== undefined) facts.agent = draft.agent
  if (draft.session !== undefined) facts.session = draft.session
  if (draft.model !== undefined) facts.model = draft.model
  if (draft.provider !== undefined) facts.provider = draft.provider
  if (tokens !== undefined) facts.tokens = tokens
  if (draft.response !== undefined) facts.response = draft.response
  if (draft.tool !== undefined) facts.tool = draft.tool
  if (draft.call !== undefined) facts.call = draft.call
  if (draft.decision !== undefined) facts.decision = draft.decision
  if (draft.finish !== undefined) facts.finish = draft.finish
  if (draft.error_type !== undefined) facts.error_type = draft.error_type
  if (draft.duration_ms !== undefined) facts.duration_ms = draft.duration_ms
  if (draft.metric !== undefined) facts.metric = draft.metric
  const cut: (keyof Content)[] = []
  return { facts, content: shortContent(draft.content, cut), cut }
}

const NONE: readonly RequestedCall[] = []

/** The counts that were told; undefined where none was. */
function counted(tokens: Draft['tokens'] = {}): Tokens | undefined {
  let told: Tokens | undefined
  for (const kind of TOKEN_KINDS) {
    const count = tokens[kind]
    if (count === undefined) continue
    told ??= {}
    told[kind] = count
  }
  return told
}

function shortContent(content: Draft['content'] = {}, cut: (keyof Content)[]): Content {
  const short: Content = {}
  for (const name of CONTENT_NAMES) {
    const text = content[name]
    if (text === undefined) continue
    if (text.length > MAX_CONTENT_CHARS) cut.push(name)
    short[name] = text.length > MAX_CONTENT_CHARS ? beginning(text, MAX_CONTENT_CHARS) : text
  }
  return short
}

function shortened(call: RequestedCall): RequestedCall {
  if (call.arguments === undefined || call.arguments.length <= MAX_REQUESTED_CHARS) return call
  return { ...call, arguments: beginning(call.arguments, MAX_REQUESTED_CHARS) }
}

/** Never half a character. */
function beginning(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed()
}
