// What the model said: new lines of the agent's own transcript, read when a hook fires.
// The file is the agent's word; nothing in it decides anything, and a path that is no regular file is not opened for long.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Claim } from '../../conventions/claim.ts'
import { idText, nameText } from '../../conventions/names.ts'
import type { Body } from '../../conventions/record.ts'
import { asideRef, COLLECTOR, type Context, placeOf, runRef, textContents, turnIdOf } from './context.ts'
import { type Run, spanRef } from './state.ts'
import type { Usage } from './usage.ts'

/** Bytes read at one hook, and parts of answers recorded: a long transcript never holds up a tool call; the rest follows later. */
const MAX_READ_BYTES = 1024 * 1024
const MAX_PARTS_BEFORE_CALL = 64
const MAX_PARTS = 512

/** A part of a model's answer, as an agent's adapter reads it from one transcript line. */
export interface Said {
  kind: 'reasoning' | 'text' | 'tool_use'
  /** Id of the model's message; several parts share it. */
  message: string
  /** Id of this part. */
  uuid: string
  text: string
  model?: string
  callId?: string
  tool?: string
  /** Of the whole message, as far as the line knows. */
  usage?: Usage
  /** The session it was said in, where the line names one. */
  session?: string
}

/** Reads one line of an agent's transcript. Never throws. */
export type LineReader = (line: string) => Said[]

/** Records what the transcript gained since the last hook. `path`: the main transcript, or the sub-agent's own. */
export function readTranscript(ctx: Context, run: Run, claim: Claim, path: string, readLine: LineReader): void {
  const sub = claim.sub === undefined ? undefined : run.subs.get(claim.sub)
  if (claim.sub !== undefined && sub === undefined) return
  const reader = sub ?? run
  const read = readNew(path, reader.offset)
  if (read.kind === 'absent') {
    markAbsent(ctx, run, claim)
    return
  }
  if (read.kind === 'truncated') {
    mark(ctx, run, claim, 'truncated', read.size)
    return
  }
  const most = claim.event === 'tool.before' ? MAX_PARTS_BEFORE_CALL : MAX_PARTS
  let offset = reader.offset
  let parts = 0
  for (const line of read.lines) {
    if (parts >= most) break
    offset += line.bytes
    // The offset keeps apart what an agent wrote twice under one id.
    for (const [i, said] of readLine(line.text).slice(0, MAX_PARTS).entries()) {
      record(ctx, run, claim, said, `${said.uuid}#${i}@${offset}`, offset)
      parts++
    }
  }
  // Lines that say nothing leave no record; they need not be read again while this collector runs.
  reader.offset = Math.max(reader.offset, offset)
}

/** A resumed session's history was said before anyone watched: reading begins at the end of what is there. */
export function skipHistory(ctx: Context, run: Run, claim: Claim, path: string): void {
  const read = readNew(path, Number.MAX_SAFE_INTEGER)
  if (read.kind === 'truncated') mark(ctx, run, claim, 'skipped', read.size)
}

type Read =
  | { kind: 'absent' }
  | { kind: 'truncated'; size: number }
  | { kind: 'lines'; lines: { text: string; bytes: number }[] }

function readNew(path: string, offset: number): Read {
  let fd: number
  try {
    // Without O_NONBLOCK a named pipe in the transcript's place would hang the collector.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return { kind: 'absent' }
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return { kind: 'absent' }
    if (stat.size < offset) return { kind: 'truncated', size: stat.size }
    const chunk = Buffer.alloc(Math.min(stat.size - offset, MAX_READ_BYTES))
    const got = readSync(fd, chunk, 0, chunk.length, offset)
    return { kind: 'lines', lines: wholeLines(chunk.subarray(0, got)) }
  } finally {
    closeSync(fd)
  }
}

/** Lines that have ended; a half-written last one waits. A line longer than one read is skipped, or it would block for ever. */
function wholeLines(chunk: Buffer): { text: string; bytes: number }[] {
  const lines: { text: string; bytes: number }[] = []
  let from = 0
  for (;;) {
    const end = chunk.indexOf(0x0a, from)
    if (end === -1) break
    lines.push({ text: chunk.toString('utf8', from, end), bytes: end + 1 - from })
    from = end + 1
  }
  if (from === 0 && chunk.length === MAX_READ_BYTES) lines.push({ text: '', bytes: chunk.length })
  return lines
}

function record(ctx: Context, run: Run, claim: Claim, said: Said, spanKey: string, offset: number): void {
  const turn = turnIdOf(run, claim)
  const place = placeOf(ctx, run, turn, claim.sub)
  // The root of a turn that is over has gone; what comes late does not open the turn again.
  const late = claim.sub === undefined && run.turns.get(turn)?.open === false
  const { model, tool, callId, session } = said
  const message = isId(said.message) ? said.message : 'unnamed'
  // What a fork copied was used in the session it comes from.
  const copied = session !== undefined && session !== run.session
  const usage = said.usage === undefined || copied ? undefined : ctx.state.used.fresh(run.id, message, said.usage)
  ctx.append({
    type: 'model.message',
    run: runRef(run),
    source: { kind: 'transcript' },
    trace: late
      ? asideRef(ctx, run, turn, 'chat')
      : spanRef(place.trace, ctx.ids.span(place.trace, 'chat', spanKey), place.parent),
    ...(isId(callId) ? { call: { id: callId, attempt: 1 } } : {}),
    body: {
      ...place.body,
      kind: said.kind,
      message,
      ...(isName(model) ? { model } : {}),
      ...(isName(tool) ? { tool } : {}),
      offset,
      ...(usage === undefined ? {} : { usage }),
    },
    contents: textContents('text', said.text),
  })
}

function isName(value: string | undefined): value is string {
  return value !== undefined && nameText.safeParse(value).success
}

function isId(value: string | undefined): value is string {
  return value !== undefined && idText.safeParse(value).success
}

/** A session whose transcript is missing when a tool is about to run says nothing of the model: said once. */
function markAbsent(ctx: Context, run: Run, claim: Claim): void {
  if (run.transcriptGap || claim.event !== 'tool.before' || claim.sub !== undefined) return
  const turn = turnIdOf(run, claim)
  mark(ctx, run, claim, 'absent', run.offset)
  ctx.append({
    type: 'gap',
    run: runRef(run),
    source: COLLECTOR,
    trace: asideRef(ctx, run, turn, 'gap'),
    body: { turn, kind: 'no_transcript', count: 1 },
  })
}

function mark(ctx: Context, run: Run, claim: Claim, state: Body<'transcript.mark'>['state'], offset: number): void {
  ctx.append({
    type: 'transcript.mark',
    run: runRef(run),
    source: { kind: 'transcript' },
    body: { turn: turnIdOf(run, claim), ...(claim.sub === undefined ? {} : { sub: claim.sub }), state, offset },
  })
}
