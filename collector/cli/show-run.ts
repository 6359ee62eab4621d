// Reads one run out of index and vault and prints it.
import type { Json } from '../../conventions/strict-json.ts'
import { type Context, flag } from './context.ts'
import { usageOfRun } from './cost.ts'
import { crossChecks, renderCrossChecks } from './cross-check.ts'
import { type ImportedRunKey, loadImported, renderImported } from './imported-run.ts'
import { painter, print, printJson } from './output.ts'
import type { Reader, Row } from './reader.ts'
import type { Entry, RunTree } from './run-nodes.ts'
import { renderTree } from './run-render.ts'
import { buildTree } from './run-tree.ts'
import { type ContentPlace, readContent } from './vault.ts'

/** Shown in the place of content that can't be. */
const DROPPED = '[held a secret, not kept]'
const GONE = '[no longer in the vault]'

/** Prints a run, whoever tells of it: as words, or as JSON with --json. */
export async function showAnyRun(context: Context, reader: Reader, which: string | ImportedRunKey): Promise<void> {
  if (typeof which === 'string') return showRun(context, reader, which)
  const run = await loadImported(reader, which)
  if (flag(context.options, 'json')) printJson(run)
  else print(renderImported(run, painter()))
}

async function showRun({ home, options }: Context, reader: Reader, runId: string): Promise<void> {
  const tree = await loadTree(reader, runId, home.vault)
  const checks = await crossChecks(reader, runId)
  if (flag(options, 'json')) return printJson(checks.length === 0 ? tree : { ...tree, telemetry: checks })
  const paint = painter()
  print(renderTree(tree, { paint, content: flag(options, 'content') }) + renderCrossChecks(checks, paint))
}

export async function loadTree(reader: Reader, runId: string, vaultDir: string): Promise<RunTree> {
  const records = await reader.query(
    `SELECT seq, type, time, run_part, turn, sub, call_id, attempt, body FROM records WHERE run_id = ? ORDER BY seq`,
    [runId],
  )
  const places = await reader.query(
    `SELECT seq, name, segment, byte_offset, dropped FROM contents WHERE seq IN (SELECT seq FROM records WHERE run_id = ?)`,
    [runId],
  )
  const bySeq = new Map<string, ContentPlace>()
  for (const row of places) {
    const place = placeOf(row)
    bySeq.set(`${place.seq} ${place.name}`, place)
  }
  const tree = buildTree(runId, records.map(entryOf), (seq, names) => {
    const found = names.map((name) => bySeq.get(`${seq} ${name}`)).filter((place) => place !== undefined)
    const place = found.find(({ dropped }) => !dropped) ?? found[0]
    if (place === undefined) return undefined
    const read = readContent(vaultDir, place)
    return read.kind === 'text' ? read.text : read.kind === 'dropped' ? DROPPED : GONE
  })
  return { ...tree, usage: await usageOfRun(reader, runId) }
}

function entryOf(row: Row): Entry {
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : null)
  return {
    seq: Number(row.seq),
    type: String(row.type),
    time: String(row.time),
    part: Number(row.run_part),
    turn: text(row.turn),
    sub: text(row.sub),
    call: text(row.call_id),
    attempt: row.attempt === null ? null : Number(row.attempt),
    body: JSON.parse(String(row.body)),
  }
}

function placeOf(row: Row): ContentPlace {
  return {
    seq: Number(row.seq),
    name: String(row.name),
    segment: Number(row.segment),
    offset: Number(row.byte_offset),
    dropped: row.dropped === true,
  }
}
