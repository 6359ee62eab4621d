// Runs the suites that were asked for, one after the other, and prints what they found.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { json, linesOf, table } from './report.ts'
import { type Finding, SUITES, type Suite } from './targets.ts'

/** How much each suite does: `tiny` shows that it runs and measures nothing worth reading. */
export type Size = 'tiny' | 'quick' | 'normal' | 'full'

export interface Bench {
  size: Size
  /** Project folder. */
  root: string
  /** The built files, as they were when the run began. */
  dist: string
  /** Folder of the bundled child processes. */
  children: string
}

const LOADERS: Record<Suite, () => Promise<{ run: (bench: Bench) => Promise<Finding[]> }>> = {
  hook: () => import('./suites/hook.ts'),
  gate: () => import('./suites/gate.ts'),
  ingest: () => import('./suites/ingest.ts'),
  forward: () => import('./suites/forward.ts'),
  verify: () => import('./suites/verify.ts'),
  query: () => import('./suites/query.ts'),
  start: () => import('./suites/start.ts'),
  // Measured by its test only.
  crash: async () => ({ run: async () => [] }),
}

const USAGE = `usage: npm run bench -- [suite...] [--quick | --full | --tiny] [--out FILE]
suites: ${SUITES.join(', ')} (default: all)`

/** Exit code: 0 when every suite ran, whatever its figures; 1 when one could not; 2 for wrong arguments. */
export async function main(args: readonly string[], where: { root: string; children: string }): Promise<number> {
  const asked = readArgs(args)
  if (asked === null) {
    console.error(USAGE)
    return 2
  }
  const { suites, size } = asked
  const out = asked.out ?? join(where.root, 'bench/results', `${new Date().toISOString().replaceAll(':', '')}.json`)
  const built = join(where.root, 'dist')
  if (!existsSync(join(built, 'collector.cjs'))) {
    console.error(`${built} holds no collector; run: npm run build`)
    return 1
  }
  // A build that happens meanwhile must not change what is measured.
  const dist = join(where.children, 'dist')
  cpSync(built, dist, { recursive: true })

  const began = Date.now()
  const load = loadavg()
  const findings = new Map<Suite, Finding[] | Error>()
  for (const suite of suites) {
    const suiteBegan = Date.now()
    try {
      findings.set(suite, await (await LOADERS[suite]()).run({ ...where, size, dist }))
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      console.error(`the suite ${suite} could not run: ${failure.stack}`)
      findings.set(suite, failure)
    }
    console.error(`${suite}: ${((Date.now() - suiteBegan) / 1000).toFixed(1)} s`)
  }
  const lines = linesOf(findings)
  console.log(table(lines))
  mkdirSync(dirname(out), { recursive: true })
  writeFileSync(out, json(lines, size, (Date.now() - began) / 1000, load))
  console.error(`written to ${out}`)
  return [...findings.values()].some((found) => found instanceof Error) ? 1 : 0
}

function readArgs(args: readonly string[]): { suites: Suite[]; size: Size; out?: string } | null {
  const asked: { suites: Suite[]; size: Size; out?: string } = { suites: [], size: 'normal' }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const suite = SUITES.find((name) => name === arg)
    const size = (['tiny', 'quick', 'full'] as const).find((name) => `--${name}` === arg)
    const file = args[i + 1]
    if (suite !== undefined) asked.suites.push(suite)
    else if (size !== undefined) asked.size = size
    else if (arg === '--out' && file !== undefined) {
      asked.out = file
      i++
    } else return null
  }
  if (asked.suites.length === 0) asked.suites.push(...SUITES)
  return asked
}
