// What an adapter is: the one place that knows an agent's own payloads. Pure: bytes in, an OTLP request of claim spans out.
import type { ClaimEvent } from '../conventions/claim.ts'
import { MAX_NAME_CHARS } from '../conventions/limits.ts'
import type { ExportTraceServiceRequest } from '../conventions/otlp.ts'
import type { HookAnswer } from '../conventions/wire.ts'

/** How one native event is registered and what it means. */
export interface EventRule {
  claim: ClaimEvent
  /** The agent waits for the answer, and a failure of the hook must stop what the event announces. */
  gate: boolean
  /** The agent reads a silent hook as an answer: such an event is never registered in observe mode. */
  silenceAnswers: boolean
  /** Seconds the agent is told to wait for the hook. */
  timeoutSeconds: number
  /** What the agent shows while the hook runs. */
  statusMessage?: string
}

/**
 * `request`: one or more claim spans. `ignored`: a payload that is none of our business, with the reason.
 * `ok: false`: the payload can't be read as this event; `field` names the native field, `message` is safe to show and to log.
 */
export type AdapterResult =
  | { ok: true; request: ExportTraceServiceRequest }
  | { ok: true; ignored: string }
  | { ok: false; field: string; message: string }

/** `input` includes the cached tokens, `cache_write` those kept for an hour, `output` the reasoning. */
export interface SaidUsage {
  input: number
  output: number
  cache_read?: number
  cache_write?: number
  cache_write_1h?: number
  reasoning?: number
}

/** One block of a model's message, as the agent's transcript holds it. */
export interface SaidBlock {
  kind: 'reasoning' | 'text' | 'tool_use'
  model?: string
  /** The message's id; several blocks share it, and `usage` then says the same in each. */
  message: string
  /** The words; of a tool_use, the JSON text of its input. */
  text: string
  callId?: string
  tool?: string
  /** Tokens of the whole message, as far as this line knows: the first lines of a streamed message know less than the last. */
  usage?: SaidUsage
  /** The session the line was written in: of lines that a fork or a resume copied, another one. */
  session?: string
  turn?: string
  sub?: string
  /** Id of the transcript line. */
  uuid: string
  /** When the agent wrote the line, by its clock: milliseconds since 1970. */
  time?: number
}

/** Where an agent keeps the transcripts of its sessions. */
export interface SessionFolder {
  /** Holds a folder for each project, and those the transcripts. */
  root: string
  /** Name of the one project's folder in it that the hooks are installed for; absent: all. */
  project?: string
}

/** How an agent is answered that sends its events as HTTP requests of its own. */
export interface HttpHooks {
  /** Native events that may come so; every other one needs a command hook. */
  events: readonly string[]
  /** Status and JSON body for an answer that is no hold. What the agent reads as a failure must be one. */
  answer(event: string, answer: Exclude<HookAnswer, { kind: 'hold' }>, how: HttpMode): { status: number; body: string }
}

/** As the hook was installed. */
export interface HttpMode {
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
}

export interface Adapter {
  agent: string
  /** Version of the adapter: it changes when the same payload would give another claim. */
  version: string
  events: Readonly<Record<string, EventRule>>
  http?: HttpHooks
  /**
   * Reads one native payload. `nowNs`: nanoseconds since 1970 as a decimal string, when the payload arrived.
   * Same arguments, same request. Never throws on bad input.
   */
  toRequest(nativeEvent: string, payload: Uint8Array, nowNs: string): AdapterResult
  /** Where a sub-agent's own transcript lies, given the session's. */
  subagentTranscript(transcript: string, sub: string): string
  /** Blocks of one transcript line; none when the line is something else, cut or broken. Never throws. */
  readTranscriptLine(line: string): SaidBlock[]
  /** Where the sessions lie in which our hooks should run, given a settings file they are installed in. */
  sessionFolder(settingsFile: string, userHome: string): SessionFolder
  /** The session whose transcript a file of this name is; undefined for other files, such as a sub-agent's own transcript. */
  sessionOf(fileName: string): string | undefined
}

const ID = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NAME_CHARS}}$`)

/** True for an id or name as records may hold it: printable ASCII without spaces. Says what `nameText` of conventions/record.ts says, without zod. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}
