// Forwarders for tests: a clock whose waits take no time and are written down, a cursor file in a temporary folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../collector/forward/delivery.ts'
import type { Destination } from '../../collector/forward/destination.ts'
import { Forwarder, type ForwarderSettings } from '../../collector/forward/forwarder.ts'
import type { EncodedSpan } from '../../collector/forward/request.ts'
import { SpanFold } from '../../collector/forward/spans.ts'
import { traces } from '../../collector/forward/traces.ts'
import type { Span } from '../../conventions/otlp.ts'
import { MemoryLog, Session } from './support.ts'

/** 30 Nov 2026, 00:00 UTC. */
export const NOW = Date.UTC(2026, 10, 30)

/** Stand-in clock: stands still; waits end at once, or, while `frozen`, only when the signal fires. */
class StandInClock implements Clock {
  readonly waits: number[] = []
  frozen = false
  now(): number {
    return NOW
  }
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.waits.push(ms)
    await delay(1)
    if (!this.frozen || signal.aborted) return
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }
}

export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'spanseal-forward-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export interface Rig {
  forwarder: Forwarder
  clock: StandInClock
  stateFile: string
  lines: string[]
}

/** A started forwarder; stopped when the test ends. */
export function forward(
  log: MemoryLog,
  url: string,
  {
    destination,
    ...settings
  }: Partial<Omit<ForwarderSettings<EncodedSpan>, 'destination'>> & {
    destination?: Partial<Destination>
  } = {},
): Rig {
  const clock = new StandInClock()
  const lines: string[] = []
  const stateFile = settings.stateFile ?? join(temporaryFolder(), 'backend.json')
  const forwarder = new Forwarder({
    name: 'backend',
    destination: { url, protocol: 'http/json', evidence: 'attribute', content: false, headers: {}, ...destination },
    signal: traces({ evidence: true }),
    source: log,
    checkpoint: () => undefined,
    resourceAttributes: {},
    version: '0.1.0',
    clock,
    log: (line) => lines.push(line),
    ...settings,
    stateFile,
  })
  forwarder.start()
  onTestFinished(() => forwarder.stop({ drainMs: 0 }))
  return { forwarder, clock, stateFile, lines }
}

/** Waits until it holds; the test's own time limit ends it otherwise. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(2)
}

export const idle = ({ forwarder }: Rig) => until(() => forwarder.status().state === 'idle')

/** A log of `turns` turns of one call each: three spans a turn. */
export function logOfTurns(turns: number): MemoryLog {
  const log = new MemoryLog()
  const session = new Session(log).open()
  for (let turn = 0; turn < turns; turn++)
    session.prompt(`t${turn}`).decide(`c${turn}`).complete(`c${turn}`).closeTurn()
  return log
}

/** All spans of a log. */
export function spansOfLog(log: MemoryLog, checkpoint?: string): Span[] {
  const fold = new SpanFold()
  return log.entries.flatMap((entry) => fold.apply(entry, checkpoint))
}
