// What one hook of a tool call costs the real Claude Code, by its own clock: its http hook and its sh hook, against a Node that does
// nothing; and an http hook that is answered at once by a server that decides, records and keeps nothing, the floor of any http hook.
// Each way in has a project of its own; they are played in turns.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { homePaths } from '../../conventions/home.ts'
import { installClaude } from '../../hooks/install.ts'
import { stageBin } from '../../hooks/stage.ts'
import { freePort } from '../../test/support/fast-user.ts'
import { type Agent, startAgent } from '../agent.ts'
import { BenchCollector } from '../collector.ts'
import type { Bench } from '../main.ts'
import { emptyNode, removeFolder, temporaryFolder } from '../process.ts'
import { median, medianRatio, percentile } from '../stats.ts'
import type { Finding } from '../targets.ts'

/** Sessions of each way in, and calls in each of them; the first call of a session only warms up. */
const ROUNDS = { tiny: [1, 3], quick: [2, 8], normal: [3, 14], full: [6, 21] } as const

const IDS = { http: 'hook.http', floor: 'hook.http.floor', sh: 'hook.agent.sh' } as const
const WAYS = ['http', 'floor', 'sh'] as const
type Way = (typeof WAYS)[number]

interface Times {
  hook: number[]
  node: number[]
}

export async function agentHooks({ size, dist }: Bench): Promise<Finding[]> {
  const userHome = temporaryFolder()
  let agent: Agent
  try {
    agent = await startAgent(userHome)
  } catch (error) {
    removeFolder(userHome)
    const notRun = `no real Claude Code: ${error instanceof Error ? error.message.split('\n')[0] : error}`
    return WAYS.map((way) => ({ id: IDS[way], notRun }))
  }
  const home = temporaryFolder()
  const port = await freePort()
  const collector = new BenchCollector(home, `fast: {port: ${port}}\n`)
  const stub = await answersAtOnce()
  try {
    const token = 'b'.repeat(43)
    mkdirSync(homePaths(home).keys, { mode: 0o700 })
    writeFileSync(homePaths(home).httpToken, token, { mode: 0o600 })
    const staged = stageBin({
      ...{ home, userHome, mode: 'enforce', failMode: 'closed', version: 'bench', sourceDir: dist },
      hookSocket: `${homePaths(home).run}/hook.sock`,
    })
    await collector.start(staged.dir)
    const project = (way: Way) => join(userHome, way)
    for (const way of WAYS) {
      const installed = installClaude({
        ...{ home, userHome, project: project(way), command: staged.command, mode: 'enforce', failMode: 'closed' },
        ...(way === 'sh' ? {} : { http: { port: way === 'http' ? port : stub.port, token } }),
        now: new Date(),
      })
      if (!installed.ok) throw new Error(installed.message)
    }
    const before = (await collector.status()).records
    const times: Record<Way, Times> = {
      http: { hook: [], node: [] },
      floor: { hook: [], node: [] },
      sh: { hook: [], node: [] },
    }
    const [sessions, calls] = ROUNDS[size]
    for (let round = 0; round < sessions; round++) {
      // Whoever is first is not always the same.
      for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
        const node: number[] = []
        const hook = await agent.session(project(way), calls, async () => {
          node.push((await emptyNode()).wall)
        })
        times[way].hook.push(...hook.slice(1))
        times[way].node.push(...node.slice(1))
      }
    }
    if ((await collector.status()).records < before + 2 * sessions * calls)
      throw new Error('not every call was recorded')
    return WAYS.map((way) => finding(IDS[way], times[way]))
  } finally {
    await agent.stop()
    await collector.stop()
    stub.close()
    for (const folder of [home, userHome]) removeFolder(folder)
  }
}

/** A stand-in for the collector's port: lets every call run. */
async function answersAtOnce(): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  server.unref()
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close: () => server.close() }
}

/** The agent counts whole milliseconds. */
function finding(id: string, { hook, node }: Times): Finding {
  const shown = `p50 ${median(hook)} ms, p99 ${percentile(hook, 99)} ms; node -e 0 p50 ${median(node).toFixed(1)} ms`
  return { id, value: medianRatio(hook, node), rounds: String(hook.length), shown }
}
