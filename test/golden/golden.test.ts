// The golden files: bytes that other people's programs were checked with. They are verified as they lie there, and made again to the
// same bytes. `SPANSEAL_WRITE_GOLDEN=1 npx vitest run test/golden` writes them anew, where the format was changed on purpose.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CODES, type Code } from '../../collector/verify/findings.ts'
import { type Report, renderReport, verifyBundle, verifyHome } from '../../collector/verify/index.ts'
import { readRecord } from '../../collector/verify/read-record.ts'
import { REPORT } from '../../collector/verify/report-schema.ts'
import { isKnownType } from '../../conventions/record.ts'
import { freshFolder, leafOf, removeFolders } from '../verify/support.ts'
import { everyType, goldenLog } from './logs.ts'
import { BUNDLES, bundleLines, HOMES, OPEN, writeHome } from './negatives.ts'

const DIR = join(import.meta.dirname, '../fixtures/golden')
const NOW = new Date('2026-12-01T00:00:00.000Z')
const WRITE = process.env.SPANSEAL_WRITE_GOLDEN === '1'

afterAll(removeFolders)
if (WRITE) for (const name of ['home', 'negative']) rmSync(join(DIR, name), { recursive: true, force: true })

/** Compares a golden file, or writes it. */
function golden(name: string, content: string | Uint8Array): void {
  const path = join(DIR, name)
  if (WRITE) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  const bytes = Buffer.from(content)
  expect(existsSync(path) && readFileSync(path).equals(bytes), `${name} is as it was`).toBe(true)
}

/** All files of a folder, by their path in it. */
function filesOf(root: string): string[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(root, name)).isFile())
    .sort()
}

function goldenHome(name: string, write: (root: string) => void): void {
  const root = freshFolder()
  write(root)
  for (const file of filesOf(root)) golden(`${name}/${file}`, readFileSync(join(root, file)))
  expect(filesOf(join(DIR, name))).toEqual(filesOf(root))
}

function goldenReport(name: string, report: Report): void {
  // As the published schema says: neither a member more nor one less.
  expect(REPORT.safeParse(JSON.parse(JSON.stringify(report))).error?.issues ?? []).toEqual([])
  golden(`${name}.report.json`, `${JSON.stringify(report, null, 1)}\n`)
  golden(`${name}.report.txt`, renderReport(report))
}

const codes = (report: Report) => report.findings.map(({ code }) => code)

describe('the golden log', () => {
  it('is a home that is intact', async () => {
    golden('trust', goldenLog().trust)
    goldenHome('home', writeHome)
    const report = await verifyHome({ root: join(DIR, 'home'), trust: goldenLog().trust, now: NOW })
    expect(report).toMatchObject({ status: 'intact', exit: 0, content: { matched: 7 } })
    goldenReport('home', report)
  })

  it('has a bundle that is intact', async () => {
    golden('run.evidence.jsonl', bundleLines(goldenLog(), OPEN).join(''))
    const report = await verifyBundle({ path: join(DIR, 'run.evidence.jsonl') }, { trust: goldenLog().trust, now: NOW })
    expect(report).toMatchObject({ status: 'intact', exit: 0, content: { matched: 2 } })
    goldenReport('run', report)
  })

  it('has a record of each type so far, and one of a type to come', () => {
    const log = everyType()
    const lines = log.records.map(({ kid, signature, record }) => {
      const read = readRecord(record)
      expect(read.problem).toBeNull()
      return JSON.stringify({
        type: read.envelope?.type,
        known: read.known,
        payload: Buffer.from(record).toString('base64'),
        keyid: `sha256:${Buffer.from(kid).toString('hex')}`,
        sig: Buffer.from(signature).toString('base64'),
        leaf: leafOf(record).toString('base64'),
      })
    })
    const types = lines.map((line) => String(JSON.parse(line).type))
    // A type that was published stays readable; new ones are added to everyType().
    expect(new Set(types.filter((type) => isKnownType(type))).size).toBe(39)
    expect(types).toContain('future.type')
    golden('records.jsonl', `${lines.join('\n')}\n`)
  })
})

describe('one negative for each code', () => {
  it('is there', () => {
    const have = new Set([...Object.keys(BUNDLES), ...Object.keys(HOMES)])
    // What copies elsewhere say needs a place elsewhere; a changed database is tried on a real one (test/e2e/tamper.test.ts).
    const needed = Object.keys(CODES).filter((code) => !code.startsWith('copy.') && code !== 'index.drift')
    expect(needed.filter((code) => !have.has(code))).toEqual([])
  })

  it.each(Object.entries(BUNDLES))('%s, in a bundle', async (code, make) => {
    const { bundle, trust = goldenLog().trust, seen } = make()
    const gzipped = bundle[0] === 0x1f
    const name = `negative/${code}`
    // How a compressor packs is not ours to fix; what is in it is.
    if (!gzipped || WRITE) golden(`${name}.evidence.jsonl${gzipped ? '.gz' : ''}`, bundle)
    if (trust !== goldenLog().trust) golden(`${name}.trust`, trust)
    if (seen !== undefined) golden(`${name}.checkpoint`, seen)
    const path = join(DIR, `${name}.evidence.jsonl${gzipped ? '.gz' : ''}`)
    const report = await verifyBundle({ path }, { trust, now: NOW, ...(seen === undefined ? {} : { seen: [seen] }) })
    expectNamed(code as Code, report)
    goldenReport(name, report)
  })

  it.each(Object.entries(HOMES))('%s, in a home', async (code, write) => {
    const name = `negative/${code}.home`
    goldenHome(name, write)
    const report = await verifyHome({ root: join(DIR, name), trust: goldenLog().trust, now: NOW })
    expectNamed(code as Code, report)
    goldenReport(`negative/${code}`, report)
  })
})

function expectNamed(code: Code, report: Report): void {
  expect(codes(report)).toContain(code)
  const [severity] = CODES[code]
  expect(report.exit).toBe(report.status === 'broken' ? 1 : severity === 'enforcement' ? 3 : 0)
  expect(report.status).toBe(severity === 'broken' ? 'broken' : 'intact')
}
