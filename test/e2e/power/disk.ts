// Stand-in for a disk that loses power, the other half: from the journal of a process, what the disk may hold when the power goes at
// one moment of it. What was synced is there. Of everything else each piece is there, half there, zeros, or not there, on its own.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, type Stats, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Random } from './random.ts'

/** Bytes that a disk writes as a whole. */
const SECTOR = 512

export type Event =
  /** A process begins; the one before has ended. */
  | { op: 'start'; files: { path: string; ino: string; size: number }[] }
  | { op: 'create'; path: string; ino: string }
  | { op: 'write'; id: string; ino: string; at: number; data: string }
  | { op: 'truncate'; id: string; ino: string; size: number }
  | { op: 'sync'; id: string; ino: string }
  | { op: 'syncdir'; id: string; path: string }
  | { op: 'end'; id: string; written?: number }
  | { op: 'rename' | 'link'; from: string; to: string }
  | { op: 'unlink' | 'mkdir'; path: string }
  | { op: 'answer'; tag: string }
  | { op: 'sent'; data: string }

/** Each event in words a test can look for, such as `synced log/00000001.seg`; paths are from the home. */
export function inWords(root: string, events: readonly Event[]): string[] {
  const names = new Map<string, string>()
  const begun = new Map<string, string>()
  const short = (path: string) => (path === root ? 'home' : path.slice(root.length + 1))
  return events.map((event) => {
    switch (event.op) {
      case 'create':
        names.set(event.ino, short(event.path))
        return `create ${short(event.path)}`
      case 'write':
      case 'truncate':
      case 'sync': {
        const words = `${event.op} ${names.get(event.ino) ?? '?'}`
        begun.set(event.id, words)
        return words
      }
      case 'syncdir':
        begun.set(event.id, `syncdir ${short(event.path)}`)
        return `syncdir ${short(event.path)}`
      case 'end':
        return `done ${begun.get(event.id) ?? '?'}`
      case 'rename':
      case 'link':
        for (const [ino, name] of names) if (name === short(event.from)) names.set(ino, short(event.to))
        return `${event.op} ${short(event.to)}`
      case 'unlink':
      case 'mkdir':
        return `${event.op} ${short(event.path)}`
      default:
        return event.op
    }
  })
}

/** Bytes of a file, and what was done to it since they were synced. */
interface Inode {
  base: Buffer
  changes: { at: number; data: Buffer | null; done: number }[]
}
/** `dir`: a folder of that path. */
/** As the journal names a file: its number is used again when it is gone. */
const idOf = ({ ino, birthtimeMs }: Stats) => `${ino} ${birthtimeMs}`

type Target = { inode: Inode } | { dir: Dir }
interface Dir {
  entries: Map<string, Target>
  /** Changes that are not durable yet, each done or not done as a whole. */
  changes: ((entries: Map<string, Target>) => void)[]
  /** What a running system sees. */
  now: Map<string, Target>
}

/** Names of what is never in an image: sockets and locks of a process that is gone, programs, and what only native code writes. */
const LEFT_OUT = /^(run|bin)$|^spanseal\.duckdb/

interface BaseFile {
  path: string
  ino: string
  /** null: a folder. */
  bytes: Buffer | null
}

export class Disk {
  private readonly root: string
  private readonly journal: string
  private readonly base: BaseFile[] = []

  /** The home as it lies now is taken for durable; `journal` will hold what happens to it from now on. */
  constructor(root: string, journal: string) {
    this.root = root
    this.journal = journal
    this.scan(root)
  }

  events(): Event[] {
    return readFileSync(this.journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Event)
  }

  /** Writes to a new folder what may be there when the power goes after `cut` of the events. */
  image(events: readonly Event[], cut: number, random: Random): string {
    const to = mkdtempSync(join(tmpdir(), 'spanseal-power-'))
    // Some file systems keep the order of changes to names, some do not.
    new Playback(this.root, this.base).play(events.slice(0, cut)).write(to, random, random.chance(0.5))
    return to
  }

  private scan(path: string): void {
    for (const name of readdirSync(path)) {
      if (LEFT_OUT.test(name)) continue
      const at = join(path, name)
      const stat = lstatSync(at)
      if (stat.isFile()) this.base.push({ path: at, ino: idOf(stat), bytes: readFileSync(at) })
      if (!stat.isDirectory()) continue
      this.base.push({ path: at, ino: idOf(stat), bytes: null })
      this.scan(at)
    }
  }
}

class Playback {
  private readonly root: string
  private readonly base: Dir = { entries: new Map(), changes: [], now: new Map() }
  private readonly inos = new Map<string, Inode>()

  constructor(root: string, base: readonly BaseFile[]) {
    this.root = root
    for (const { path, ino, bytes } of base) {
      const inode: Inode = { base: bytes ?? Buffer.alloc(0), changes: [] }
      if (bytes !== null) this.inos.set(ino, inode)
      const target: Target = bytes === null ? { dir: { entries: new Map(), changes: [], now: new Map() } } : { inode }
      const dir = this.dirOf(dirname(path))
      dir?.entries.set(basename(path), target)
      dir?.now.set(basename(path), target)
    }
  }

  play(events: readonly Event[]): this {
    const begun = new Map<string, { index: number; event: Event }>()
    const changes = new Map<string, Inode['changes'][number]>()
    for (const [index, event] of events.entries()) {
      if ('id' in event && event.op !== 'end') begun.set(event.id, { index, event })
      switch (event.op) {
        case 'start':
          for (const file of event.files) this.settle(file, index)
          break
        case 'create':
          this.create(event)
          break
        case 'write':
        case 'truncate': {
          const data = event.op === 'write' ? Buffer.from(event.data, 'base64') : null
          const at = event.op === 'write' ? event.at : event.size
          const change = { at, data, done: Number.POSITIVE_INFINITY }
          changes.set(event.id, change)
          this.inos.get(event.ino)?.changes.push(change)
          break
        }
        case 'end': {
          const began = begun.get(event.id)
          const change = changes.get(event.id)
          if (change !== undefined) change.done = index
          if (began?.event.op === 'sync') this.synced(began.event.ino, began.index)
          if (began?.event.op === 'syncdir') this.syncedDir(began.event.path)
          break
        }
        case 'rename':
        case 'link':
          this.move(event)
          break
        case 'mkdir': {
          const dir: Dir = { entries: new Map(), changes: [], now: new Map() }
          this.change(event.path, (entries, name) => entries.set(name, { dir }))
          break
        }
        case 'unlink':
          this.change(event.path, (entries, name) => entries.delete(name))
      }
    }
    return this
  }

  write(path: string, random: Random, inOrder: boolean): void {
    this.writeDir(this.base, path, random, inOrder)
  }

  private create({ path, ino }: { path: string; ino: string }): Inode {
    const inode: Inode = { base: Buffer.alloc(0), changes: [] }
    this.inos.set(ino, inode)
    this.change(path, (entries, name) => entries.set(name, { inode }))
    return inode
  }

  /** A change that its process was killed in has ended: the file is there, with as much as its size shows. */
  private settle(file: { path: string; ino: string; size: number }, index: number): void {
    const { path, ino, size } = file
    const inode = this.inos.get(ino) ?? this.create(file)
    const named = this.dirOf(dirname(path))?.now.get(basename(path))
    if (named === undefined || !('inode' in named) || named.inode !== inode)
      this.change(path, (entries, name) => entries.set(name, { inode }))
    for (const change of inode.changes) {
      if (change.done !== Number.POSITIVE_INFINITY) continue
      change.done = index
      if (change.data !== null) change.data = change.data.subarray(0, Math.max(0, size - change.at))
    }
  }

  private synced(ino: string, began: number): void {
    const inode = this.inos.get(ino)
    if (inode === undefined) return
    for (const { at, data } of inode.changes.filter(({ done }) => done < began))
      inode.base = applied(inode.base, at, data)
    inode.changes = inode.changes.filter(({ done }) => done >= began)
  }

  /** Changes to names are made by calls that do not return before they are done, so all of them are older than the sync. */
  private syncedDir(path: string): void {
    const dir = this.dirOf(path)
    if (dir === undefined) return
    for (const change of dir.changes) change(dir.entries)
    dir.changes = []
  }

  private move({ op, from, to }: { op: 'rename' | 'link'; from: string; to: string }): void {
    const target = this.dirOf(dirname(from))?.now.get(basename(from))
    if (target === undefined) return
    this.change(to, (entries, name) => {
      entries.set(name, target)
      if (op === 'rename') entries.delete(basename(from))
    })
  }

  private change(path: string, make: (entries: Map<string, Target>, name: string) => void): void {
    const dir = this.dirOf(dirname(path))
    if (dir === undefined || LEFT_OUT.test(basename(path))) return
    const change = (entries: Map<string, Target>) => make(entries, basename(path))
    change(dir.now)
    dir.changes.push(change)
  }

  /** The folder of a path; undefined for what no image holds. */
  private dirOf(path: string): Dir | undefined {
    let dir: Dir | undefined = this.base
    for (const name of path.slice(this.root.length).split('/').filter(Boolean)) {
      const target: Target | undefined = LEFT_OUT.test(name) ? undefined : dir?.now.get(name)
      dir = target !== undefined && 'dir' in target ? target.dir : undefined
    }
    return dir
  }

  private writeDir(dir: Dir, path: string, random: Random, inOrder: boolean): void {
    const entries = new Map(dir.entries)
    const until = inOrder ? random.below(dir.changes.length + 1) : dir.changes.length
    for (const change of dir.changes.slice(0, until)) if (inOrder || random.chance(0.5)) change(entries)
    for (const [name, target] of entries) {
      const to = join(path, name)
      if ('inode' in target) writeFileSync(to, left(target.inode, random), { mode: 0o600 })
      else {
        mkdirSync(to, { mode: 0o700 })
        this.writeDir(target.dir, to, random, inOrder)
      }
    }
  }
}

function applied(bytes: Buffer, at: number, data: Buffer | null): Buffer {
  if (data === null)
    return at <= bytes.length ? bytes.subarray(0, at) : Buffer.concat([bytes, Buffer.alloc(at - bytes.length)])
  const out = Buffer.alloc(Math.max(bytes.length, at + data.length))
  bytes.copy(out)
  data.copy(out, at)
  return out
}

/** What a file may hold: the synced bytes, and of each later change some part. */
function left({ base, changes }: Inode, random: Random): Buffer {
  let bytes = base
  for (const { at, data } of changes) {
    if (data === null) {
      if (random.chance(0.5)) bytes = applied(bytes, at, null)
      continue
    }
    const fate = random.pick(['absent', 'whole', 'prefix', 'zeros', 'holes', 'holes', 'hole at the start'] as const)
    if (fate === 'absent') continue
    if (fate === 'prefix') {
      bytes = applied(bytes, at, data.subarray(0, random.below(data.length + 1)))
      continue
    }
    const some = Buffer.from(data)
    if (fate === 'zeros') some.fill(0)
    // Sectors of the file, not of the write: that is what a disk takes or loses as a whole.
    for (let from = 0; from < some.length; ) {
      const to = Math.min(some.length, from + SECTOR - ((at + from) % SECTOR))
      if (fate === 'holes' && random.chance(0.4)) some.fill(0, from, to)
      if (fate === 'hole at the start' && from === 0) some.fill(0, from, to)
      from = to
    }
    bytes = applied(bytes, at, some)
  }
  return bytes
}
