// Held calls: hooks that wait for a person. What they wait for is in the log; this only knows who is waiting right now.
import type { HookAnswer } from '../conventions/wire.ts'

/** Milliseconds without anyone waiting after which a hold ends as abandoned: the hook was killed or lost its connection. */
const ABANDON_MS = 10_000

interface Hold {
  /** Who asked, and may wait for the answer. */
  asker: string
  waiters: Set<(answer: HookAnswer) => void>
  answer: HookAnswer | undefined
  expiry: NodeJS.Timeout
  abandon: NodeJS.Timeout | undefined
}

export class Holds {
  private readonly holds = new Map<string, Hold>()
  private readonly onLapse: (id: string, reason: 'timeout' | 'abandoned') => void

  /** `onLapse`: nobody answered in time, or nobody waits any more. */
  constructor(onLapse: (id: string, reason: 'timeout' | 'abandoned') => void) {
    this.onLapse = onLapse
  }

  /** Begins to hold; `ms`: how long. */
  open(id: string, asker: string, ms: number): void {
    const expiry = setTimeout(() => this.onLapse(id, 'timeout'), ms)
    this.holds.set(id, { asker, waiters: new Set(), answer: undefined, expiry, abandon: this.abandonSoon(id) })
  }

  /** True while the hold is open, and for a while after its end, for who asked: an answer lets somebody's call run. */
  isOf(id: string, asker: string): boolean {
    return this.holds.get(id)?.asker === asker
  }

  /** Resolves with the final answer; null when there is no such hold. Ends early, without an answer, when `gone` aborts. */
  wait(id: string, gone: AbortSignal): Promise<HookAnswer | null> {
    const hold = this.holds.get(id)
    if (hold === undefined || gone.aborted) return Promise.resolve(null)
    if (hold.answer !== undefined) return Promise.resolve(hold.answer)
    clearTimeout(hold.abandon)
    return new Promise((resolve) => {
      hold.waiters.add(resolve)
      gone.addEventListener('abort', () => {
        hold.waiters.delete(resolve)
        resolve(null)
        if (hold.waiters.size === 0 && hold.answer === undefined) hold.abandon = this.abandonSoon(id)
      })
    })
  }

  /** True while the hold is open, and for a while after its end. */
  has(id: string): boolean {
    return this.holds.has(id)
  }

  /** Whether somebody waits for this hold now. */
  isWaited(id: string): boolean {
    return (this.holds.get(id)?.waiters.size ?? 0) > 0
  }

  /** Gives the final answer to all who wait, and to who asks again within the next while. */
  end(id: string, answer: HookAnswer): void {
    const hold = this.holds.get(id)
    if (hold === undefined || hold.answer !== undefined) return
    clearTimeout(hold.expiry)
    clearTimeout(hold.abandon)
    hold.answer = answer
    for (const resolve of hold.waiters) resolve(answer)
    hold.waiters.clear()
    hold.expiry = setTimeout(() => this.holds.delete(id), ABANDON_MS)
    hold.expiry.unref()
  }

  /** Ids of holds without an answer. */
  pending(): string[] {
    return [...this.holds].filter(([, { answer }]) => answer === undefined).map(([id]) => id)
  }

  private abandonSoon(id: string): NodeJS.Timeout {
    return setTimeout(() => this.onLapse(id, 'abandoned'), ABANDON_MS)
  }
}
