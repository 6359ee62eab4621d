// Generated files are what the registry says now, and every spanseal.* name in the code is in the registry.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generatedFiles } from '../collector/generate.ts'
import { readRegistry } from '../conventions/generate.ts'
import { METRICS } from '../conventions/metrics.ts'

it('are up to date (npm run generate)', () => {
  for (const [path, text] of generatedFiles())
    expect(readFileSync(path, 'utf8'), `${path} is stale: npm run generate`).toBe(text)
})

function sources(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name)
    return statSync(path).isDirectory() ? sources(path) : path.endsWith('.ts') ? [path] : []
  })
}

/** Dotted names under our prefix that are no attributes: scopes, HTTP and file names, evidence log events. */
const OTHER_NAMES = new Set([
  'spanseal.hooks',
  'spanseal.gate',
  'spanseal.approval',
  'spanseal.gap',
  'spanseal.violation',
  'spanseal.mjs',
  'spanseal.duckdb',
  'spanseal.log',
  'spanseal.collector',
  'spanseal.hooks.claude-code',
])

it('name every spanseal.* attribute and metric the code uses', () => {
  const attributes = readRegistry().groups.flatMap(({ attributes }) => attributes.map(({ id }) => id))
  const known = new Set([...attributes, ...Object.keys(METRICS)])
  const wrong: string[] = []
  for (const path of ['conventions', 'hooks', 'collector'].flatMap(sources)) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/['"`](spanseal\.[a-z_.-]+)['"`]/g)) {
      if (!known.has(name) && !OTHER_NAMES.has(name) && !name.endsWith('.')) wrong.push(`${path}: ${name}`)
    }
  }
  expect(wrong).toEqual([])
})

it('put every attribute into a class', () => {
  for (const group of readRegistry().groups)
    for (const { id, annotations } of group.attributes) expect(annotations.class, id).toBeTruthy()
})
