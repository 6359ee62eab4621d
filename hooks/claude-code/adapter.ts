// Claude Code's hook payloads -> OTLP claim spans. Fields as Claude Code 2.1.332 sends them; unknown ones are ignored.
import { createHash } from 'node:crypto'
import { type Claim, claimAttributes } from '../../conventions/claim.ts'
import { attribute, type ExportTraceServiceRequest, type Span } from '../../conventions/otlp.ts'
import { type Json, parseStrict } from '../../conventions/strict-json.ts'
import type { Adapter, AdapterResult, EventRule } from '../adapter.ts'
import { rawItems } from '../raw-items.ts'
import { EVENTS } from './events.ts'
import { Fields, Refusal } from './fields.ts'
import { httpHooks } from './http.ts'
import { sessionFolder, sessionOf } from './sessions.ts'
import { readTranscriptLine } from './transcript.ts'

const AGENT = 'claude-code'
const VERSION = '1'

/**
 * Prompts that begin like this were written by the program, not typed by a person: a finished background task, the output of a
 * slash command or of a `!` command, a reminder.
 */
export const MACHINE_PROMPT_TAGS = [
  '<task-notification>',
  '<system-reminder>',
  '<local-command-stdout>',
  '<local-command-stderr>',
  '<bash-stdout>',
  '<bash-stderr>',
] as const

/** `Agent` works in the background unless told otherwise; its older name `Task` only when told to. */
const LAUNCHERS: ReadonlyMap<string, (runInBackground: Json | undefined) => boolean> = new Map([
  ['Agent', (asked: Json | undefined) => asked !== false],
  ['Task', (asked: Json | undefined) => asked === true],
])

/** What the Bash tool puts first into the error text of a command that ended with another code than 0. */
const EXIT_CODE = /^Exit code (\d{1,3})(?:\n|$)/

const NS_PER_MS = 1_000_000n

export const claudeCode: Adapter = {
  agent: AGENT,
  version: VERSION,
  events: EVENTS,
  http: httpHooks,
  toRequest,
  // <folder>/<session>.jsonl -> <folder>/<session>/subagents/agent-<sub>.jsonl
  subagentTranscript: (transcript, sub) =>
    `${transcript.replace(/\.jsonl$/, '')}/subagents/agent-${sub.replaceAll('/', '_')}.jsonl`,
  readTranscriptLine,
  sessionFolder,
  sessionOf,
}

function toRequest(nativeEvent: string, payload: Uint8Array, nowNs: string): AdapterResult {
  const rule = Object.hasOwn(EVENTS, nativeEvent) ? EVENTS[nativeEvent] : undefined
  if (rule === undefined) return { ok: true, ignored: 'unknown event' }
  const parsed = parseStrict(payload, { looseNumbers: true })
  if (!parsed.ok) {
    // The code and the place only: the parser's own words may quote the payload.
    const { code, at } = parsed.error
    return refuse('payload', `is not strict JSON: ${code}${at < 0 ? '' : ` at character ${at}`}`)
  }
  const fields = Fields.of(parsed.value, parsed.raw)
  if (fields === null) return refuse('payload', 'is not a JSON object')
  // Cursor runs Claude Code's hooks too; its own hooks report the same call.
  if (fields.has('conversation_id') || fields.has('cursor_version')) return { ok: true, ignored: 'cursor payload' }
  try {
    const claims = readEvent(nativeEvent, rule, fields)
    if (claims.length === 0) return { ok: true, ignored: 'no calls in the batch' }
    return { ok: true, request: request(claims, nowNs) }
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.field, error.reason)
    throw error
  }
}

function refuse(field: string, reason: string): AdapterResult {
  return { ok: false, field, message: `${field} ${reason}` }
}

function readEvent(nativeEvent: string, rule: EventRule, fields: Fields): Claim[] {
  if (fields.text('hook_event_name') !== nativeEvent) {
    throw new Refusal('hook_event_name', `is not ${nativeEvent}, the event this hook is registered for`)
  }
  const claim: Claim = {
    event: rule.claim,
    nativeEvent,
    agent: AGENT,
    session: fields.needId('session_id'),
    ...fields.pick({
      turn: fields.id('prompt_id'),
      sub: fields.id('agent_id'),
      subType: fields.name('agent_type'),
      cwd: fields.text('cwd'),
      transcript: fields.text('transcript_path'),
      permissionMode: fields.name('permission_mode'),
    }),
  }
  switch (rule.claim) {
    case 'prompt': {
      const prompt = fields.needText('prompt')
      return [{ ...claim, prompt, machine: MACHINE_PROMPT_TAGS.some((tag) => prompt.trimStart().startsWith(tag)) }]
    }
    case 'tool.before':
      return [{ ...claim, ...call(fields), ...launch(fields) }]
    case 'tool.after':
      return [{ ...claim, ...call(fields), ...outcome(fields), ...launched(fields) }]
    case 'tool.failed':
      return [{ ...claim, ...call(fields), ...outcome(fields), ...failure(fields) }]
    case 'tool.reported':
      return batch(fields).map((item) => ({ ...claim, ...call(item), ...outcome(item) }))
    case 'permission':
      // The one tool event without a call id: the agent gives none.
      return [{ ...claim, tool: fields.needId('tool_name'), args: fields.needRaw('tool_input') }]
    case 'subagent.start':
    case 'subagent.end':
      return [
        { ...claim, sub: fields.needId('agent_id'), ...fields.pick({ file: fields.text('agent_transcript_path') }) },
      ]
    case 'session.start':
      return [{ ...claim, ...fields.pick({ reason: fields.name('source') }) }]
    case 'session.end':
      return [{ ...claim, ...fields.pick({ reason: fields.name('reason') }) }]
    case 'compact.before':
    case 'compact.after':
      return [{ ...claim, ...fields.pick({ reason: fields.name('trigger') }) }]
    case 'settings.change':
      return [{ ...claim, ...fields.pick({ reason: fields.name('source'), file: fields.text('file_path') }) }]
    case 'turn.end':
      return [claim]
  }
}

function call(fields: Fields): Pick<Claim, 'tool' | 'callId' | 'args'> {
  return { tool: fields.needId('tool_name'), callId: fields.needId('tool_use_id'), args: fields.needRaw('tool_input') }
}

function launch(fields: Fields): Pick<Claim, 'background'> {
  const background = LAUNCHERS.get(fields.text('tool_name') ?? '')
  return background === undefined ? {} : { background: background(fields.object('tool_input')?.run_in_background) }
}

function launched(fields: Fields): Pick<Claim, 'background' | 'launched'> {
  const response = fields.object('tool_response')
  if (response === undefined || LAUNCHERS.get(fields.text('tool_name') ?? '') === undefined) return {}
  const inner = new Fields(response, new Map(), 'tool_response.')
  return {
    ...fields.pick({ launched: inner.id('agentId') }),
    background: response.status === 'async_launched' || response.isAsync === true,
  }
}

function outcome(fields: Fields): Pick<Claim, 'result' | 'durationMs'> {
  return fields.pick({ result: fields.raw('tool_response'), durationMs: fields.count('duration_ms') })
}

function failure(fields: Fields): Pick<Claim, 'result' | 'exitCode' | 'interrupted'> {
  const match = fields.text('tool_name') === 'Bash' ? EXIT_CODE.exec(fields.text('error') ?? '') : null
  return {
    ...fields.pick({ result: fields.raw('error'), exitCode: match === null ? undefined : Number(match[1]) }),
    interrupted: fields.flag('is_interrupt') ?? false,
  }
}

/** The calls of a batch, each with the exact text of its own values. */
function batch(fields: Fields): Fields[] {
  const raw = fields.needRaw('tool_calls')
  if (!raw.startsWith('[')) throw new Refusal('tool_calls', 'is not a list')
  return rawItems(raw).map((text, i) => {
    const parsed = parseStrict(text, { looseNumbers: true })
    const item = parsed.ok ? Fields.of(parsed.value, parsed.raw, `tool_calls[${i}].`) : null
    if (item === null) throw new Refusal(`tool_calls[${i}]`, 'is not a JSON object')
    return item
  })
}

function request(claims: Claim[], nowNs: string): ExportTraceServiceRequest {
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', AGENT)] },
        scopeSpans: [
          {
            scope: { name: `spanseal.hooks.${AGENT}`, version: VERSION },
            spans: claims.map((claim) => span(claim, nowNs)),
          },
        ],
      },
    ],
  }
}

/** Ids say nothing to the collector, which makes its own; here they only have to be the same for the same claim. */
function span(claim: Claim, nowNs: string): Span {
  const started = claim.durationMs === undefined ? nowNs : String(BigInt(nowNs) - BigInt(claim.durationMs) * NS_PER_MS)
  const { operation, name } = operationOf(claim)
  return {
    traceId: digest([AGENT, claim.session, claim.turn]).slice(0, 32),
    spanId: digest([AGENT, claim.session, claim.turn, claim.sub, claim.nativeEvent, claim.callId, nowNs]).slice(0, 16),
    name,
    kind: 1,
    startTimeUnixNano: started,
    // Not ended: the call waits for the answer.
    endTimeUnixNano: claim.event === 'tool.before' ? '0' : nowNs,
    attributes: [
      ...(operation === undefined ? [] : [attribute('gen_ai.operation.name', operation)]),
      ...claimAttributes(claim),
    ],
    ...(claim.event === 'tool.failed' ? { status: { code: 2 } } : {}),
  }
}

function operationOf(claim: Claim): { operation?: string; name: string } {
  if (claim.tool !== undefined && claim.event !== 'permission') {
    return { operation: 'execute_tool', name: `execute_tool ${claim.tool}` }
  }
  if (claim.event === 'prompt' || claim.event === 'turn.end') {
    return { operation: 'invoke_agent', name: `invoke_agent ${AGENT}` }
  }
  if (claim.event === 'subagent.start' || claim.event === 'subagent.end') {
    return { operation: 'invoke_agent', name: `invoke_agent ${claim.subType ?? 'subagent'}` }
  }
  return { name: claim.event }
}

function digest(parts: (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
