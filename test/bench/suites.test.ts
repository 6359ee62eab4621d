// Each suite runs on the built files and prints its table. Rounds are tiny and figures worthless: none is asserted.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { main } from '../../bench/main.ts'
import { SUITES, TARGETS } from '../../bench/targets.ts'

interface Row {
  id: string
  value?: number | null
  verdict: string
  shown: string
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanseal-bench-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it.each(SUITES)('the suite %s runs', { timeout: 5 * 60_000 }, (suite) => {
  const out = join(folder, 'out.json')
  const ran = spawnSync(process.execPath, ['bench/run.mjs', suite, '--tiny', '--out', out], { encoding: 'utf8' })
  expect(ran.stderr).not.toContain('could not run')
  expect(ran.status).toBe(0)
  const { rows }: { rows: Row[] } = JSON.parse(readFileSync(out, 'utf8'))
  const wanted = TARGETS.filter((target) => target.suite === suite)
  expect(rows.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
  for (const { figure } of wanted) expect(ran.stdout).toContain(figure)
  for (const { verdict, value, shown } of rows) {
    if (verdict === 'not run') expect(shown).not.toBe('')
    else expect(value).toEqual(expect.any(Number))
  }
})

it('ends with 1 when a suite could not run, and says so in the table', async () => {
  mkdirSync(join(folder, 'dist'))
  for (const name of ['collector.cjs', 'spanseal.mjs']) {
    writeFileSync(join(folder, 'dist', name), 'console.error("broken on purpose"); process.exitCode = 1')
  }
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    const out = join(folder, 'out.json')
    const code = await main(['query', 'start', '--tiny', '--out', out], { root: folder, children: join(folder, 'run') })
    expect(code).toBe(1)
    const { rows }: { rows: Row[] } = JSON.parse(readFileSync(out, 'utf8'))
    expect(rows.find(({ id }) => id === 'start.up')).toMatchObject({ verdict: 'not run' })
    expect(rows.find(({ id }) => id === 'start.up')?.shown).toContain('broken on purpose')
    // The other suite is not lost.
    expect(rows.find(({ id }) => id === 'query.run')?.verdict).not.toBe('not run')
    expect(printed.mock.calls.join('\n')).toContain('the suite failed')
  } finally {
    vi.restoreAllMocks()
  }
})

it('takes no suite or option it does not know', async () => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    expect(await main(['hok'], { root: folder, children: folder })).toBe(2)
    expect(await main(['--out'], { root: folder, children: folder })).toBe(2)
    expect(told.mock.calls.join('\n')).toContain('usage')
    expect(await main(['query'], { root: folder, children: folder })).toBe(1)
  } finally {
    vi.restoreAllMocks()
  }
})
