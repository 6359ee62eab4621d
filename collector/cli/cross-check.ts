// Beside a run our hooks recorded: what the agent's own telemetry (T3) says of the same calls.
import type { Paint } from './output.ts'
import type { Reader, Row } from './reader.ts'
import { visible } from './text.ts'
import { counted } from './times.ts'

/** What both say of each call of a run; empty when no telemetry speaks of its session. */
export function crossChecks(reader: Reader, runId: string): Promise<Row[]> {
  return reader.query('SELECT * FROM cross_checks WHERE run_id = ? ORDER BY telemetry_seq, call_id', [runId])
}

/** A line that sums up and one for each call they do not agree on; nothing when there is nothing to compare. */
export function renderCrossChecks(checks: readonly Row[], paint: Paint): string {
  if (checks.length === 0) return ''
  const agreed = checks.filter(({ finding }) => finding === 'agrees').length
  const lines = [
    `the agent's own telemetry (T3, receipt only): ${counted(agreed, 'call')} of ${checks.length} told alike`,
  ]
  for (const check of checks) {
    if (check.finding === 'agrees') continue
    const tool = visible(String(check.hook_tool ?? check.telemetry_tool ?? 'unnamed tool'))
    const said = [
      check.hook_status === null ? '' : `hooks: ${check.hook_status}`,
      check.telemetry_outcome === null ? '' : `telemetry: ${check.telemetry_outcome}`,
    ].filter(Boolean)
    const colour = check.finding === 'ran although denied' ? 'red' : 'yellow'
    lines.push(
      `  ${paint(colour, String(check.finding))}  ${tool} ${visible(String(check.call_id))}  ${said.join(', ')}`,
    )
  }
  return `${lines.join('\n')}\n`
}
