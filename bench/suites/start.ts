// How long a person, or the first hook of a day, waits for a collector: from `spanseal up` to the first answer of the gate.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { homePaths } from '../../conventions/home.ts'
import { BenchCollector, postHook, toolCall } from '../collector.ts'
import { fillHome } from '../home.ts'
import type { Bench } from '../main.ts'
import {
  cpuOf,
  emptyNode,
  HAS_PROC,
  NO_PROC,
  ranQuietly,
  removeFolder,
  type Timed,
  temporaryFolder,
  timed,
} from '../process.ts'
import { median, medianRatio, percentile, sum } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rounds: 1, calls: 50 },
  quick: { rounds: 3, calls: 500 },
  normal: { rounds: 9, calls: 5_000 },
  full: { rounds: 31, calls: 50_000 },
} as const

/** Milliseconds until a first collector has kept its compiled code. */
const KEPT_MS = 30_000

export async function run({ size, dist }: Bench): Promise<Finding[]> {
  const { rounds, calls } = SIZES[size]
  const folder = temporaryFolder()
  // Only for their configuration: each is started by the command line.
  const [empty, full] = ['empty', 'full'].map((name) => new BenchCollector(`${folder}/${name}`).home)
  if (empty === undefined || full === undefined) throw new Error('no home')
  try {
    await fillHome(full, calls)
    const node: Timed[] = []
    const up: Timed[] = []
    const replay: Timed[] = []
    for (let round = -1; round < rounds; round++) {
      const one = {
        node: await emptyNode(),
        up: await firstAnswer(dist, empty, round),
        replay: await firstAnswer(dist, full, round),
      }
      // The first round makes keys, an index, and what V8 keeps of the collector.
      if (round < 0) continue
      node.push(one.node)
      up.push(one.up)
      replay.push(one.replay)
    }
    const wall = (runs: Timed[]) => runs.map((one) => one.wall)
    const p = (runs: Timed[]) =>
      `p50 ${median(wall(runs)).toFixed(0)} ms, p99 ${percentile(wall(runs), 99).toFixed(0)} ms`
    // Each call left two records.
    const more = (median(wall(replay)) - median(wall(up))) / ((2 * calls) / 1000)
    return [
      {
        id: 'start.up',
        value: medianRatio(wall(up), wall(node)),
        rounds: String(rounds),
        shown: `${p(up)}; node -e 0 ${p(node)}; a home with a short log`,
      },
      cpuFinding(up, node),
      {
        id: 'start.replay',
        value: more,
        rounds: String(rounds),
        shown: `${(2 * calls).toLocaleString('en')} records: ${p(replay)}`,
      },
    ]
  } finally {
    removeFolder(folder)
  }
}

/** Over all rounds: one start uses few clock ticks. */
function cpuFinding(up: Timed[], node: Timed[]): Finding {
  const id = 'start.up.cpu'
  if (!HAS_PROC) return { id, notRun: NO_PROC }
  const mean = (runs: Timed[]) => sum(runs.map(({ cpu }) => cpu)) / runs.length
  const shown = `mean ${mean(up).toFixed(0)} ms; node -e 0 ${mean(node).toFixed(0)} ms`
  return { id, value: mean(up) / mean(node), rounds: String(up.length), shown }
}

/** Resolves when a collector that runs has kept what V8 made of its code, which it does when its start is over. */
async function keptCode(dist: string): Promise<void> {
  const deadline = Date.now() + KEPT_MS
  while (!existsSync(`${dist}/collector-code.cache`)) {
    if (Date.now() > deadline) throw new Error('the collector does not keep its compiled code')
    await sleep(100)
  }
}

/** From starting the command to the answer of a gate call, the CPU of the command and of the collector. */
async function firstAnswer(dist: string, home: string, round: number): Promise<Timed> {
  const down = () => ranQuietly(process.execPath, [`${dist}/spanseal.mjs`, '--home', home, 'down'])
  // The collector is meant to outlive whoever started it.
  process.once('exit', down)
  try {
    const began = performance.now()
    const command = await timed([process.execPath, `${dist}/spanseal.mjs`, '--home', home, 'up', '--from-hook'])
    const answer = await postHook(`${home}/run/hook.sock`, 'PreToolUse', toolCall('PreToolUse', 1_000_000 + round))
    const wall = performance.now() - began
    if (round < 0) await keptCode(dist)
    if (!answer.startsWith('spanseal/1 pass')) throw new Error(`the collector said ${JSON.stringify(answer)}`)
    if (!HAS_PROC) return { wall, cpu: Number.NaN }
    const { pid } = JSON.parse(readFileSync(homePaths(home).endpoint, 'utf8')) as { pid: number }
    return { wall, cpu: command.cpu + cpuOf(pid) * 1000 }
  } finally {
    process.removeListener('exit', down)
    if (!down()) console.error(`spanseal down failed for ${home}`)
  }
}
