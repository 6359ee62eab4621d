// The log's checkpoints against its records: who signed them, and whether the tree had that root at that size.
import { hashText } from './crypto.ts'
import type { Findings } from './findings.ts'
import {
  type Checkpoint,
  type Note,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
  verifyNote,
} from './note.ts'
import type { Trust } from './trust.ts'

/**
 * A checkpoint, or why the text is none. `outside`: kept elsewhere, given by the one who verifies. `copy`: found in a backend, where
 * others may have put it: what is no checkpoint of ours there is a damaged copy.
 */
export interface CheckpointSource {
  text: string
  from: string
  outside: boolean
  copy?: boolean
}

/** A checkpoint whose signature holds and that waits for the tree to reach its size. */
interface Expected {
  size: number
  root: string
  key: VerifierKey
  outside: boolean
}

/** What is known of the log from its first record; null when that can't be believed. */
export interface DeclaredLog {
  origin: string
  log_key: string
}

/** The newest checkpoint that fits the records. */
export interface Covered {
  size: number
  key: string
}

/** Size that the newest of the log's own checkpoints says; 0 where there is none. Nothing of it is verified here. */
export function newestSize(sources: readonly CheckpointSource[]): number {
  const newest = sources.findLast(({ outside }) => !outside)
  return Number(parseCheckpoint(parseNote(newest?.text ?? '')?.text ?? '')?.size ?? 0n)
}

export class Checkpoints {
  /** The newest of the log's own checkpoints that fits, and of those kept elsewhere. */
  covered: Covered | null = null
  outside: Covered | null = null
  private readonly waiting = new Map<number, Expected[]>()
  private readonly known: VerifierKey[]
  private readonly declared: DeclaredLog | null
  private readonly findings: Findings

  constructor(sources: readonly CheckpointSource[], declared: DeclaredLog | null, trust: Trust, findings: Findings) {
    this.declared = declared
    this.findings = findings
    const own = declared === null ? null : parseVerifierKey(declared.log_key)
    this.known = trust.logs.length > 0 ? trust.logs : own === null ? [] : [own]
    for (const source of sources) this.add(source)
  }

  /** The tree has this root at this size. */
  at(size: number, root: Uint8Array): void {
    const here = this.waiting.get(size)
    if (here === undefined) return
    this.waiting.delete(size)
    for (const expected of here) {
      if (expected.root !== hashText(root)) this.differs(expected)
      else if (expected.outside) this.outside = { size, key: keyText(expected.key) }
      else this.covered = { size, key: keyText(expected.key) }
    }
  }

  /** The log has ended: what still waits is beyond it, or over a part that can't be followed. */
  end(size: number): void {
    for (const expected of [...this.waiting.values()].flat()) {
      if (expected.size <= size) this.differs(expected)
      else {
        const note = `${expected.size} records, ${size} are there`
        this.findings.add(expected.outside ? 'anchor.rollback' : 'checkpoint.beyond_log', note)
      }
    }
    this.waiting.clear()
  }

  private differs({ size, outside }: Expected): void {
    this.findings.add(outside ? 'anchor.fork' : 'checkpoint.root', `checkpoint over ${size} records`)
  }

  private add({ text, from, outside, copy = false }: CheckpointSource): void {
    const refuse = (code: 'checkpoint.signature' | 'checkpoint.origin', note: string) =>
      this.findings.add(copy ? 'copy.damaged' : code, note)
    const note = parseNote(text)
    const checkpoint = note === null ? null : parseCheckpoint(note.text)
    if (note === null || checkpoint === null) {
      refuse('checkpoint.signature', `${from} is no signed checkpoint`)
      return
    }
    if (this.declared !== null && checkpoint.origin !== this.declared.origin) {
      refuse('checkpoint.origin', `${from} is of ${checkpoint.origin.slice(0, 200)}`)
      return
    }
    const key = this.signer(note, checkpoint, from, refuse)
    if (key === null) return
    const size = Number(checkpoint.size)
    const list = this.waiting.get(size) ?? []
    list.push({ size, root: hashText(checkpoint.root), key, outside })
    this.waiting.set(size, list)
  }

  private signer(
    note: Note,
    { origin }: Checkpoint,
    from: string,
    refuse: (code: 'checkpoint.signature' | 'checkpoint.origin', note: string) => void,
  ): VerifierKey | null {
    const check = verifyNote(note, this.known)
    if (!check.ok) {
      refuse('checkpoint.signature', `${from}: ${check.reason}`)
      return null
    }
    const key = check.signers.find((signer) => signer.key.name === origin)?.key
    if (key === undefined) refuse('checkpoint.origin', `${from} is signed by a key of another log`)
    return key ?? null
  }
}

const keyText = ({ name, id }: VerifierKey) => `${name}+${id}`
