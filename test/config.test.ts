// The config file: every error at once with its field, never an exception, never a silent default for a broken file.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Config, configText, parseConfig } from '../collector/config.ts'
import { Ids } from '../collector/record/ids.ts'
import { configHash } from '../collector/reload.ts'

it('has defaults, and comes back from its own text', () => {
  const read = parseConfig('version: 1')
  if (!read.ok) throw new Error(read.errors.join())
  expect(read.config.otlp.port).toBe(4318)
  expect(parseConfig(configText(read.config))).toEqual(read)
})

it('names every field that can not be used', () => {
  const read = parseConfig(
    'version: 2\notlp: {port: 99999}\nforward: [{name: "A B", url: "ftp://x"}]\napps: [{name: a, kind: x, token_sha256: y}]\nextra: 1',
  )
  if (read.ok) throw new Error('it was taken')
  for (const field of [
    'version',
    'otlp.port',
    'forward.0.name',
    'forward.0.url',
    'apps.0.kind',
    'apps.0.token_sha256',
    'extra',
  ]) {
    expect(read.errors.join('\n'), field).toContain(field)
  }
})

it('never throws on any text', () => {
  for (const text of ['', '*a', '&a [*a]', 'a: [', '- 1', 'null', '"']) parseConfig(text)
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void parseConfig(text)))
})

it('has a hash that only this home can make, and that any change changes', () => {
  const read = parseConfig('version: 1\nforward: [{name: a, url: "http://x", headers: {authorization: Basic YTpi}}]')
  if (!read.ok) throw new Error(read.errors.join())
  const [home, other] = [new Ids(Buffer.alloc(32, 1)), new Ids(Buffer.alloc(32, 2))]
  const hash = configHash(read.config, home)
  expect(configHash(read.config, home)).toBe(hash)
  // Without the key nobody can try out which header it was.
  expect(configHash(read.config, other)).not.toBe(hash)
  const guessed = structuredClone(read.config) as Config
  for (const destination of guessed.forward) destination.headers.authorization = 'Basic YTpj'
  expect(configHash(guessed, home)).not.toBe(hash)
})
