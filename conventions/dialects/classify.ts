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
import { type Content, MAX_CONTENT_CHARS, type RequestedCall, type Tokens, type View } from './view.ts'

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

/** Classifies a decoded item. Never throws; time and size are linear in the item's, and the view is bounded. */
export function classify(item: Item): View {
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

function viewOf(draft: Omit<Draft, 'dialect'> & Pick<View, 'dialect'>, read: Reader): View {
  const { dialect, operation, tokens, outcome, requested = [], content = {}, ...rest } = draft
  const cut: (keyof Content)[] = []
  const counted: Tokens = said(tokens ?? {})
  return {
    dialect,
    operation,
    ...said(rest),
    ...(Object.keys(counted).length > 0 && { tokens: counted }),
    outcome: outcome ?? 'none',
    requested: requested.map(shortened),
    content: shortContent(said(content), cut),
    cut,
    unread: read.unread(),
  }
}

type Said<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Without what was not said. */
function said<T extends object>(fields: T): Said<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Said<T>
}

function shortContent(content: Content, cut: (keyof Content)[]): Content {
  for (const name of Object.keys(content) as (keyof Content)[]) {
    const text = content[name] ?? ''
    if (text.length <= MAX_CONTENT_CHARS) continue
    content[name] = beginning(text, MAX_CONTENT_CHARS)
    cut.push(name)
  }
  return content
}

function shortened(call: RequestedCall): RequestedCall {
  if (call.arguments === undefined || call.arguments.length <= MAX_REQUESTED_CHARS) return call
  return { ...call, arguments: beginning(call.arguments, MAX_REQUESTED_CHARS) }
}

/** Never half a character. */
function beginning(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed()
}
