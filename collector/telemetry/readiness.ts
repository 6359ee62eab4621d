// Whether a call that comes now could be decided and made durable. Found out by doing it: what was appended must get to the disk, and
// a new file must still fit on it. Says no, with reasons, when it can't be known.
import { randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'

/** Milliseconds within which the disk must have taken everything: the five seconds after which a hook gives up. */
const DURABLE_MS = 5_000
/** Milliseconds for which an answer is good, so that no prober can keep the disk busy. */
const GOOD_FOR_MS = 1_000
/** Bytes of the file that is written to try: several records with their content. */
const PROBE_BYTES = 64 * 1024

export interface Ready {
  ready: boolean
  /** Why not; for people, without paths of content. */
  reasons: string[]
}

export interface ReadinessOptions {
  /** Resolves when everything recorded so far is on disk; rejects when it can't be. */
  durable: () => Promise<void>
  /** File that is written and removed again, on the disk of the log. */
  probe: string
  /** Socket that hooks ask at. */
  hookSocket: () => string | undefined
  /** True when the collector is going away. */
  stopping: () => boolean
  /** For tests. */
  durableMs?: number
}

export class Readiness {
  readonly #options: ReadinessOptions
  #answer: Promise<Ready> | undefined
  #until = 0

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** The answer of at most a second ago, or a new one. Never rejects. */
  check(): Promise<Ready> {
    if (this.#options.stopping()) return Promise.resolve({ ready: false, reasons: ['the collector is stopping'] })
    if (this.#answer === undefined || performance.now() > this.#until) {
      this.#answer = this.#find().then((ready) => {
        this.#until = performance.now() + GOOD_FOR_MS
        return ready
      })
      // While it is being found out, everybody waits for the same answer.
      this.#until = Number.POSITIVE_INFINITY
    }
    return this.#answer
  }

  async #find(): Promise<Ready> {
    const { durable, durableMs = DURABLE_MS } = this.#options
    const reasons = (
      await Promise.all([
        problem('the log can’t be written', within(durableMs, durable)),
        problem(
          'the disk takes no new file',
          within(durableMs, () => this.#write()),
        ),
        problem('hooks can’t reach the collector', this.#reachable()),
      ])
    ).filter((reason) => reason !== null)
    return { ready: reasons.length === 0, reasons }
  }

  async #write(): Promise<void> {
    const { probe } = this.#options
    const file = await open(probe, 'w', 0o600)
    try {
      // Not zeros: a disk that compresses would have room for those for ever.
      await file.writeFile(randomBytes(PROBE_BYTES))
      await file.datasync()
    } finally {
      await file.close()
      await unlink(probe)
    }
  }

  async #reachable(): Promise<void> {
    const path = this.#options.hookSocket()
    if (path === undefined) throw new Error('its socket is not open')
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSocket()) throw new Error('its socket is gone')
  }
}

async function problem(what: string, tried: Promise<void>): Promise<string | null> {
  try {
    await tried
    return null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    return `${what}: ${code ?? (error instanceof Error ? error.message : 'unknown')}`
  }
}

/** Rejects when it takes longer. */
async function within(ms: number, act: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms / 1000} s`)), ms)
  })
  try {
    await Promise.race([act(), late])
  } finally {
    clearTimeout(timer)
  }
}
