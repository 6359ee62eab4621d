// The gate in force: can be swapped for another while calls come in, and is timed.
import type { Claim } from '../conventions/claim.ts'
import type { Stated } from '../conventions/constraint.ts'
import type { Gate } from './gate-wiring.ts'
import type { Run } from './record/state.ts'

export class LiveGate implements Gate {
  #current: Gate
  readonly #onDecided: (ms: number) => void

  /** `onDecided`: hears how many milliseconds each decision took. */
  constructor(first: Gate, onDecided: (ms: number) => void) {
    this.#current = first
    this.#onDecided = onDecided
  }

  get policyHash(): string {
    return this.#current.policyHash
  }

  get origin(): Gate['origin'] {
    return this.#current.origin
  }

  get rules(): number {
    return this.#current.rules
  }

  decide(run: Run, claim: Claim): ReturnType<Gate['decide']> {
    const began = performance.now()
    const verdict = this.#current.decide(run, claim)
    this.#onDecided(performance.now() - began)
    return verdict
  }

  stated(prompt: string): Stated {
    return this.#current.stated(prompt)
  }

  /** The next call is decided by `next`. */
  swap(next: Gate): void {
    this.#current = next
  }
}
