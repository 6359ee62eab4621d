// Any single change of a random log is found, an untouched one never raises a finding, and no bytes at all crash the verifier.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { exportBundle, renderReport, verifyBundle, verifyHome } from '../../collector/verify/index.ts'
import { homePaths } from '../../conventions/home.ts'
import { freshFolder, keyOfSeed, RUN_A, RUN_B, removeFolders, TestLog } from './support.ts'

afterAll(removeFolders)

/** How much longer than the short run; the long run of CI asks for more. */
const TIMES = Number(process.env.SPANSEAL_TEST_PROPERTIES ?? 1)
/** Milliseconds for one property. */
const TIMEOUT = 60_000 * TIMES

const KEYS = { log: keyOfSeed(1), record: keyOfSeed(2) }

/** One step of a random session. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    run: fc.nat(1),
    args: fc.string({ maxLength: 20 }),
    ran: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('import' as const), bytes: fc.nat(1_000) }),
  fc.record({ kind: fc.constant('gap' as const), run: fc.nat(1) }),
  fc.record({ kind: fc.constant('checkpoint' as const) }),
)

/** A log of random steps: two runs, both closed, a checkpoint over everything at the end. Nothing in it asks for a warning. */
const logs = fc.array(step, { maxLength: 12 }).map((steps) => {
  const log = new TestLog(KEYS)
  const runs = [log.openRun(RUN_A), log.openRun(RUN_B)] as const
  for (const [i, part] of steps.entries()) {
    if (part.kind === 'call') {
      const decided = log.decide(runs[part.run === 0 ? 0 : 1], `c${i}`, part.ran ? 'allow' : 'deny', part.args)
      if (part.ran) log.complete(runs[part.run === 0 ? 0 : 1], `c${i}`, decided, part.args)
    }
    if (part.kind === 'import') {
      log.add(
        'spans.imported',
        { count: 1, rejected: 0, encoding: 'json', bytes: part.bytes, spoofed: 0 },
        { source: { kind: 'otlp' }, contents: [{ name: 'body', text: '{}' }] },
      )
    }
    if (part.kind === 'gap') log.add('gap', { kind: 'late_activity', count: 1 }, { run: runs[part.run === 0 ? 0 : 1] })
    if (part.kind === 'checkpoint') log.checkpoint()
  }
  for (const run of runs) log.closeRun(run)
  log.checkpoint()
  return log
})

/** Files of a home that evidence lies in. */
const evidenceFiles = (root: string) => {
  const home = homePaths(root)
  return [...[home.log, home.vault].flatMap((dir) => readdirSync(dir).map((name) => `${dir}/${name}`))].sort()
}

const once = async <T>(use: (root: string) => Promise<T>): Promise<T> => {
  const root = freshFolder()
  try {
    return await use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const verify = (log: TestLog, perSegment = 4) =>
  once((root) => verifyHome({ root: log.write(root, perSegment), trust: log.trust }))

describe('a random log', { timeout: TIMEOUT }, () => {
  it('raises no finding when nobody touched it', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.integer({ min: 1, max: 30 }), async (log, perSegment) => {
        const report = await verify(log, perSegment)
        expect(report.findings).toEqual([])
        expect(report).toMatchObject({ status: 'intact', exit: 0 })
      }),
      { numRuns: 60 * TIMES },
    )
  })

  it('shows any single bit that changed, in any of its files', async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.integer({ min: 1, max: 30 }),
        fc.nat(),
        fc.nat(),
        fc.nat(7),
        (log, perSegment, file, at, bit) =>
          once(async (root) => {
            log.write(root, perSegment)
            const files = evidenceFiles(root).filter((path) => readFileSync(path).length > 0)
            const path = files[file % files.length] ?? ''
            const bytes = readFileSync(path)
            bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit)
            writeFileSync(path, bytes)
            const report = await verifyHome({ root, trust: log.trust })
            expect(report.findings.length + (report.status === 'unusable' ? 1 : 0)).toBeGreaterThan(0)
          }),
      ),
      { numRuns: 400 * TIMES },
    )
  })

  it('shows a record that was removed, doubled or swapped with another, at any place', async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.constantFrom('remove', 'double', 'swap'),
        fc.nat(),
        fc.nat(),
        async (log, how, first, second) => {
          const { records, trust } = log
          const [i, j] = [first % records.length, second % records.length]
          const [a, b] = [records[i], records[j]]
          if (a === undefined || b === undefined) return
          if (how === 'remove') records.splice(i, 1)
          if (how === 'double') records.splice(j, 0, a)
          if (how === 'swap') {
            fc.pre(i !== j)
            records[i] = b
            records[j] = a
          }
          const report = await once((root) => verifyHome({ root: log.write(root, 4), trust }))
          expect(report.status).toBe('broken')
        },
      ),
      { numRuns: 400 * TIMES },
    )
  })

  it('never crashes on mutated bytes, and always has words for them', async () => {
    const cut = fc.record({ at: fc.nat(), length: fc.nat(300), insert: fc.uint8Array({ maxLength: 300 }) })
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.tuple(fc.nat(), cut), { minLength: 1, maxLength: 4 }),
        (log, perSegment, cuts) =>
          once(async (root) => {
            log.write(root, perSegment)
            const { checkpoint, checkpoints } = homePaths(root)
            const paths = [...evidenceFiles(root), checkpoint, checkpoints]
            for (const [file, { at, length, insert }] of cuts) {
              const path = paths[file % paths.length] ?? ''
              const bytes = readFileSync(path)
              const from = at % (bytes.length + 1)
              writeFileSync(path, Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + length)]))
            }
            const report = await verifyHome({ root, trust: log.trust })
            expect([0, 1, 2]).toContain(report.exit)
            expect(renderReport(report)).toMatch(/^(Integrity|Unusable) /)
          }),
      ),
      { numRuns: 200 * TIMES },
    )
  })
})

describe('the bundle of a random log', { timeout: TIMEOUT }, () => {
  it('proves its run, and shows any byte that changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.constantFrom(RUN_A, RUN_B),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (log, id, at, change) =>
          once(async (root) => {
            const result = exportBundle({ root: log.write(root, 4), run: { id } })
            if (!result.ok) throw new Error(result.message)
            const text = [...result.lines].join('')
            const good = await verifyBundle({ text }, { trust: log.trust })
            expect(good.findings).toEqual([])
            expect(good.status).toBe('intact')
            const path = `${root}/changed.jsonl`
            const bytes = Buffer.from(text)
            bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ change
            writeFileSync(path, bytes)
            const report = await verifyBundle({ path }, { trust: log.trust })
            expect([1, 2]).toContain(report.exit)
            expect(renderReport(report)).toMatch(/^(Integrity|Unusable) /)
          }),
      ),
      { numRuns: 200 * TIMES },
    )
  })
})
