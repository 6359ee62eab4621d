// What a reload, or a start, reads. A file that is there and can't be read is never taken for one that is not.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readFiles } from '../collector/reload.ts'
import { homePaths } from '../conventions/home.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spanseal-test-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it('takes the built-in policy and the defaults where there are no files', () => {
  expect(readFiles(homePaths(root))).toMatchObject({ ok: true, gate: { origin: 'builtin' } })
})

it.each(['policy.yaml', 'config.yaml'])('refuses a %s that is a link to nowhere', (name) => {
  symlinkSync(join(root, 'nowhere'), join(root, name))
  expect(readFiles(homePaths(root))).toEqual({
    ok: false,
    errors: [expect.stringMatching(new RegExp(`^${name}: .*can't be read \\(ENOENT\\)`))],
  })
})
