// Configuration and policy: read together, checked whole, put in force together or not at all.
import type { HomePaths } from '../conventions/home.ts'
import { canonical } from '../conventions/jcs.ts'
import type { Json } from '../conventions/strict-json.ts'
import { addressProblems } from './addresses.ts'
import { type Config, readConfig } from './config.ts'
import { type Gate, readGate } from './gate-wiring.ts'
import type { Ids } from './record/ids.ts'

export type Files = { ok: true; config: Config; gate: Gate } | { ok: false; errors: string[] }

/** Reads config.yaml and policy.yaml. All errors of both, each with its file and field. Nothing is changed by it. */
export function readFiles(home: HomePaths): Files {
  const read = tried('config.yaml', () => readConfig(home.config))
  const config = read.ok ? read.config : undefined
  const gate = tried('policy.yaml', () => readGate(home, config?.user_home))
  if (read.ok && gate.ok) return { ok: true, config: read.config, gate: gate.gate }
  const errorsOf = (file: string, result: { ok: boolean; errors?: string[] }) =>
    (result.errors ?? []).map((error) => `${file}: ${error}`)
  return { ok: false, errors: [...errorsOf('config.yaml', read), ...errorsOf('policy.yaml', gate)] }
}

/** A file that can't be read is an error like any other. */
function tried<T>(name: string, read: () => T): T | { ok: false; errors: string[] } {
  try {
    return read()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { ok: false, errors: [`can't be read (${code}); ${name} must be a file that this user may read`] }
  }
}

/** Hash of a configuration, keyed with the home's secret: it may hold headers that somebody could guess. */
export function configHash(config: Config, ids: Ids): string {
  return ids.hashOf(canonical(JSON.parse(JSON.stringify(config)) as Json))
}

/** Fields that only a start can change, as the addresses, paths and sums they stand for are in use. */
const START_ONLY = ['otlp', 'fast', 'prices', 'user_home'] as const

export interface ReloadResult {
  outcome: 'changed' | 'unchanged' | 'refused'
  /** What changed. */
  changed: ('config' | 'policy')[]
  /** Why nothing did. */
  errors: string[]
  [key: string]: Json
}

export interface ReloaderOptions {
  home: HomePaths
  ids: Ids
  /** In force when it begins. */
  config: Config
  gate: Gate
  /** Address of the OTLP port. */
  otlp: () => string | null
  /**
   * Makes ready for a change, throwing TypeError where that is impossible. The function it returns records the change, puts it in
   * force, and resolves when the record is on disk.
   */
  prepare: (next: { config: Config; gate: Gate; configHash: string }) => () => Promise<void>
  onResult: (result: ReloadResult) => void
}

export class Reloader {
  readonly #options: ReloaderOptions
  #config: Config
  #policyHash: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#config = options.config
    this.#policyHash = options.gate.policyHash
  }

  /** Reads the files again and puts them in force; with any error the old ones stay. One reload at a time. */
  reload(): Promise<ReloadResult> {
    const result = this.#last.then(() => this.#reload())
    this.#last = result.catch(() => {})
    return result
  }

  async #reload(): Promise<ReloadResult> {
    const result = await this.#change()
    this.#options.onResult(result)
    return result
  }

  async #change(): Promise<ReloadResult> {
    const { home, ids, otlp, prepare } = this.#options
    const files = readFiles(home)
    if (!files.ok) return refused(files.errors)
    const { config, gate } = files
    const errors = [...this.#startOnly(config), ...addressProblems(config, otlp())].map(
      (text) => `config.yaml: ${text}`,
    )
    if (errors.length > 0) return refused(errors)
    const hash = configHash(config, ids)
    const changed: ReloadResult['changed'] = []
    if (hash !== configHash(this.#config, ids)) changed.push('config')
    if (gate.policyHash !== this.#policyHash) changed.push('policy')
    if (changed.length === 0) return { outcome: 'unchanged', changed, errors }
    let commit: () => Promise<void>
    try {
      commit = prepare({ config, gate, configHash: hash })
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return refused([`config.yaml: ${error.message}`])
    }
    this.#config = config
    this.#policyHash = gate.policyHash
    await commit()
    return { outcome: 'changed', changed, errors }
  }

  #startOnly(next: Config): string[] {
    return START_ONLY.filter((field) => JSON.stringify(next[field]) !== JSON.stringify(this.#config[field])).map(
      (field) => `${field}: can't change while the collector runs. Run: spanseal down, then: spanseal up`,
    )
  }
}

function refused(errors: string[]): ReloadResult {
  return { outcome: 'refused', changed: [], errors }
}
