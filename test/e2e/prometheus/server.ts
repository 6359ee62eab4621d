// A real Prometheus as a process of its own, and promtool.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../peers/program.ts'

/** Milliseconds until it must answer. */
const READY_MS = 60_000

export interface Answer {
  metric: Record<string, string>
  value: number
}

export class Prometheus {
  private readonly dir = mkdtempSync(join(tmpdir(), 'spanseal-prometheus-'))
  private child: ChildProcess | undefined
  private port = 0

  /** Scrapes `target` (host:port) each second and evaluates the project's rules as often. */
  async start(target: string): Promise<this> {
    copyFileSync('dashboards/prometheus/rules.yaml', join(this.dir, 'rules.yaml'))
    writeFileSync(
      join(this.dir, 'prometheus.yml'),
      `global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yaml]\nscrape_configs:\n  - job_name: spanseal\n    static_configs: [{targets: ["${target}"]}]\n`,
    )
    this.port = await freePort()
    let said = ''
    this.child = spawn(
      'prometheus',
      [
        `--config.file=${join(this.dir, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(this.dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${this.port}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk).slice(-8_000)
    })
    const deadline = Date.now() + READY_MS
    while (!(await fetch(`http://127.0.0.1:${this.port}/-/ready`).catch(() => null))?.ok) {
      if (this.child.exitCode !== null || Date.now() > deadline) throw new Error(`prometheus is not ready: ${said}`)
      await sleep(50)
    }
    return this
  }

  /** The answer to an instant query. Throws with Prometheus's own words when it can't be parsed or run. */
  async query(promql: string): Promise<Answer[]> {
    const { result } = (await this.get(`/api/v1/query?query=${encodeURIComponent(promql)}`)) as {
      result: { metric: Record<string, string>; value: [number, string] }[]
    }
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }

  /** Names of the alerts that fire. */
  async firing(): Promise<string[]> {
    const { alerts } = (await this.get('/api/v1/alerts')) as {
      alerts: { state: string; labels: Record<string, string> }[]
    }
    return [
      ...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname ?? '')),
    ].sort()
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`)
    const answer = (await response.json()) as { status: string; data: unknown; error?: string }
    if (answer.status !== 'success') throw new Error(answer.error ?? `${path} answered ${response.status}`)
    return answer.data
  }

  /** Waits until it holds. */
  async until(what: string, holds: () => Promise<boolean>, ms = 60_000): Promise<void> {
    const deadline = Date.now() + ms
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`in vain waited for: ${what}`)
      await sleep(250)
    }
  }

  async remove(): Promise<void> {
    const { child } = this
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await gone
    }
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/** Runs promtool; its exit code and all it said. */
export function promtool(args: string[], input?: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    encoding: 'utf8',
    ...(input === undefined ? {} : { input }),
  })
  return { status, said: `${stdout}${stderr}` }
}
