// The metrics of a collector: instruments that are counted up, values that are looked up when somebody asks, collected into one list.
// An own registry, not the OpenTelemetry SDK: label values are bounded, counting allocates nothing once a series exists, a counter may
// begin with the log instead of the process, and a hook's collector does not load an SDK at each start.
import { METRICS } from '../../conventions/metrics.ts'
import { type Label, Series } from './series.ts'

/** Series of a counter: 200 tools of two agents with their decisions fit. */
const MAX_COUNTER_SERIES = 1_000
/** Series of a histogram, each with a value for every bucket. */
const MAX_HISTOGRAM_SERIES = 100

export type MetricName = keyof typeof METRICS
type NameOf<I extends string> = {
  [N in MetricName]: (typeof METRICS)[N]['instrument'] extends I ? N : never
}[MetricName]
export type CounterName = NameOf<'counter'>
export type HistogramName = NameOf<'histogram'>

/** Upper bounds of the buckets in seconds; the last bucket has none. */
const BOUNDS: Readonly<Record<HistogramName, readonly number[]>> = {
  // From a decision without a shell command to one with 64 KiB of it.
  'spanseal.gate.duration': [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1],
  // Up to the five seconds after which a hook gives up.
  'spanseal.hook.duration': [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  'spanseal.log.sync.duration': [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  // Up to the nine minutes a call is held.
  'spanseal.approval.wait': [1, 2.5, 5, 10, 30, 60, 120, 300, 540],
  'spanseal.turn.duration': [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
}

/** Counted in whole nano-USD, so that the sum is exact; shown in USD. */
const SCALE: Partial<Record<MetricName, number>> = { 'spanseal.cost.usd': 1e-9 }

/** Only ever grows. */
export class Counter {
  readonly series: Series<{ value: number }>

  constructor(labels: readonly Label[]) {
    this.series = new Series(labels, MAX_COUNTER_SERIES, () => ({ value: 0 }))
    if (labels.length === 0) this.series.find()
  }

  /** Label values in the order of the registry; an empty one is an absent label. */
  add(by: number, a?: string, b?: string, c?: string, d?: string): void {
    this.series.find(a, b, c, d).value += by
  }
}

export interface Distribution {
  bounds: readonly number[]
  /** One more than bounds: the last counts what is above them. Not cumulative. */
  counts: number[]
  sum: number
  count: number
}

export class Histogram {
  readonly series: Series<Distribution>

  constructor(labels: readonly Label[], bounds: readonly number[]) {
    this.series = new Series(labels, MAX_HISTOGRAM_SERIES, () => ({
      bounds,
      counts: new Array(bounds.length + 1).fill(0),
      sum: 0,
      count: 0,
    }))
    if (labels.length === 0) this.series.find()
  }

  /** Seconds. */
  observe(seconds: number, a?: string, b?: string): void {
    const into = this.series.find(a, b)
    let i = 0
    while (i < into.bounds.length && seconds > (into.bounds[i] ?? 0)) i++
    into.counts[i] = (into.counts[i] ?? 0) + 1
    into.sum += seconds
    into.count++
  }
}

/** A value that is looked up when somebody asks. */
export type Looked = readonly [name: MetricName, value: number, ...labels: string[]]

/** One series of a collected metric; labels in the order of the registry, an empty one is absent. */
export type Point = { labels: readonly string[] } & ({ value: number } | { distribution: Distribution })

export interface Family {
  name: MetricName
  points: Point[]
}

export class Metrics {
  readonly #counters = new Map<MetricName, Counter>()
  readonly #histograms = new Map<MetricName, Histogram>()

  constructor() {
    for (const [name, { instrument, labels }] of Object.entries(METRICS) as [MetricName, Definition][]) {
      if (instrument === 'histogram') this.#histograms.set(name, new Histogram(labels, BOUNDS[name as HistogramName]))
    }
  }

  counter(name: CounterName): Counter {
    const known = this.#counters.get(name)
    if (known !== undefined) return known
    const made = new Counter(METRICS[name].labels)
    this.#counters.set(name, made)
    return made
  }

  histogram(name: HistogramName): Histogram {
    const found = this.#histograms.get(name)
    if (found === undefined) throw new Error(`${name} is no histogram`)
    return found
  }

  /** Every metric that has a value, in the order of the registry. */
  collect(looked: Iterable<Looked>): Family[] {
    const families = new Map<MetricName, Point[]>()
    const into = (name: MetricName) => {
      const points = families.get(name) ?? []
      families.set(name, points)
      return points
    }
    for (const [name, { series }] of this.#counters) {
      const scale = SCALE[name]
      for (const { values, point } of series.all())
        into(name).push({ labels: values, value: scale === undefined ? point.value : point.value * scale })
      if (series.folded > 0) into('spanseal.metrics.folded').push({ labels: [name], value: series.folded })
    }
    for (const [name, { series }] of this.#histograms) {
      for (const { values, point } of series.all()) into(name).push({ labels: values, distribution: point })
      if (series.folded > 0) into('spanseal.metrics.folded').push({ labels: [name], value: series.folded })
    }
    for (const [name, value, ...labels] of looked) into(name).push({ labels, value })
    return (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
      const points = families.get(name)
      return points === undefined ? [] : [{ name, points }]
    })
  }
}

/** What the registry says of a metric. */
export interface Definition {
  instrument: 'counter' | 'gauge' | 'histogram'
  unit: string
  since: 'log' | 'destination' | 'process'
  labels: readonly Label[]
  brief: string
}
