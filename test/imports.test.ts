// The shape of the project, as ARCHITECTURE says it: data flows one way, steps do not import one another, conventions know nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const STEPS = ['receive', 'gate', 'record', 'sign', 'store', 'forward', 'verify']
const ROOTS = ['conventions', 'hooks', 'collector']

function sources(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name)
    if (statSync(path).isDirectory()) return sources(path)
    return path.endsWith('.ts') ? [path] : []
  })
}

/** Import targets of a file: project paths, package names, node: modules. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  const found = [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"\n]*(?:\n[^'"\n]*)*?from\s+'([^']+)'/g),
    ...text.matchAll(/import\(\s*'([^']+)'/g),
    ...text.matchAll(/(?:^|\n)import\s+'([^']+)'/g),
  ]
  return found.map((match) => {
    const target = match[1] ?? ''
    return target.startsWith('.') ? normalize(join(dirname(path), target)) : target
  })
}

const step = (path: string) => STEPS.find((name) => path.startsWith(`collector/${name}/`))
const all = ROOTS.flatMap(sources).map((path) => ({ path, imports: importsOf(path) }))

describe('imports', () => {
  it('finds the files it judges', () => {
    expect(all.length).toBeGreaterThan(80)
    expect(all.find(({ path }) => path === 'collector/pipeline.ts')?.imports).toContain('conventions/claim.ts')
  })

  it('never lead from one step of the collector to another', () => {
    const wrong = all.flatMap(({ path, imports }) =>
      imports
        .filter((target) => step(path) !== undefined && step(target) !== undefined && step(path) !== step(target))
        .map((target) => `${path} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('never lead from a step or from hooks up to the wiring or the command line', () => {
    const wrong = all.flatMap(({ path, imports }) =>
      imports
        .filter(
          (target) =>
            (step(path) !== undefined || path.startsWith('hooks/')) &&
            target.startsWith('collector/') &&
            step(target) === undefined,
        )
        .map((target) => `${path} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('never lead from hooks into the collector', () => {
    const wrong = all.flatMap(({ path, imports }) =>
      path.startsWith('hooks/')
        ? imports.filter((target) => target.startsWith('collector/')).map((target) => `${path} -> ${target}`)
        : [],
    )
    expect(wrong).toEqual([])
  })

  it('of conventions name only zod: no files, no network, no database', () => {
    // The generator is a tool of the build, not part of the contract.
    const contract = all.filter(
      ({ path }) => path.startsWith('conventions/') && !path.startsWith('conventions/generate'),
    )
    const wrong = contract.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target !== 'zod' && !target.startsWith('conventions/'))
        .map((target) => `${path} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('of the verifier share nothing with the writer but conventions', () => {
    const wrong = all.flatMap(({ path, imports }) =>
      step(path) === 'verify'
        ? imports
            .filter(
              (target) =>
                (target.startsWith('collector/') && !target.startsWith('collector/verify/')) ||
                target.startsWith('hooks/'),
            )
            .map((target) => `${path} -> ${target}`)
        : [],
    )
    expect(wrong).toEqual([])
  })

  it('of the Node hook bring in nothing that is slow to start', () => {
    const seen = new Set<string>()
    const visit = (path: string) => {
      if (seen.has(path)) return
      seen.add(path)
      for (const target of all.find((file) => file.path === path)?.imports ?? []) visit(target)
    }
    visit('hooks/node/hook.ts')
    expect([...seen].filter((target) => !target.startsWith('node:') && !/^(hooks|conventions)\//.test(target))).toEqual(
      [],
    )
  })
})
