// The power goes during `spanseal init`: an agent's settings are the old ones or the new ones, a copy of the old ones is there before
// they change, what init said it did is there, and a collector starts in what is left.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, expect, it } from 'vitest'
import { parseConfig } from '../../../collector/config.ts'
import { TempUser } from '../../support/cli.ts'
import { Collector, preToolUse } from '../../support/collector.ts'
import { Disk, inWords } from './disk.ts'
import { Random } from './random.ts'
import { journaled } from './workload.ts'

/** Images of the disk for each moment of init. */
const IMAGES = 3
const SEED = Number(process.env.SPANSEAL_TEST_POWER_SEED ?? Date.now() % 1_000_000)
const OLD = '{\n\t"model": "opus"\n}'

const user = new TempUser()
const folder = mkdtempSync(`${tmpdir()}/spanseal-journal-`)
let collector: Collector | undefined
afterEach(async () => {
  await collector?.remove()
  await user.remove()
  rmSync(folder, { recursive: true, force: true })
})

it('leaves whole settings at any moment of init, and all it did once it has said so', async () => {
  mkdirSync(`${user.userHome}/.claude`)
  writeFileSync(`${user.userHome}/.claude/settings.json`, OLD)
  const disk = new Disk(user.userHome, `${folder}/journal`)
  const env = journaled(user.userHome, `${folder}/journal`)
  expect(await user.run(['init', '--yes', '--otlp-port', '0'], { env })).toMatchObject({ status: 0 })
  const changed = readFileSync(`${user.userHome}/.claude/settings.json`, 'utf8')
  const events = disk.events()
  const words = inWords(user.userHome, events)
  for (const file of ['.spanseal/config.yaml', '.claude/settings.json', '.spanseal/installs.json'])
    expect(
      words.some((word) => word === `rename ${file}`),
      file,
    ).toBe(true)

  const random = new Random(SEED)
  for (let cut = 0; cut <= events.length; cut++) {
    for (let i = 0; i < IMAGES; i++) {
      const where = `seed ${SEED}, ${cut} of ${events.length} events, after: ${words[cut - 1]}`
      const image = disk.image(events, cut, random)
      const claude = `${image}/.claude`
      const settings = readFileSync(`${claude}/settings.json`, 'utf8')
      const backups = readdirSync(claude).filter((name) => name.includes('backup'))
      expect([OLD, changed], where).toContain(settings)
      if (settings === changed) {
        expect(
          backups.map((name) => readFileSync(`${claude}/${name}`, 'utf8')),
          where,
        ).toContain(OLD)
      }
      const config = `${image}/.spanseal/config.yaml`
      if (existsSync(config)) expect(parseConfig(readFileSync(config, 'utf8')).ok, where).toBe(true)
      const installs = `${image}/.spanseal/installs.json`
      if (existsSync(installs)) expect(() => JSON.parse(readFileSync(installs, 'utf8')), where).not.toThrow()
      if (cut === events.length) {
        expect([settings, existsSync(config), existsSync(installs)], where).toEqual([changed, true, true])
      }
      if (cut < events.length || i > 0) rmSync(image, { recursive: true, force: true })
      else collector = new Collector({ root: `${image}/.spanseal`, keepConfig: true })
    }
  }
  await collector?.start()
  expect((await collector?.hook('PreToolUse', preToolUse('S1', 'c1')))?.body).toBe('spanseal/1 pass\n')
})
