// A home in use, with its journal: hooks that are answered, so that a test can ask which of them a later image must hold.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { ExportTraceServiceRequest, Span } from '../../../conventions/otlp.ts'
import { Collector, type CollectorSetup, event, postToolUse, preToolUse } from '../../support/collector.ts'
import { Disk, type Event } from './disk.ts'

const JOURNAL = pathToFileURL(resolve('test/e2e/power/journal.mjs')).href

/** Environment of a built process that writes down what it does under `root`. */
export function journaled(root: string, journal: string): Record<string, string> {
  writeFileSync(journal, '')
  return { NODE_OPTIONS: `--import ${JOURNAL}`, SPANSEAL_TEST_JOURNAL: journal, SPANSEAL_TEST_HOME: root }
}

export class Workload {
  readonly collector: Collector
  readonly disk: Disk
  /** What was answered, and read to its end: the record that must be there by its call id, `/done` for its completion. */
  readonly answered = new Set<string>()
  private readonly folder = mkdtempSync(join(tmpdir(), 'spanseal-journal-'))
  private next = 0
  private readonly name: string

  /** `name`: begins the ids of its calls. */
  constructor(name: string, setup: CollectorSetup) {
    this.name = name
    const journal = `${this.folder}/journal`
    const root = setup.root ?? mkdtempSync(join(tmpdir(), 'spanseal-e2e-'))
    this.collector = new Collector({
      ...setup,
      root,
      env: { PATH: '/usr/bin:/bin', HOME: root, ...journaled(root, journal) },
    })
    this.disk = new Disk(root, journal)
  }

  /** Sessions side by side, until `more` of them are answered; then `end` ends the process under them. */
  async run(sessions: number, more: number, end: () => Promise<void>): Promise<void> {
    let over = false
    const enough = this.answered.size + more
    const workers = Array.from({ length: sessions }, (_, worker) => this.session(`${this.name}-${worker}`, () => over))
    for (let waited = 0; this.answered.size < enough && waited < 6_000; waited++) await sleep(5)
    await end()
    over = true
    await Promise.all(workers)
  }

  private async session(session: string, over: () => boolean): Promise<void> {
    for (let turn = 0; !over(); turn++) {
      const id = `${this.name}-${this.next++}`
      // Some are larger than a sector, some than a page; every tenth may not run.
      const command = turn % 10 === 9 ? 'rm -rf /' : `ls ${'x'.repeat((turn * 797) % 6_000)}`
      try {
        if (turn % 6 === 0) await this.send('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: command }))
        await this.send('PreToolUse', preToolUse(session, id, command), id)
        if (turn % 10 !== 9) await this.send('PostToolUse', postToolUse(session, id, command), `${id}/done`)
        if (turn % 25 === 24) await this.send('SessionEnd', event(session, 'SessionEnd', { reason: 'clear' }))
      } catch {
        // The connection broke: nobody was told anything.
      }
    }
  }

  private async send(name: string, payload: object, tag = 'other'): Promise<void> {
    const reply = await this.collector.hook(name, payload, undefined, { 'x-test-tag': tag })
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status}`)
    if (!/^spanseal\/1 (pass|block)/.test(reply.body) || /refused|nothing was recorded/.test(reply.body)) return
    this.answered.add(tag)
  }

  /** Tags that had been answered before the cut. */
  answeredBefore(events: readonly Event[], cut: number): string[] {
    return events
      .slice(0, cut)
      .flatMap((event) => (event.op === 'answer' && this.answered.has(event.tag) ? [event.tag] : []))
  }

  async remove(): Promise<void> {
    await this.collector.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Spans that had left for the backend before the cut. */
export function sentBefore(events: readonly Event[], cut: number): Span[] {
  return events.slice(0, cut).flatMap((event) => {
    if (event.op !== 'sent') return []
    const body = Buffer.from(event.data, 'base64')
    // Compressed or not, by where it goes.
    const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString()
    const request = JSON.parse(text) as ExportTraceServiceRequest
    return request.resourceSpans.flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []))
  })
}

/** The built collector with segments of 64 KiB in place of 64 MiB, so that a test need not write a thousand times as much. */
export function smallSegments(): string {
  const folder = resolve('.cache/power')
  mkdirSync(folder, { recursive: true })
  for (const name of ['collector.cjs', 'index-worker.mjs', 'otlp-worker.mjs', 'forward-worker.mjs'])
    copyFileSync(`dist/${name}`, `${folder}/${name}`)
  const built = readFileSync('dist/collector-code.cjs', 'utf8')
  const parts = built.split('MAX_SEGMENT_BYTES=64*1024*1024')
  if (parts.length !== 2) throw new Error('the size of a segment is not where it was in the built collector')
  writeFileSync(`${folder}/collector-code.cjs`, parts.join('MAX_SEGMENT_BYTES=64*1024'))
  return `${folder}/collector.cjs`
}
