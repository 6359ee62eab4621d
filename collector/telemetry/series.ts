// The series of one metric, found by their label values. Their number is bounded whatever the values are: names come from outside.

/** Values of one open label before everything new is counted under `other`. */
export const MAX_LABEL_VALUES = 200
/** What a value over the bound is counted under. */
export const OTHER = 'other'

/** A label and whether its values are open: given by somebody else, so without an end. */
export type Label = readonly [name: string, open: boolean]

type Level<T> = Map<string, T>

/** Finding a series that exists makes no garbage: one look-up a label, no key is built. At most four labels. */
export class Series<P> {
  readonly #root: Level<Level<Level<Level<P>>>> = new Map()
  readonly #labels: readonly Label[]
  readonly #maxSeries: number
  readonly #make: () => P
  readonly #known: readonly Set<string>[]
  readonly #all: { values: readonly string[]; point: P }[] = []
  /** How often something was counted under `other` for want of room. */
  folded = 0

  /** `maxSeries`: combinations of values; after them every open label of a new one becomes `other`. */
  constructor(labels: readonly Label[], maxSeries: number, make: () => P) {
    if (labels.length > 4) throw new RangeError('a metric has at most four labels')
    this.#labels = labels
    this.#maxSeries = maxSeries
    this.#make = make
    this.#known = labels.map(() => new Set())
  }

  /** The series of these label values, in the order of the labels; an empty value is an absent label. */
  find(a = '', b = '', c = '', d = ''): P {
    return this.#get(a, b, c, d) ?? this.#bounded(a, b, c, d)
  }

  all(): readonly { values: readonly string[]; point: P }[] {
    return this.#all
  }

  #get(a: string, b: string, c: string, d: string): P | undefined {
    return this.#root.get(a)?.get(b)?.get(c)?.get(d)
  }

  #bounded(...given: [string, string, string, string]): P {
    let values = given.map((value, i) => this.#boundedValue(value, i)) as typeof given
    if (this.#get(...values) === undefined && this.#all.length >= this.#maxSeries)
      values = values.map((value, i) => (this.#isOpen(i) && value !== '' ? OTHER : value)) as typeof given
    if (values.some((value, i) => value !== given[i])) this.folded++
    return this.#get(...values) ?? this.#add(...values)
  }

  #boundedValue(value: string, i: number): string {
    const known = this.#known[i]
    if (known === undefined || !this.#isOpen(i) || value === '' || value === OTHER || known.has(value)) return value
    if (known.size >= MAX_LABEL_VALUES) return OTHER
    known.add(value)
    return value
  }

  #isOpen(i: number): boolean {
    return this.#labels[i]?.[1] === true
  }

  #add(a: string, b: string, c: string, d: string): P {
    const point = this.#make()
    below(below(below(this.#root, a), b), c).set(d, point)
    this.#all.push({ values: [a, b, c, d].slice(0, this.#labels.length), point })
    return point
  }
}

function below<T>(level: Level<Level<T>>, value: string): Level<T> {
  const found = level.get(value) ?? new Map<string, T>()
  level.set(value, found)
  return found
}
