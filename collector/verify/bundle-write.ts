// Writes the bundle of a run from a home's log: the records to show, and the hashes of everything between them.
import { createHash } from 'node:crypto'
import { toBase64 } from '../../conventions/bytes.ts'
import { homePaths } from '../../conventions/home.ts'
import { canonical } from '../../conventions/jcs.ts'
import { APPROVER_RECORDS, KEY_RECORDS } from '../../conventions/record.ts'
import { BUNDLE_VERSION, type BundleLine } from './bundle-format.ts'
import { readCheckpointFiles } from './checkpoint-files.ts'
import { Findings } from './findings.ts'
import { checkpointWithin, envelopeOf, signedRecords } from './log-stream.ts'
import { leafHash, nodeHash } from './merkle.ts'
import { type ContentRef, openContent } from './open-content.ts'
import { readRecord } from './read-record.ts'
import { type Snapshot, snapshot } from './segments.ts'

export interface BundleScope {
  id: string
  /** One part of the run; all of them when it is left out. */
  part?: number
}

/** `records`: how many are shown. `lines`: to be read once, each with its line feed. */
export type ExportResult =
  | { ok: true; records: number; size: number; checkpoint: number | null; lines: Iterable<string> }
  | { ok: false; message: string }

interface Plan {
  logId: string
  size: number
  shown: Set<number>
  note: { text: string; size: number } | null
  /** Content to disclose, by the number of its record. */
  open: Map<number, BundleLine[]>
}

export interface ExportOptions {
  /** Absolute home folder. */
  root: string
  run: BundleScope
  /** Content to disclose; without it a bundle holds none. */
  open?: readonly ContentRef[]
}

/** Prepares the bundle of a run. Reads the log twice: to see what to show, and to write it. */
export function exportBundle({ root, run, open = [] }: ExportOptions): ExportResult {
  const home = homePaths(root)
  const sources = readCheckpointFiles(home, new Findings())
  const log = snapshot(home.log)
  const plan: Plan = { logId: '', size: 0, shown: new Set(), note: null, open: new Map() }
  let records = 0
  for (const signed of signedRecords(log)) {
    const envelope = signed === null ? null : readRecord(signed.record).envelope
    if (envelope === null || envelope.log.seq !== plan.size) {
      return { ok: false, message: `the log is damaged at record ${plan.size}; run: spanseal verify` }
    }
    const inRun = envelope.run?.id === run.id && (run.part === undefined || envelope.run.part === run.part)
    if (inRun) records++
    // Every bundle shows which keys may sign, and who may answer.
    if (inRun || KEY_RECORDS.has(envelope.type) || APPROVER_RECORDS.has(envelope.type)) plan.shown.add(plan.size)
    plan.logId = envelope.log.id
    plan.size++
  }
  if (records === 0)
    return {
      ok: false,
      message: `there is no run ${run.id}${run.part === undefined ? '' : ` part ${run.part}`} in this log`,
    }
  plan.shown.add(plan.size - 1)
  const hidden = open.find(({ seq }) => !plan.shown.has(seq))
  if (hidden !== undefined) return { ok: false, message: `record ${hidden.seq} is not one that the bundle shows` }
  const opened = openContent(snapshot(home.vault), open)
  if (!opened.ok) return opened
  for (const line of opened.lines) plan.open.set(line.seq, [...(plan.open.get(line.seq) ?? []), line])
  plan.note = checkpointWithin(sources, plan.size)
  const { size, shown, note } = plan
  return { ok: true, records: shown.size, size, checkpoint: note?.size ?? null, lines: writeLines(log, plan, run) }
}

function* writeLines(log: Snapshot, plan: Plan, run: BundleScope): Generator<string> {
  const hash = createHash('sha256')
  let lines = 0
  const write = (line: BundleLine): string => {
    const text = `${canonical(line)}\n`
    hash.update(text)
    lines++
    return text
  }
  yield write({
    kind: 'bundle',
    v: BUNDLE_VERSION,
    scope: { run: run.id, part: run.part ?? null },
    log: plan.logId,
    size: plan.size,
  })
  if (plan.note !== null) yield write({ kind: 'note', note: plan.note.text })
  for (const line of positions(log, plan)) yield write(line)
  yield write({ kind: 'end', lines, sha256: hash.copy().digest('hex') })
}

/** rec, open and node lines; rec and node cover every position once. No node reaches over the checkpoint's size: its root can be computed too. */
function* positions(log: Snapshot, { size, shown, note, open }: Plan): Generator<BundleLine> {
  let hidden: { level: number; index: number; hash: Uint8Array }[] = []
  const flush = (): BundleLine[] => {
    const nodes = hidden.map(({ level, index, hash }) => ({
      kind: 'node' as const,
      l: level,
      i: index,
      h: toBase64(hash),
    }))
    hidden = []
    return nodes
  }
  let seq = 0
  for (const signed of signedRecords(log)) {
    if (signed === null || seq === size) break
    if (seq === note?.size || shown.has(seq)) yield* flush()
    if (shown.has(seq)) {
      yield { kind: 'rec', seq, dsse: envelopeOf(signed) }
      yield* open.get(seq) ?? []
    } else {
      let node = { level: 0, index: seq, hash: leafHash(signed.record) }
      for (let left = hidden.at(-1); left?.level === node.level && left.index % 2 === 0; left = hidden.at(-1)) {
        hidden.pop()
        node = { level: node.level + 1, index: left.index / 2, hash: nodeHash(left.hash, node.hash) }
      }
      hidden.push(node)
    }
    seq++
  }
  yield* flush()
}
