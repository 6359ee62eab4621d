// The checkpoint files of a home.
import { readFileSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import type { CheckpointSource } from './checkpoints.ts'
import type { Findings } from './findings.ts'

/** Reads a home's checkpoint files before its log, so that a collector that goes on writing never seems to be behind them. */
export function readCheckpointFiles(home: HomePaths, findings: Findings): CheckpointSource[] {
  const sources: CheckpointSource[] = []
  const lines = readText(home.checkpoints).split('\n')
  for (const [index, line] of lines.entries()) {
    // A last line without its end was being written; nothing was signed off by it.
    if (line === '' || (index === lines.length - 1 && line.indexOf('"', 1) < 0)) continue
    const parsed = parseStrict(line)
    const from = `checkpoints line ${index + 1}`
    if (parsed.ok && typeof parsed.value === 'string') sources.push({ text: parsed.value, from, outside: false })
    else findings.add('checkpoint.signature', `${from} is not a JSON string`)
  }
  const newest = readText(home.checkpoint)
  if (newest !== '' && newest !== sources.at(-1)?.text)
    sources.push({ text: newest, from: 'the newest checkpoint', outside: false })
  return sources
}

/** The file's text; empty when it is not there. A file that can't be read counts as not there: then a pinned log has none. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
