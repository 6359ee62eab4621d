// Staging hook and collector into a home, so that they run without the folder they came from.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { encodeAnswer } from '../../conventions/wire.ts'
import { findCurl, type StageOptions, stageBin } from '../../hooks/stage.ts'
import { run } from './support/installed.ts'
import { reply, standIn } from './support/stand-in.ts'

let root: string
let options: StageOptions
beforeEach(async () => {
  root = mkdtempSync(`${tmpdir()}/sps-`)
  const sourceDir = `${root}/checkout/dist`
  mkdirSync(sourceDir, { recursive: true })
  mkdirSync(`${root}/home's bin`)
  // Stand-ins for the bundles; the package is a small one of the same shape as DuckDB's, with an absent optional part.
  for (const name of [
    'spanseal.mjs',
    'collector.cjs',
    'collector-code.cjs',
    'up.cjs',
    'forward-worker.mjs',
    'index-worker.mjs',
    'otlp-worker.mjs',
    'pass-worker.mjs',
    'index-direct.mjs',
  ])
    writeFileSync(`${sourceDir}/${name}`, `// ${name}`)
  await build({ entryPoints: ['hooks/node/hook.ts'], bundle: true, platform: 'node', outfile: `${sourceDir}/hook.cjs` })
  writeFileSync(`${sourceDir}/hook.sh`, readFileSync('hooks/sh/hook.sh'))
  fakePackage('@duckdb/node-api', '1.0.0', { dependencies: { '@duckdb/node-bindings': '*' } })
  fakePackage('@duckdb/node-bindings', '1.0.0', {
    dependencies: { 'detect-libc': '*' },
    optionalDependencies: { '@duckdb/node-bindings-here': '*', '@duckdb/node-bindings-elsewhere': '*' },
  })
  fakePackage('@duckdb/node-bindings-here', '1.0.0', {})
  fakePackage('detect-libc', '2.0.0', {})
  options = {
    home: `${root}/home's bin`,
    userHome: root,
    hookSocket: `${root}/hook.sock`,
    version: '0.1.0',
    sourceDir,
    mode: 'enforce',
    failMode: 'closed',
  }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function fakePackage(name: string, version: string, more: object): void {
  const folder = `${root}/checkout/node_modules/${name}`
  mkdirSync(`${folder}/lib`, { recursive: true })
  writeFileSync(`${folder}/package.json`, JSON.stringify({ name, version, main: 'lib/index.js', ...more }))
  writeFileSync(`${folder}/lib/index.js`, `module.exports = ${JSON.stringify(`${name} ${version}`)}`)
}

it.each([undefined, null])('the staged hook works when its source is gone (curl: %s)', async (curl) => {
  const staged = stageBin(curl === null ? { ...options, curl } : options)
  rmSync(`${root}/checkout`, { recursive: true })
  expect(staged).toMatchObject({ dir: `${options.home}/bin/0.1.0`, kind: curl === null ? 'node' : 'sh' })
  expect(staged.cli).toBe(`${staged.dir}/spanseal.mjs`)
  const server = await standIn(options.hookSocket, reply('200 OK', encodeAnswer({ kind: 'block', text: 'no' })))
  const ran = await run(staged.command, 'PreToolUse', '{}', { env: { NODE_OPTIONS: '--require=/nowhere' } })
  expect(ran).toEqual({ status: 2, stdout: '', stderr: 'no\n' })
  await server.close()
  expect(createRequire(`${staged.dir}/x.js`)('@duckdb/node-api')).toBe('@duckdb/node-api 1.0.0')
})

it('files are private, packages complete, nothing is left over', () => {
  const { dir } = stageBin(options)
  const mode = (name: string) => (statSync(`${dir}/${name}`).mode & 0o777).toString(8)
  expect(mode('')).toBe('700')
  expect(mode('hook.sh')).toBe('700')
  expect(mode('spanseal.mjs')).toBe('700')
  for (const name of [
    'collector.cjs',
    'collector-code.cjs',
    'up.cjs',
    'forward-worker.mjs',
    'index-worker.mjs',
    'otlp-worker.mjs',
    'pass-worker.mjs',
    'index-direct.mjs',
    'hook.cjs',
    'hook.json',
  ])
    expect(mode(name)).toBe('600')
  expect(readdirSync(`${dir}/node_modules`).sort()).toEqual(['@duckdb', 'detect-libc'])
  expect(readdirSync(`${dir}/node_modules/@duckdb`).sort()).toEqual(['node-api', 'node-bindings', 'node-bindings-here'])
  expect(readdirSync(dir).filter((name) => name.startsWith('.'))).toEqual([])
  expect(readdirSync(`${options.home}/bin`)).toEqual(['0.1.0'])
})

it('records the absolute runtime and the settings', () => {
  const { dir, runtime } = stageBin({ ...options, failMode: 'open' })
  expect(runtime).toMatch(/^\//)
  expect(JSON.parse(readFileSync(`${dir}/hook.json`, 'utf8'))).toEqual({
    ...{ home: options.home, userHome: root, hookSocket: options.hookSocket, mode: 'enforce', failMode: 'open' },
    ...{ runtime, cli: `${dir}/spanseal.mjs` },
  })
  expect(readFileSync(`${dir}/hook.sh`, 'utf8')).toContain('fail_mode=open\n')
})

it('a second time brings the same version up to date', () => {
  const { dir } = stageBin(options)
  writeFileSync(`${dir}/node_modules/detect-libc/kept`, '')
  fakePackage('@duckdb/node-api', '1.0.1', {})
  stageBin({ ...options, mode: 'observe' })
  expect(readFileSync(`${dir}/hook.sh`, 'utf8')).toContain('mode=observe\n')
  expect(createRequire(`${dir}/x.js`)('@duckdb/node-api')).toBe('@duckdb/node-api 1.0.1')
  expect(existsSync(`${dir}/node_modules/detect-libc/kept`)).toBe(true)
  expect(readdirSync(`${dir}/node_modules/@duckdb`).sort()).toEqual(['node-api', 'node-bindings', 'node-bindings-here'])
  expect(readdirSync(dir).filter((name) => name.startsWith('.'))).toEqual([])
})

it('something missing is named, and leaves nothing half', () => {
  rmSync(`${options.sourceDir}/collector.cjs`)
  expect(() => stageBin(options)).toThrow('collector.cjs is missing')
  expect(readdirSync(`${options.home}/bin`)).toEqual([])
  writeFileSync(`${options.sourceDir}/collector.cjs`, '')
  rmSync(`${root}/checkout/node_modules/detect-libc`, { recursive: true })
  expect(() => stageBin(options)).toThrow('detect-libc is not installed')
  expect(readdirSync(`${options.home}/bin`)).toEqual([])
})

it('takes only a curl that runs and can speak over Unix sockets', () => {
  const fake = (name: string, script: string) => {
    writeFileSync(`${root}/${name}`, `#!/bin/sh\n${script}\n`)
    chmodSync(`${root}/${name}`, 0o755)
    return `${root}/${name}`
  }
  const old = fake('old', 'echo "curl 7.1"; echo "Features: IPv6 NTLM"')
  const broken = fake('broken', 'exit 1')
  const good = fake('good', 'echo "curl 8"; echo "Features: IPv6 UnixSockets libz"')
  expect(findCurl([`${root}/none`, root, broken, old])).toBeNull()
  expect(findCurl([old, good])).toBe(good)
})
