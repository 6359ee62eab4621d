import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { findInFile } from '../../collector/readback/file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'spanseal-test-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true, force: true })
})

const request = (...spans: string[]) => ({
  resourceSpans: [
    { scopeSpans: [{ spans: spans.map((name) => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), name })) }] },
  ],
})

async function find(text: string) {
  const path = join(dir, 'copies.json')
  writeFileSync(path, text)
  const { copies, notChecked } = await findInFile(path)
  return { names: copies.map(({ name }) => name), notChecked }
}

it('finds copies in requests of one line and of several, whatever broken line stands between', async () => {
  const lines = [
    JSON.stringify(request('a')),
    'no JSON',
    '{"resourceSpans": [}',
    JSON.stringify(request('b "{[', 'c\\'), null, 2),
    '',
    JSON.stringify(request('d')),
    '{"resourceSpans": [',
  ]
  const { names, notChecked } = await find(lines.join('\n'))
  expect(names).toEqual(['a', 'b "{[', 'c\\', 'd'])
  expect(notChecked).toEqual(['3 lines that are no JSON'])
})

it('parses a request of many lines once, not again with each line', async () => {
  const text = JSON.stringify(request(...Array.from({ length: 500 }, (_, i) => `s${i}`)), null, 2)
  const parsed = vi.spyOn(JSON, 'parse')
  const { names } = await find(text)
  expect(names).toHaveLength(500)
  expect(parsed.mock.calls.length).toBeLessThan(5)
})
