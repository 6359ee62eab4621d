// Calls that were decided and have no result yet, as one fold sees them.
import { type Call, unfinishedSpan } from './call-spans.ts'
import type { SpanParts } from './span-builder.ts'

export class OpenCalls {
  /** Calls whose execute_tool span is still to be sent, by its id. */
  readonly #open = new Map<string, Call>()
  /** Calls that went out as unfinished; a result may still come, in another span, and wants to know the decision. By its leaf. */
  readonly #left = new Map<string, Call>()

  /** The same question asked again while the call is open changes nothing of it. */
  add(call: Call): void {
    if (!this.#open.has(call.spanId)) this.#open.set(call.spanId, call)
  }

  /** Takes out the call that a result is of. `decision`: leaf of its decision. */
  take(spanId: string, decision: string | null): Call | undefined {
    const call = this.#open.get(spanId) ?? (decision === null ? undefined : this.#left.get(decision))
    if (call !== undefined) this.remove(call)
    return call
  }

  remove(call: Call): void {
    this.#open.delete(call.spanId)
    this.#left.delete(call.leaf)
  }

  find(which: (call: Call) => boolean): Call | undefined {
    for (const calls of [this.#open, this.#left]) {
      for (const call of calls.values()) if (which(call)) return call
    }
    return undefined
  }

  /** Spans, as unfinished, of the open calls that `which` picks. They are kept for a late result. */
  leave(which: (call: Call) => boolean, end: number): SpanParts[] {
    const left = [...this.#open.values()].filter(which)
    for (const call of left) {
      this.#open.delete(call.spanId)
      this.#left.set(call.leaf, call)
    }
    return left.map((call) => unfinishedSpan(call, end))
  }

  /** Ends a run part: spans of its calls that are still open, as unfinished, and nothing of it is kept. */
  end(runKey: string, end: number): SpanParts[] {
    const spans = this.leave((call) => call.runKey === runKey, end)
    for (const [leaf, call] of this.#left) if (call.runKey === runKey) this.#left.delete(leaf)
    return spans
  }
}
