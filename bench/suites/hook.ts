// What one call of an installed hook costs the agent, against a Node that does nothing.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homePaths } from '../../conventions/home.ts'
import { findCurl, hookCommand, stageBin } from '../../hooks/stage.ts'
import { BenchCollector, postHook, toolCall } from '../collector.ts'
import type { Bench } from '../main.ts'
import { emptyNode, HAS_PROC, NO_PROC, removeFolder, type Timed, temporaryFolder, timed } from '../process.ts'
import { median, medianRatio, percentile, sum } from '../stats.ts'
import type { Finding } from '../targets.ts'
import { agentHooks } from './agent-hook.ts'

const ROUNDS = { tiny: 2, quick: 9, normal: 25, full: 101 } as const

export async function run(bench: Bench): Promise<Finding[]> {
  return [...(await agentHooks(bench)), ...(await installedHooks(bench))]
}

async function installedHooks({ size, dist }: Bench): Promise<Finding[]> {
  const home = temporaryFolder()
  const collector = new BenchCollector(home)
  try {
    const staged = stageBin({
      home,
      userHome: '/home/dev',
      hookSocket: `${homePaths(home).run}/hook.sock`,
      mode: 'enforce',
      failMode: 'closed',
      version: 'bench',
      sourceDir: dist,
    })
    await collector.start(staged.dir)
    const recordsBefore = (await collector.status()).records
    let calls = 0
    const hook = (kind: 'sh' | 'node') => {
      const command = `${hookCommand(staged.dir, staged.runtime, kind)} claude-code PreToolUse`
      return timed(['/bin/sh', '-c', command], toolCall('PreToolUse', calls++))
    }
    const answer = async (): Promise<Timed> => {
      const began = performance.now()
      await postHook(`${homePaths(home).run}/hook.sock`, 'PreToolUse', toolCall('PreToolUse', calls++))
      return { wall: performance.now() - began, cpu: Number.NaN }
    }
    const floor = await connectsOnly(home)
    const curl = findCurl()
    const node: Timed[] = []
    const sh: Timed[] = []
    const loading: Timed[] = []
    const waiting: Timed[] = []
    const nodeHook: Timed[] = []
    const nodeFloor: Timed[] = []
    for (let round = -1; round < ROUNDS[size]; round++) {
      const one = {
        node: await emptyNode(),
        sh: staged.kind === 'sh' ? await hook('sh') : undefined,
        loading: curl === null ? undefined : await timed([curl, '-q', '--version']),
        waiting: await answer(),
        nodeHook: await hook('node'),
        nodeFloor: await timed([process.execPath, floor.file]),
      }
      // The first round warms files and code on both sides.
      if (round < 0) continue
      node.push(one.node)
      if (one.sh !== undefined) sh.push(one.sh)
      if (one.loading !== undefined) loading.push(one.loading)
      waiting.push(one.waiting)
      nodeHook.push(one.nodeHook)
      nodeFloor.push(one.nodeFloor)
    }
    floor.close()
    if ((await collector.status()).records < recordsBefore + calls) throw new Error('not every call was recorded')
    return [...shFindings(sh, loading, waiting, node), ...nodeFindings(nodeHook, nodeFloor, node)]
  } finally {
    await collector.stop()
    removeFolder(home)
  }
}

/** What no hook in Node can go without: a file, node:net, a connection, and a byte each way, here with somebody who does nothing. */
async function connectsOnly(folder: string): Promise<{ file: string; close(): void }> {
  const [file, path] = [`${folder}/floor.cjs`, `${folder}/floor.sock`]
  const client = `require('node:net').connect(${JSON.stringify(path)}).end('?').on('data', () => process.exit(0))`
  writeFileSync(file, client)
  const server = createServer((socket) => socket.once('data', () => socket.end('!')))
  await new Promise<void>((done) => server.listen(path, done))
  // A round that fails leaves nothing that waits.
  server.unref()
  return { file, close: () => server.close() }
}

function shFindings(sh: Timed[], loading: Timed[], waiting: Timed[], node: Timed[]): Finding[] {
  if (sh.length === 0) {
    const notRun = 'no curl of the system was found'
    return ['hook.sh', 'hook.sh.cpu', 'hook.sh.curl', 'hook.sh.loading', 'hook.sh.wait'].map((id) => ({ id, notRun }))
  }
  return [
    wallFinding('hook.sh', sh, node),
    cpuFinding('hook.sh.cpu', sh, node),
    cpuFinding('hook.sh.curl', loading, node),
    wallFinding('hook.sh.loading', loading, node),
    wallFinding('hook.sh.wait', waiting, node),
  ]
}

function nodeFindings(nodeHook: Timed[], nodeFloor: Timed[], node: Timed[]): Finding[] {
  return [
    cpuFinding('hook.node', nodeHook, node),
    cpuFinding('hook.node.floor', nodeFloor, node),
    wallFinding('hook.node.wall', nodeHook, node),
  ]
}

function wallFinding(id: string, hook: Timed[], node: Timed[]): Finding {
  const wall = hook.map((one) => one.wall)
  const base = node.map((one) => one.wall)
  const shown = `p50 ${median(wall).toFixed(1)} ms, p99 ${percentile(wall, 99).toFixed(1)} ms; node -e 0 p50 ${median(base).toFixed(1)} ms`
  return { id, value: medianRatio(wall, base), rounds: String(hook.length), shown }
}

/** Over all rounds: one process uses few clock ticks. */
function cpuFinding(id: string, hook: Timed[], node: Timed[]): Finding {
  if (!HAS_PROC) return { id, notRun: NO_PROC }
  const mean = (runs: Timed[]) => sum(runs.map(({ cpu }) => cpu)) / runs.length
  const shown = `mean ${mean(hook).toFixed(1)} ms; node -e 0 ${mean(node).toFixed(1)} ms`
  return { id, value: mean(hook) / mean(node), rounds: String(hook.length), shown }
}
