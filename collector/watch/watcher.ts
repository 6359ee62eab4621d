// Watches the folders in which agents keep their sessions: a transcript that gains tool calls while no hook speaks for its session is a
// session without a gate. Says so late rather than wrongly; what a session says is counted, not kept.
import { lstat } from 'node:fs/promises'
import type { Adapter, SessionFolder } from '../../hooks/adapter.ts'
import type { UngatedCalls, WatchedSession } from '../record/ungated.ts'
import { type Place, readTail } from './tail.ts'
import { findTranscripts } from './transcripts.ts'

/** Milliseconds between looks at the transcripts that changed last. */
export const POLL_MS = 2_000
/** Looks after which all folders are searched again for new transcripts. */
const POLLS_PER_SEARCH = 5
/** Searches after which every transcript is looked at: an old session may go on. Asking for thousands of sizes costs the most. */
const SEARCHES_PER_FULL_LOOK = 6
/** Transcripts that every look looks at: those that changed last. */
export const MAX_HOT = 32
/** Transcripts whose size is asked for at the same time: of the four threads Node has for files, some stay free. */
const PARALLEL = 2
/** Milliseconds a session's hooks get to speak, from when its first call was seen: they may have to start or wait. */
export const GRACE_MS = 10_000
/** Milliseconds between two reports of one session. */
export const REPORT_MS = 60_000

/** An agent whose hooks are installed, and where its sessions lie. */
export interface Watched {
  adapter: Pick<Adapter, 'agent' | 'readTranscriptLine' | 'sessionOf'>
  folder: SessionFolder
}

export interface WatcherOptions {
  /** What to watch now; asked at each search, for hooks come and go. */
  watched: () => Watched[]
  /** What the log knows of a session. */
  session: (agent: string, session: string) => WatchedSession
  /** Records calls of a session without hooks. False: hooks speak for it by now. */
  report: (calls: UngatedCalls) => Promise<boolean>
  /** Milliseconds since 1970, the clock agents write into their transcripts. */
  now: () => number
  /** Milliseconds that only ever grow. */
  clock?: () => number
}

interface Transcript extends Watched {
  path: string
  session: string
  /** Bytes and change time when last looked at. */
  size: number
  changed: number
  place: Place
  more: boolean
  /** Tool calls that no hook asked about and that are not reported yet. */
  calls: number
  /** What the log's newest record of the session was when the first unreported call was seen: a newer one is a hook that spoke. */
  heard: number
  /** By the clock: when the first unreported call was seen, and when a report was made. */
  since: number
  reported: number
}

export class Watcher {
  /** For status. `errors`: files and folders that could not be read or were too many; `long_lines`: lines that were not read. */
  readonly counts = { transcripts: 0, ungated: 0, errors: 0, long_lines: 0 }
  private readonly options: WatcherOptions
  private readonly clock: () => number
  private readonly transcripts = new Map<string, Transcript>()
  /** Folders that were searched before: what is new in them began while they were watched. */
  private readonly known = new Set<string>()
  private hot: Transcript[] = []
  private readonly began: number
  private polls = 0
  private searches = 0
  private busy = false
  private stopped = false
  private timer: NodeJS.Timeout | undefined

  constructor(options: WatcherOptions) {
    this.options = options
    this.clock = options.clock ?? (() => performance.now())
    this.began = options.now()
  }

  start(): void {
    this.timer = setInterval(() => {
      this.poll().catch(() => {
        this.counts.errors++
      })
    }, POLL_MS)
  }

  /** Nothing is reported any more when this returns. What was counted since the last report is counted again after the next start. */
  stop(): void {
    this.stopped = true
    clearInterval(this.timer)
  }

  /** One look. Does nothing while the one before is not done: a slow disk gets no queue. */
  async poll(): Promise<void> {
    if (this.busy) return
    this.busy = true
    try {
      if (this.polls++ % POLLS_PER_SEARCH === 0) await this.search()
      else await this.look(this.hot)
      for (const transcript of this.transcripts.values()) if (transcript.calls > 0) await this.judge(transcript)
    } finally {
      this.busy = false
    }
  }

  private async search(): Promise<void> {
    const present = new Set<string>()
    for (const watched of this.options.watched()) {
      const { root, project } = watched.folder
      const key = JSON.stringify([root, project])
      const { found, errors } = await findTranscripts(watched.folder, watched.adapter.sessionOf)
      this.counts.errors += errors
      for (const { path, session } of found) {
        present.add(path)
        if (this.transcripts.has(path)) continue
        const place = this.known.has(key) ? START : await this.placeOf(watched, path, session)
        if (place !== null) this.transcripts.set(path, { ...watched, path, session, ...NEW, size: place.offset, place })
      }
      this.known.add(key)
    }
    for (const path of this.transcripts.keys()) if (!present.has(path)) this.transcripts.delete(path)
    this.counts.transcripts = this.transcripts.size
    const all = [...this.transcripts.values()]
    const full = this.searches++ % SEARCHES_PER_FULL_LOOK === 0
    await this.look(full ? all : [...new Set([...this.hot, ...all.filter(({ changed }) => changed === NEW.changed)])])
    this.hot = [...this.transcripts.values()].sort((a, b) => b.changed - a.changed).slice(0, MAX_HOT)
  }

  /**
   * Where to begin in a transcript that was there at the first search: at its end, or where an earlier collector stopped counting. One
   * that was made since the watcher began is new: a short session may be over by the first search.
   */
  private async placeOf({ adapter }: Watched, path: string, session: string): Promise<Place | null> {
    const size = await this.sizeOf(path)
    if (size === null) return null
    const { state, offset } = this.options.session(adapter.agent, session)
    if (state !== 'ungated' && size.born > this.began) return START
    return { offset: state === 'ungated' ? Math.min(offset, size.size) : size.size, inLongLine: false }
  }

  private async look(transcripts: readonly Transcript[]): Promise<void> {
    const queue = transcripts.values()
    const worker = async () => {
      for (const transcript of queue) {
        if (this.stopped) return
        await this.lookAt(transcript)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
  }

  private async lookAt(transcript: Transcript): Promise<void> {
    const seen = await this.sizeOf(transcript.path)
    if (seen === null) {
      this.transcripts.delete(transcript.path)
      return
    }
    const same = seen.size === transcript.size && !transcript.more
    transcript.changed = seen.changed
    if (same) return
    // Cut, or another file in its place: what it holds was there before.
    const cut = seen.size < transcript.place.offset
    const { state, lastTime } = this.options.session(transcript.adapter.agent, transcript.session)
    transcript.size = seen.size
    if (cut || state === 'gated') {
      // Hooks see what is new here; there is nothing to read.
      Object.assign(transcript, { place: { offset: seen.size, inLongLine: false }, more: false, calls: 0 })
      return
    }
    if (transcript.calls === 0) transcript.heard = lastTime
    await this.count(transcript, state === 'ungated' ? 0 : Math.max(this.began, lastTime))
  }

  /** Counts the calls in what is new. Lines from before `after` are history: of a session that was copied, restored or has ended. */
  private async count(transcript: Transcript, after: number): Promise<void> {
    let calls = 0
    try {
      const tail = await readTail(transcript.path, transcript.place, (line) => {
        for (const { kind, time } of transcript.adapter.readTranscriptLine(line)) {
          if (kind === 'tool_use' && (time === undefined || time > after)) calls++
        }
      })
      if (tail === null) return
      transcript.place = tail.place
      transcript.more = tail.more
      this.counts.long_lines += tail.long
    } catch {
      // Gone, replaced by a link, or not ours to read: looked at again when it changes.
      this.counts.errors++
      return
    }
    if (calls === 0) return
    if (transcript.calls === 0) transcript.since = this.clock()
    transcript.calls += calls
  }

  /** Reports calls that no hook spoke for, in their time. */
  private async judge(transcript: Transcript): Promise<void> {
    const { calls, heard, since, reported, session, place } = transcript
    const { agent } = transcript.adapter
    const { state, lastTime } = this.options.session(agent, session)
    if (this.stopped) return
    // A session may be over again before the next look.
    if (state === 'gated' || (state !== 'ungated' && lastTime !== heard)) {
      transcript.calls = 0
      return
    }
    const now = this.clock()
    if (state === 'ungated' ? now - reported < REPORT_MS : now - since < GRACE_MS) return
    // Before the report is on disk, so that nothing is reported twice.
    Object.assign(transcript, { reported: now, calls: 0 })
    const told = await this.options.report({ agent, session, calls, offset: place.offset })
    if (told && state !== 'ungated') this.counts.ungated++
  }

  /** Size, change time and birth of a regular file; null when there is none. */
  private async sizeOf(path: string): Promise<{ size: number; changed: number; born: number } | null> {
    try {
      const stat = await lstat(path)
      return stat.isFile() ? { size: stat.size, changed: stat.mtimeMs, born: stat.birthtimeMs } : null
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.counts.errors++
      return null
    }
  }
}

const START: Place = { offset: 0, inLongLine: false }

const NEW = {
  changed: 0,
  more: false,
  calls: 0,
  heard: 0,
  since: 0,
  reported: Number.NEGATIVE_INFINITY,
}
