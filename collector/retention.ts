// Takes content out of the vault: what is older than the configuration keeps it, and what a person purges. The record that says so is
// on disk before anything is erased; what a crash interrupts is done again at the next start. Records stay: they hold no content.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import * as z from 'zod'
import type { VaultHead } from '../conventions/frame.ts'
import type { HomePaths } from '../conventions/home.ts'
import { LOG_START } from '../conventions/log.ts'
import type { AnyRecord, Body, Source } from '../conventions/record.ts'
import type { OpenLog } from './open-log.ts'
import { COLLECTOR } from './record/context.ts'
import { type Erased, eraseContent } from './store/erase.ts'
import { replaceFile } from './store/files.ts'

const DAY_MS = 86_400_000
/** Milliseconds between looks for content that is too old: each look writes a segment anew. */
const LOOK_MS = DAY_MS
/** Milliseconds after which what failed, as on a full disk, is tried again. */
const RETRY_MS = 3_600_000
/** Bytes of log read without a pause, to find the records of a run. */
const SLICE_BYTES = 1024 * 1024

const purgeSchema = z.discriminatedUnion('scope', [
  z.strictObject({ scope: z.literal('before'), before_seq: z.int().min(1) }),
  z.strictObject({ scope: z.literal('run'), run: z.string().regex(/^[0-9a-f]{32}$/) }),
  z.strictObject({ scope: z.literal('record'), seq: z.int().min(0) }),
])
/** What is to go. */
export type Purge = z.infer<typeof purgeSchema>
const pendingSchema = z.strictObject({ purge: purgeSchema, reason: z.enum(['retention', 'purge']) })
interface Part {
  purge: Purge
  /** As `eraseContent` takes them. */
  from: number
  to: number
  covers: (head: VaultHead) => boolean
}

type Pending = z.infer<typeof pendingSchema>

export type PurgeResult = { ok: true; record: number; erased: Erased } | { ok: false; message: string }

export interface RetentionOptions {
  home: HomePaths
  opened: OpenLog
  /** Milliseconds since 1970. */
  now: () => number
  /** Destinations that take content, and the record that each sends next. */
  contentCursors: () => Promise<{ name: string; next: number }[]>
  log: (line: string) => void
}

/** Reads what a person wants purged; says what is wrong with it otherwise. */
export function readPurge(value: unknown): { ok: true; purge: Purge } | { ok: false; message: string } {
  const parsed = purgeSchema.safeParse(value)
  return parsed.success
    ? { ok: true, purge: parsed.data }
    : { ok: false, message: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') }
}

export class Retention {
  private readonly options: RetentionOptions
  /** Milliseconds since 1970; when content is next looked at for its age. */
  private nextLook = 0
  /** Content of records before this one was looked for. */
  private expiredTo = 0
  private busy: Promise<unknown> = Promise.resolve()

  constructor(options: RetentionOptions) {
    this.options = options
  }

  /** Ends what a crash, or an erasure that failed, left. */
  resume(): Promise<void> {
    return this.alone(() => this.finish())
  }

  private async finish(): Promise<void> {
    const { erasure } = this.options.home
    if (!existsSync(erasure)) return
    const pending = readPending(erasure)
    if (pending === null) {
      this.options.log(`${erasure} can't be read: content that was being erased may still be there. Purge it again.`)
      rmSync(erasure)
      return
    }
    await this.erase(pending)
  }

  /** Takes away what is older than the retention in force. */
  async tick(): Promise<void> {
    const { opened, now } = this.options
    const days = opened.state.contentDays
    if (typeof days !== 'number' || now() < this.nextLook) return
    this.nextLook = now() + LOOK_MS
    const before_seq = Math.min(opened.state.firstSince(now() - days * DAY_MS), this.firstOpen())
    if (before_seq <= opened.state.expiredTo) return
    try {
      await this.alone(async () => {
        await this.finish()
        await this.erase({ purge: { scope: 'before', before_seq }, reason: 'retention' })
      })
    } catch (error) {
      this.nextLook = now() + RETRY_MS
      throw error
    }
  }

  /** Takes away what a person names. Runs that are open keep theirs: what is held of them is read again after a crash. */
  purge(purge: Purge): Promise<PurgeResult> {
    return this.alone(async () => {
      // What was begun is kept in one place: another one would take it.
      await this.finish()
      const refused = await this.refusal(purge)
      return refused === null ? this.erase({ purge, reason: 'purge' }) : { ok: false, message: refused }
    })
  }

  private async refusal(purge: Purge): Promise<string | null> {
    const { opened } = this.options
    const size = opened.writer.durableSize
    const last = purge.scope === 'before' ? purge.before_seq - 1 : purge.scope === 'record' ? purge.seq : 0
    if (last >= size) return `the log has no record ${last} yet`
    const open = [...opened.state.runs.values()].filter((run) => run.open)
    const run =
      purge.scope === 'run'
        ? purge.run
        : purge.scope === 'record'
          ? (await this.recordAt(purge.seq))?.run?.id
          : undefined
    const named = open.find(({ id, firstSeq }) => (purge.scope === 'before' ? firstSeq < purge.before_seq : id === run))
    return named === undefined
      ? null
      : `run ${named.id} is open from record ${named.firstSeq} on; end its session first`
  }

  /** First record of the oldest run that is open. */
  private firstOpen(): number {
    const { state, writer } = this.options.opened
    const open = [...state.runs.values()].filter((run) => run.open)
    return open.reduce((first, { firstSeq }) => Math.min(first, firstSeq), writer.durableSize)
  }

  private async erase({ purge, reason }: Pending): Promise<PurgeResult> {
    const { home, opened } = this.options
    const { writer } = opened
    replaceFile(home.erasure, JSON.stringify({ purge, reason }))
    const parts = await this.partsOf(purge)
    await this.tellUnsent(Math.max(...parts.map(({ to }) => to)))
    const source: Source = reason === 'purge' ? { kind: 'person' } : COLLECTOR
    const cuts = parts.map(({ purge: part, ...cut }) => {
      const body: Body<'content.expired'> = { ...part, reason }
      return { ...cut, record: writer.append({ type: 'content.expired', source, body }).record.log.seq }
    })
    await writer.durable()
    const end = await opened.sealVault()
    const erased: Erased = { values: 0, bytes: 0, damaged: [] }
    // What went by its age before need not be looked for again; a person who asks gets a look at all of it.
    const from = reason === 'retention' ? this.expiredTo : 0
    for (const cut of cuts) {
      const { values, bytes, damaged } = await eraseContent({
        dir: home.vault,
        end,
        ...cut,
        from: Math.max(from, cut.from),
      })
      erased.values += values
      erased.bytes += bytes
      erased.damaged = [...new Set([...erased.damaged, ...damaged])]
    }
    if (purge.scope === 'before') this.expiredTo = Math.max(this.expiredTo, purge.before_seq)
    rmSync(home.erasure)
    for (const segment of erased.damaged)
      this.options.log(`vault segment ${segment} is damaged: content behind the damage was not erased`)
    return { ok: true, record: cuts[0]?.record ?? 0, erased }
  }

  /** Each record that is to say something went, and what goes in its name. */
  private async partsOf(purge: Purge): Promise<Part[]> {
    if (purge.scope === 'before') {
      const { before_seq } = purge
      return [{ purge, from: 0, to: before_seq, covers: ({ seq }) => seq < before_seq }]
    }
    if (purge.scope === 'run') {
      const seqs = await this.recordsWith(({ run }) => run?.id === purge.run)
      // In rising order; of a run without content nothing goes.
      return [{ purge, from: 0, to: ([...seqs].at(-1) ?? -1) + 1, covers: ({ seq }) => seqs.has(seq) }]
    }
    // Records of one call share the salt of its arguments: where one stays, the others can be guessed.
    const named = await this.recordAt(purge.seq)
    const seqs =
      named?.call === undefined
        ? new Set([purge.seq])
        : await this.recordsWith(({ run, call }) => run?.id === named.run?.id && call?.id === named.call?.id)
    return [...seqs].map((seq) => ({
      purge: { scope: 'record', seq },
      from: seq,
      to: seq + 1,
      covers: (head) => head.seq === seq,
    }))
  }

  /** Numbers of the records with content that are meant. */
  private async recordsWith(meant: (record: AnyRecord) => boolean): Promise<Set<number>> {
    const seqs = new Set<number>()
    for await (const record of this.records()) if (record.commit && meant(record)) seqs.add(record.log.seq)
    return seqs
  }

  private async recordAt(seq: number): Promise<AnyRecord | undefined> {
    for await (const record of this.records()) if (record.log.seq === seq) return record
    return undefined
  }

  /** All records, without keeping hooks waiting. */
  private async *records(): AsyncGenerator<AnyRecord> {
    const { reader } = this.options.opened
    let at = LOG_START
    for (;;) {
      const entries = reader.read(at, SLICE_BYTES)
      for (const { record } of entries) yield record
      const last = entries.at(-1)
      if (last === undefined) return
      at = last.next
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  /** A destination that had not sent content of records before `end` yet never will: said before it is gone. */
  private async tellUnsent(end: number): Promise<void> {
    const { opened, contentCursors } = this.options
    for (const { name, next } of await contentCursors()) {
      if (next >= end) continue
      const body = { kind: 'content_not_forwarded', count: end - next, destination: name } as const
      opened.writer.append({ type: 'gap', source: COLLECTOR, body })
    }
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.busy.then(work, work)
    this.busy = done.catch(() => {})
    return done
  }
}

function readPending(path: string): Pending | null {
  try {
    return pendingSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}
