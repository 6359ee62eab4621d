// Third-party telemetry (T3): one record per accepted request, committing to the received body; the body goes to the vault once.
import type { Signal } from '../../conventions/import.ts'
import { MAX_SESSIONS_IN_BODY } from '../../conventions/limits.ts'
import { idText } from '../../conventions/names.ts'
import type { Body, Content } from '../../conventions/record.ts'
import { COLLECTOR, type Context } from './context.ts'

/** Milliseconds between two gap records about attributes a sender had no right to set. */
const SPOOF_GAP_MS = 60_000
/** Milliseconds without an import after which a session is closed; what comes later is late, and is recorded as such. */
const IMPORT_IDLE_MS = 30 * 60 * 1000

export interface Import extends Omit<Body<'spans.imported'>, 'sessions' | 'session_ids'> {
  signal: Signal
  /** Ids of sessions as the sender has them. */
  sessions: readonly string[]
  /** What `bodyContents` (body.ts) made of the body. */
  contents: Content[]
}

const TYPES = { traces: 'spans.imported', logs: 'logs.imported', metrics: 'metrics.imported' } as const
const SOURCE = { kind: 'otlp' } as const

/** Records an accepted request. `now`: milliseconds since 1970. */
export function importItems(ctx: Context, { signal, contents, sessions, ...facts }: Import, now: number): void {
  const ids = sessions.slice(0, MAX_SESSIONS_IN_BODY).map((name) => openSession(ctx, name, facts.count))
  ctx.append({
    type: TYPES[signal],
    source: SOURCE,
    body: { ...facts, sessions: sessions.length, ...(ids.length > 0 && { session_ids: ids }) },
    contents,
  })
  if (facts.spoofed === 0 || now - ctx.state.lastSpoofGap < SPOOF_GAP_MS) return
  ctx.append({ type: 'gap', source: COLLECTOR, body: { kind: 'spoofed_attributes', count: facts.spoofed } })
}

/** The id of a session, which is open from here on. Says so when it had been closed. */
function openSession(ctx: Context, name: string, count: number): string {
  const session = ctx.ids.importedSession(name)
  const known = ctx.state.imports.get(session)
  if (known?.open) return session
  if (known !== undefined) {
    ctx.append({ type: 'gap', source: COLLECTOR, body: { kind: 'late_activity', count, session } })
  }
  ctx.append({
    type: 'session.imported',
    source: SOURCE,
    body: { session, part: known === undefined ? 0 : known.part + 1, ...(idText.safeParse(name).success && { name }) },
  })
  return session
}

/** Closes imported sessions that have been silent. `now`: collector time, milliseconds. */
export function closeIdleImports(ctx: Context, now: number): void {
  for (const { id: session, part, requests, lastTime, open } of ctx.state.imports.values()) {
    if (!open || now - lastTime <= IMPORT_IDLE_MS) continue
    ctx.append({ type: 'session.closed', source: COLLECTOR, body: { session, part, requests, reason: 'idle' } })
  }
}
