// Why a body is refused: thrown inside the decoders, turned into a value at their door (decode.ts).

/** Messages (protobuf) or objects, lists and commas (JSON). Each costs memory; the densest real bodies hold 80,000 in 1 MB. */
export const MAX_VALUES = 4_000_000

/** Levels of messages, as other protobuf readers have it. About 47 nested lists or 31 nested maps in an attribute. */
export const MAX_MESSAGE_DEPTH = 100

/** Steps of a path that are shown at each end; a value nested 100 deep has a path nobody reads. */
const SHOWN_STEPS = 6

type Step = string | number

export class Refused extends Error {
  /** True when a limit was passed rather than a rule broken. */
  readonly tooLarge: boolean
  private readonly path: Step[] = []

  constructor(message: string, tooLarge = false) {
    super(message)
    this.tooLarge = tooLarge
  }

  /** Adds the next outer step of the path to what was refused: a field's name or a place in a list. */
  within(...steps: Step[]): this {
    this.path.unshift(...steps)
    return this
  }

  /** Such as `resourceSpans[0].scopeSpans[0].spans[2].traceId`; empty for the whole body. */
  get field(): string {
    const { path } = this
    const shown =
      path.length > 2 * SHOWN_STEPS ? [...path.slice(0, SHOWN_STEPS), '...', ...path.slice(-SHOWN_STEPS)] : path
    return shown
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .replace(/^\./, '')
  }
}
