// A pipeline on a real log in a temporary home, with a stand-in gate: what it says is written in the call's arguments.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statedIn } from '../../collector/gate/index.ts'
import type { Gate } from '../../collector/gate-wiring.ts'
import { type OpenLog, openLog } from '../../collector/open-log.ts'
import { Pipeline } from '../../collector/pipeline.ts'
import type { Reporter } from '../../collector/record/context.ts'
import { recordStart } from '../../collector/startup.ts'
import { type Claim, claimAttributes } from '../../conventions/claim.ts'
import type { Decision } from '../../conventions/decision.ts'
import { type HomePaths, homePaths } from '../../conventions/home.ts'
import { LOG_START } from '../../conventions/log.ts'
import type { ExportTraceServiceRequest } from '../../conventions/otlp.ts'
import type { AnyRecord, RecordOf, RecordType } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { HookAnswer } from '../../conventions/wire.ts'
import { adapters } from '../../hooks/index.ts'

const POLICY_HASH = 'ab'.repeat(32)

type Judge = (claim: Claim) => { decision: Decision; rules: string[]; facts?: Json }

/** Stand-in for the policy: `!deny`, `!ask` or `!flag` in the arguments decides. */
const WRITTEN: Judge = (claim) => {
  const decision = /!(deny|ask|flag)/.exec(claim.args ?? '')?.[1] as Decision | undefined
  return decision === undefined
    ? { decision: 'allow', rules: [] }
    : { decision, rules: [`T-${decision.toUpperCase()}`] }
}

function standInGate(judge: Judge): Gate {
  const gate: Gate = {
    policyHash: POLICY_HASH,
    origin: 'builtin',
    rules: 1,
    stated: statedIn,
    decide: (_run, claim) => {
      const { decision, rules, facts = { tool: claim.tool ?? '' } } = judge(claim)
      return { decision, rules, policyHash: gate.policyHash, facts, explanation: `the test says ${decision}` }
    },
  }
  return gate
}

export const HOOK: Reporter = {
  kind: 'hook',
  adapter: 'claude-code',
  version: '1',
  mode: 'enforce',
  failMode: 'closed',
}

export class TestPipeline {
  readonly home: HomePaths
  now = Date.parse('2026-11-30T12:00:00Z')
  log: OpenLog
  pipeline: Pipeline
  failure: Error | undefined
  readonly faults: unknown[] = []

  readonly gate: Gate

  constructor({
    root = mkdtempSync(join(tmpdir(), 'spanseal-test-')),
    gate = WRITTEN,
  }: { root?: string; gate?: Judge } = {}) {
    this.gate = standInGate(gate)
    this.home = homePaths(root)
    ;({ log: this.log, pipeline: this.pipeline } = this.open())
  }

  private open(): { log: OpenLog; pipeline: Pipeline } {
    const log = openLog({
      home: this.home,
      now: () => this.now,
      onDurable: () => {},
      onFault: (error) => this.faults.push(error),
    })
    const pipeline = new Pipeline({
      log,
      gate: this.gate,
      adapters,
      now: () => this.now,
      settingsProblem: () => 'none',
      onFault: (error) => {
        this.faults.push(error)
      },
      onFailure: (error) => {
        this.failure = error
      },
    })
    return { log, pipeline }
  }

  async start(): Promise<this> {
    await recordStart({ log: this.log, pipeline: this.pipeline, gate: this.gate, version: '1' })
    return this
  }

  /** Opens the same home again, as after a crash (nothing said goodbye). */
  async reopen(): Promise<this> {
    await this.log.close()
    return this.reopenClosed()
  }

  /** The same for a log that is closed already. */
  async reopenClosed(): Promise<this> {
    ;({ log: this.log, pipeline: this.pipeline } = this.open())
    return this.start()
  }

  async claim(claim: Partial<Claim> & Pick<Claim, 'event'>, reporter: Reporter = HOOK): Promise<HookAnswer> {
    this.now += 10
    return (await this.pipeline.claims(requestOf({ agent: 'claude-code', session: 'S1', ...claim }), reporter)).answer
  }

  records(): AnyRecord[] {
    const out: AnyRecord[] = []
    let at = LOG_START
    for (;;) {
      const entries = this.log.reader.read(at, 1 << 20)
      const last = entries.at(-1)
      if (last === undefined) return out
      out.push(...entries.map(({ record }) => record))
      at = last.next
    }
  }

  /** Records of the agent's doings: without those of the collector's own start. */
  story(): AnyRecord[] {
    const own: RecordType[] = ['log.opened', 'collector.started', 'policy.loaded']
    return this.records().filter(({ type }) => !own.includes(type))
  }

  /** Records of one type, in order. */
  of<T extends RecordType>(type: T): RecordOf<T>[] {
    return this.story().filter((record) => record.type === type) as RecordOf<T>[]
  }

  types(): string[] {
    return this.story().map(({ type }) => type)
  }

  /** The live state as text: what a replay of the log must give again. */
  snapshot(): string {
    const { runs, approvals, imports, ordinals } = this.log.state
    return JSON.stringify(
      { runs: [...runs], approvals: [...approvals], imports: [...imports], ordinals },
      (key, value) => {
        // What the agent is told lives only while the collector does; a repeat after a restart gets a plainer text.
        if (key === 'live') return undefined
        if (value instanceof Map || value instanceof Set) return [...value]
        return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
      },
    )
  }

  async close(): Promise<void> {
    await this.log.close()
    rmSync(this.home.root, { recursive: true, force: true })
  }
}

/** One claim as the request an adapter would make of it. */
export function requestOf(claim: Claim): ExportTraceServiceRequest {
  return {
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                traceId: '1'.repeat(32),
                spanId: '1'.repeat(16),
                name: claim.event,
                startTimeUnixNano: '1',
                endTimeUnixNano: '0',
                attributes: claimAttributes(claim),
              },
            ],
          },
        ],
      },
    ],
  }
}
