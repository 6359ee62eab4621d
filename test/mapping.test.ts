// The page that says which records help with which duty names only records there are.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BODIES } from '../conventions/record.ts'

it('names record types that exist, and says that no tool alone complies', () => {
  const page = readFileSync('docs/mapping.md', 'utf8')
  const named = [...page.matchAll(/`([a-z]+\.[a-z]+)`/g)].map((match) => match[1] ?? '')
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((type) => !Object.hasOwn(BODIES, type))).toEqual([])
  expect(page).toContain('No tool alone complies')
  expect(page).not.toMatch(/tamper-proof|immutable/)
})
