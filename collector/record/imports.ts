// Third-party spans (T3): one record per accepted request, committing to the received body; the body goes to the vault once.
import type { Body, Content } from '../../conventions/record.ts'
import { COLLECTOR, type Context } from './context.ts'
import { maskBytes } from './redact.ts'

/** Milliseconds between two gap records about attributes a sender had no right to set. */
const SPOOF_GAP_MS = 60_000

export interface Import extends Body<'spans.imported'> {
  /** The request's body after decompression. */
  body: Uint8Array
}

/** Records an accepted request. `now`: milliseconds since 1970. */
export function importSpans(ctx: Context, { body, ...facts }: Import, now: number): void {
  const masked = maskBytes(body)
  const contents: Content[] = [{ name: 'body', bytes: body, keep: masked.found === 0 }]
  if (masked.found > 0) contents.push({ name: 'body.redacted', bytes: masked.bytes, keep: true })
  ctx.append({ type: 'spans.imported', source: { kind: 'otlp' }, body: facts, contents })
  if (facts.spoofed === 0 || now - ctx.state.lastSpoofGap < SPOOF_GAP_MS) return
  ctx.append({ type: 'gap', source: COLLECTOR, body: { kind: 'spoofed_attributes', count: facts.spoofed } })
}
