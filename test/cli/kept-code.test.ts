// dist/collector.cjs, which a collector is started with: what V8 made of the code is kept, and used only for that code, undamaged.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'

/** A function that is called is compiled, so it is kept. */
const codeSaying = (word: string) =>
  `const says = () => '${word}'; console.log(says(), typeof require, __filename, process.argv[2]); require('./more.cjs')`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/spanseal-kept-`)
  // The built file, but it keeps at once what it else keeps after a while.
  const built = readFileSync('dist/collector.cjs', 'utf8').split('KEEP_AFTER_MS=2e3')
  if (built.length !== 2) throw new Error('the time is not where it was in the built file')
  writeFileSync(`${folder}/collector.cjs`, built.join('KEEP_AFTER_MS=1'))
  writeFileSync(`${folder}/collector-code.cjs`, codeSaying('one'))
  writeFileSync(`${folder}/more.cjs`, "console.log('more'); setTimeout(() => {}, 200)")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const kept = () => `${folder}/collector-code.cache`

function start(...flags: string[]): string {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, `${folder}/collector.cjs`, 'argument'],
    { encoding: 'utf8' },
  )
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  return stdout
}

const output = (word: string) => `${word} function ${folder}/collector-code.cjs argument\nmore\n`

it('keeps it once, for its owner alone, and starts the same with it', () => {
  expect(start()).toBe(output('one'))
  const { mode, ino } = statSync(kept())
  expect(mode & 0o777).toBe(0o600)
  expect(start()).toBe(output('one'))
  // Made anew, it would be another file.
  expect(statSync(kept()).ino).toBe(ino)
  expect(readdirSync(folder).sort()).toEqual([
    'collector-code.cache',
    'collector-code.cjs',
    'collector.cjs',
    'more.cjs',
  ])
})

it('takes none of other code, of the same length too', () => {
  start()
  const { ino } = statSync(kept())
  writeFileSync(`${folder}/collector-code.cjs`, codeSaying('two'))
  expect(start()).toBe(output('two'))
  expect(statSync(kept()).ino).not.toBe(ino)
})

it('takes none that is damaged or cut', () => {
  start()
  const whole = readFileSync(kept())
  for (const at of [0, 40, whole.length - 1]) {
    const damaged = Buffer.from(whole)
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at)
    writeFileSync(kept(), damaged)
    expect(start()).toBe(output('one'))
    // And mends it.
    expect(readFileSync(kept()).equals(damaged)).toBe(false)
  }
  for (const bytes of [0, whole.length - 1]) {
    writeFileSync(kept(), whole.subarray(0, bytes))
    expect(start()).toBe(output('one'))
  }
})

it('V8 takes none that was made under other flags', () => {
  start('--no-opt', '--max-lazy')
  const { ino } = statSync(kept())
  expect(start()).toBe(output('one'))
  expect(statSync(kept()).ino).not.toBe(ino)
})

it('goes without where nothing can be kept', () => {
  // A folder in its place: it can be neither read nor replaced.
  mkdirSync(kept())
  writeFileSync(`${kept()}/something`, '')
  expect(start()).toBe(output('one'))
  expect(readdirSync(folder).filter((name) => /cache-/.test(name))).toEqual([])
})

it('does not keep a process alive for it', async () => {
  writeFileSync(`${folder}/more.cjs`, '')
  // So late that nothing is kept unless something waits for it.
  const built = readFileSync(`${folder}/collector.cjs`, 'utf8')
  writeFileSync(`${folder}/collector.cjs`, built.replace('KEEP_AFTER_MS=1', 'KEEP_AFTER_MS=3e3'))
  const child = spawn(process.execPath, [`${folder}/collector.cjs`, 'argument'], { stdio: 'ignore' })
  const ended = await Promise.race([new Promise((done) => child.once('exit', done)), sleep(20_000, 'still there')])
  expect(ended).toBe(0)
  expect(existsSync(kept())).toBe(false)
})
