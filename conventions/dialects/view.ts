// The one view of third-party telemetry, whatever dialect it was written in. What a sender did not say is absent: no zero, no empty
// text and no "ok" stands for it. Everything here is someone else's word (tier T3): receipt only.

/** Who wrote it. The GenAI conventions are two: names up to v1.36 (`gen_ai.system`) and the later ones (`gen_ai.provider.name`). */
export const DIALECTS = [
  'genai',
  'genai_old',
  'openinference',
  'openllmetry',
  'vercel_ai',
  'vercel_ai_legacy',
  'strands',
  'adk',
  'genkit',
  'mastra',
  'mcp',
  'agentgateway',
  'claude_code',
  'codex',
  'gemini_cli',
  'qwen_code',
] as const
export type Dialect = (typeof DIALECTS)[number]

/**
 * `step`: a part of an agent's work that is none of the others, such as a chain, a loop cycle or a flow. `decision`: the agent's own
 * permission answer to a tool call. `mcp`: a request other than a tool call. `event`: something else the dialect is known to tell.
 */
export const OPERATIONS = [
  'invoke_agent',
  'create_agent',
  'chat',
  'execute_tool',
  'embeddings',
  'retrieval',
  'prompt',
  'decision',
  'step',
  'mcp',
  'metric',
  'event',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** What was reported of how it ended. `none`: no error was reported, which is not success. */
export type Outcome = 'error' | 'success' | 'none'

/** Tokens, whole numbers. `input` counts cached ones in, as the GenAI conventions do; `output` counts reasoning in where the sender does. */
export const TOKEN_KINDS = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const
export type Tokens = { [Kind in (typeof TOKEN_KINDS)[number]]?: number }

/** A tool call the model asked for. */
export interface RequestedCall {
  id?: string
  name: string
  /** Content. */
  arguments?: string
}

/** Content: it stays in the vault and in local views; never in a record, the index, a metric or a forwarded span. */
export const CONTENT_NAMES = [
  'arguments',
  'result',
  'prompt',
  // What went to the model and came back, as the sender wrote it: usually JSON.
  'input',
  'output',
  'instructions',
  'reasoning',
  'error',
] as const
export type Content = { [Name in (typeof CONTENT_NAMES)[number]]?: string }

export interface View {
  /** Null: no dialect knows it. */
  dialect: Dialect | null
  /** Null: no operation of an agent, or one this version does not know. */
  operation: Operation | null
  agent?: string
  session?: string
  /** The model that answered, else the one that was asked. */
  model?: string
  provider?: string
  tokens?: Tokens
  /** The provider's id of the answer. */
  response?: string
  tool?: string
  call?: string
  /** The agent's permission answer to a tool call, in its own word. */
  decision?: string
  finish?: string
  outcome: Outcome
  error_type?: string
  /** Milliseconds. */
  duration_ms?: number
  requested: readonly RequestedCall[]
  /** A metric's point; its tokens repeat those of spans and logs, so they are no `tokens`. */
  metric?: { name: string; unit?: string; value?: number; token_type?: string }
  content: Content
  /** Names of contents longer than MAX_CONTENT_CHARS, of which the beginning is here. */
  cut: (keyof Content)[]
  /** Attributes nothing here was read from: how many, and the names of the first ones. */
  unread: { count: number; names: string[] }
}

/** Characters of an id or a name. Longer text under such a key is content by mistake, so it is left unread. */
export const MAX_TEXT_CHARS = 256

/** Characters of one content. A view is for people and for the policy, which reads less of a call than this. */
export const MAX_CONTENT_CHARS = 256 * 1024

/** Tool calls one answer may ask for: more are not listed. */
export const MAX_REQUESTED = 128

/** Names of unread attributes that are listed; all are counted. */
export const MAX_UNREAD_NAMES = 32

/** Levels of a message below which nothing is looked for. */
export const MAX_MESSAGE_LEVELS = 8
