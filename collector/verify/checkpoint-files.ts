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
  let torn: string | undefined
  const last = lines.findLastIndex((line) => line !== '')
  for (const [index, line] of lines.entries()) {
    if (line === '') continue
    const parsed = parseStrict(line)
    const from = `checkpoints line ${index + 1}`
    if (parsed.ok && typeof parsed.value === 'string') sources.push({ text: parsed.value, from, outside: false })
    else if (index === last) torn = from
    else findings.add('checkpoint.signature', `${from} is not a JSON string`)
  }
  const newest = readText(home.checkpoint)
  // A power cut leaves the line that was being written half there or with a hole. The newest checkpoint's own file is written after the
  // list is on disk: where it names the last whole line, nothing was ever said by the one behind.
  if (torn !== undefined && newest !== (sources.at(-1)?.text ?? ''))
    findings.add('checkpoint.signature', `${torn} is not a JSON string`)
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
