// The one table and the one JSON file of a run.
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { type Finding, type Suite, TARGETS, type Target, type Verdict, verdictOf } from './targets.ts'

export interface Line {
  target: Target
  value?: number
  verdict: Verdict
  rounds: string
  /** Absolute figures, or why there are none. */
  shown: string
}

/** A line for each target of the suites that were asked for. Throws when a suite that ran said nothing of one of its targets. */
export function linesOf(findings: ReadonlyMap<Suite, Finding[] | Error>): Line[] {
  return TARGETS.filter(({ suite }) => findings.has(suite)).map((target) => {
    const notRun = (shown: string): Line => ({ target, verdict: 'not run', rounds: '', shown })
    if (target.notRun !== undefined) return notRun(target.notRun)
    const found = findings.get(target.suite)
    if (found instanceof Error) return notRun(`the suite failed: ${found.message.split('\n', 1)[0]}`)
    const finding = found?.find(({ id }) => id === target.id)
    if (finding === undefined) throw new Error(`the suite ${target.suite} says nothing of ${target.id}`)
    if ('notRun' in finding) return notRun(finding.notRun)
    const { value, rounds, shown } = finding
    return { target, value, verdict: verdictOf(target, value), rounds, shown }
  })
}

/** The table as text, with a count of what was met and missed. */
export function table(lines: readonly Line[]): string {
  const head = ['suite', 'figure', 'measured', 'target', 'result', 'rounds', 'absolute figures, or why not']
  const rows = lines.map(({ target, value, verdict, rounds, shown }) => [
    target.suite,
    target.figure,
    value === undefined ? '-' : format(value, target.unit),
    target.goal === undefined ? '-' : `${target.goal.is} ${format(target.goal.value, target.unit)}`,
    verdict,
    rounds,
    shown,
  ])
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const print = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  const count = (verdict: Verdict) => lines.filter((line) => line.verdict === verdict).length
  const summary = `${count('met')} met, ${count('MISSED')} missed, ${count('not run')} not run`
  return [print(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(print), '', summary, ''].join(
    '\n',
  )
}

function format(value: number, unit: Target['unit']): string {
  switch (unit) {
    case 'x':
      return `${value.toFixed(2)}x`
    case 'count':
      return String(value)
    case '/s':
      return `${Math.round(value).toLocaleString('en')}/s`
    default:
      return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`
  }
}

/** Everything a later reader needs to compare two runs. */
export function json(lines: readonly Line[], size: string, seconds: number, load: number[]): string {
  const machine = {
    node: process.version,
    platform: `${platform()} ${release()} ${arch()}`,
    cpus: cpus().length,
    cpu: cpus()[0]?.model,
    memory_mb: Math.round(totalmem() / 1024 ** 2),
    load_before: load,
    load_after: loadavg(),
  }
  const rows = lines.map(({ target, value, verdict, rounds, shown }) => ({
    ...target,
    ...(value === undefined ? {} : { value }),
    verdict,
    rounds,
    shown,
  }))
  return `${JSON.stringify({ finished: new Date().toISOString(), size, seconds, machine, rows }, null, 2)}\n`
}
