// A verifier written in Python from docs/evidence-format.md: it gives our verifier's answers, on golden files, on what a live
// collector wrote, and on mutated bundles.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyBundle } from '../../../collector/verify/index.ts'
import { CLI } from '../../support/cli.ts'
import { Collector, event, postToolUse, preToolUse } from '../../support/collector.ts'
import { runProgram } from './program.ts'

const PYTHON = process.env.SPANSEAL_TEST_PYTHON ?? 'python3'
const HERE = import.meta.dirname
const GOLDEN = resolve('test/fixtures/golden')
const SCHEMA = resolve('docs/schema/record.schema.json')
/** Mutated bundles; each is a process of its own. */
const MUTATIONS = 60

interface Opinion {
  status: string
  exit: number
  codes: string[]
}

let base: string
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'spanseal-stranger-'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function python(script: string, args: string[]): Promise<unknown> {
  const { stdout, stderr } = await runProgram(PYTHON, [join(HERE, script), ...args])
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

/** What the Python program says of a bundle. */
async function theirs(bundle: string, trust: string, checkpoint?: string): Promise<Opinion> {
  const seen = checkpoint === undefined ? [] : ['--checkpoint', checkpoint]
  return (await python('verify.py', [bundle, '--trust', trust, '--schema', SCHEMA, ...seen])) as Opinion
}

/** What our verifier says, in the same words. */
const opinion = (report: { status: string; exit: number; findings: { code: string }[] }): Opinion => ({
  status: report.status,
  exit: report.exit,
  codes: report.findings.map(({ code }) => code).sort(),
})

describe('the golden files', () => {
  it('has the published vectors right: strict JSON, JCS, RFC 8032, Wycheproof, CCTV', async () => {
    expect(await python('vectors.py', [resolve('test/fixtures/tlog')])).toEqual({
      counts: { strict: 29, jcs: 6, rfc8032: 4, wycheproof: 151, cctv: 914 },
      wrong: [],
    })
  })

  it('accepts a record of each type', async () => {
    const records = readFileSync(join(GOLDEN, 'records.jsonl'), 'utf8').trim().split('\n').length
    expect(await python('verify.py', ['--records', join(GOLDEN, 'records.jsonl'), '--schema', SCHEMA])).toEqual({
      records,
    })
  })

  it('has the bundle for intact', async () => {
    const report = JSON.parse(readFileSync(join(GOLDEN, 'run.report.json'), 'utf8'))
    expect(await theirs(join(GOLDEN, 'run.evidence.jsonl'), join(GOLDEN, 'trust'))).toEqual(opinion(report))
  })

  it.each(readdirSync(join(GOLDEN, 'negative')).filter((name) => /\.evidence\.jsonl(\.gz)?$/.test(name)))(
    'finds in %s what the report says, and nothing else',
    async (name) => {
      const beside = (ending: string) => join(GOLDEN, 'negative', name.replace(/\.evidence.*/, ending))
      const trust = existsSync(beside('.trust')) ? beside('.trust') : join(GOLDEN, 'trust')
      const checkpoint = existsSync(beside('.checkpoint')) ? beside('.checkpoint') : undefined
      const report = JSON.parse(readFileSync(beside('.report.json'), 'utf8'))
      expect(await theirs(join(GOLDEN, 'negative', name), trust, checkpoint)).toEqual(opinion(report))
    },
  )
})

describe('a live collector', () => {
  let collector: Collector
  let bundle: string
  let trust: string

  beforeAll(async () => {
    collector = await new Collector({ root: join(base, 'home') }).start()
    await collector.hook('UserPromptSubmit', event('S1', 'UserPromptSubmit', { prompt: 'push it' }))
    for (let i = 0; i < 5; i++) {
      await collector.hook('PreToolUse', preToolUse('S1', `c${i}`))
      await collector.hook('PostToolUse', postToolUse('S1', `c${i}`))
      await collector.hook('PreToolUse', preToolUse('S2', `c${i}`))
    }
    const asked = await collector.hook('PreToolUse', preToolUse('S1', 'push', 'git push origin main'))
    const id = /^spanseal\/1 hold (\S+)\n/.exec(asked.body)?.[1] ?? ''
    const waiting = collector.get(`/hook/wait/${id}`)
    await collector.admin('POST', `/approvals/${id}/approve`)
    expect((await waiting).body).toMatch(/^spanseal\/1 pass/)
    await collector.hook('PostToolUse', postToolUse('S1', 'push', 'git push origin main'))
    await collector.hook('SessionEnd', event('S1', 'SessionEnd'))
    bundle = join(base, 'live.jsonl')
    trust = join(base, 'trust')
    const decided = collector.records().find(({ type }) => type === 'tool.decided')
    const home = ['--home', collector.root]
    writeFileSync(trust, (await runProgram(process.execPath, [CLI, ...home, 'verify', '--print-trust'])).stdout)
    const open = `${decided?.log.seq}:args`
    const made = await runProgram(process.execPath, [CLI, ...home, 'export', 'S1', '-o', bundle, '--open', open])
    expect(made.stderr).toContain('It discloses 1 piece of content.')
  })
  afterAll(() => collector.remove())

  it('is verified from its bundle alone: records, the approval, disclosed content', async () => {
    expect(await theirs(bundle, trust)).toEqual({ status: 'intact', exit: 0, codes: ['approval.unauthenticated'] })
  })

  it('gives bundles of which both say the same after any change', async () => {
    const lines = readFileSync(bundle, 'utf8').split('\n')
    const pins = readFileSync(trust, 'utf8')
    const changed = join(base, 'changed.jsonl')
    const changes = fc.oneof(
      fc.record({ how: fc.constant('byte'), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ how: fc.constantFrom('drop', 'double', 'swap'), at: fc.nat(), by: fc.nat() }),
    )
    await fc.assert(
      fc.asyncProperty(changes, async ({ how, at, by }) => {
        const copy = [...lines]
        const i = at % (copy.length - 1)
        if (how === 'drop') copy.splice(i, 1)
        if (how === 'double') copy.splice(i, 0, copy[i] ?? '')
        if (how === 'swap') copy.push(...copy.splice(i, 1))
        const bytes = Buffer.from(copy.join('\n'))
        if (how === 'byte') bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ by
        writeFileSync(changed, bytes)
        const ours = opinion(await verifyBundle({ path: changed }, { trust: pins }))
        expect({ how, at, by, ...(await theirs(changed, trust)) }).toEqual({
          how,
          at,
          by,
          ...ours,
          codes: ours.exit === 2 ? [] : ours.codes,
        })
        expect(ours.exit).toBeGreaterThan(0)
      }),
      { numRuns: MUTATIONS },
    )
  })
})
