// Every recorded payload of the real agent: what the adapter makes of it, and every record it leads to, fit the published schemas.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BODIES, ENVELOPE } from '../conventions/record.ts'
import { EXPORT_REQUEST } from '../conventions/span-schema.ts'
import { claudeCode } from '../hooks/claude-code/adapter.ts'
import { HOOK, TestPipeline } from './support/pipeline.ts'

const DIR = 'test/fixtures/claude/hooks'
const payloads = readdirSync(DIR)
  .filter((name) => /^\d\d-/.test(name))
  .sort()
  .map((name) => ({ name, event: name.slice(3, -'.json'.length), bytes: readFileSync(`${DIR}/${name}`) }))

let t: TestPipeline
beforeAll(async () => {
  t = await new TestPipeline().start()
})
afterAll(() => t.close())

it.each(payloads)('$name', ({ event, bytes }) => {
  const result = claudeCode.toRequest(event, bytes, '1796060908201000000')
  if (!result.ok) throw new Error(result.message)
  if ('request' in result) expect(EXPORT_REQUEST.safeParse(result.request).error).toBeUndefined()
})

it('all of them, in order, lead to records that fit their schemas, and to the same state after a replay', async () => {
  expect(payloads.length).toBeGreaterThan(50)
  for (const { event, bytes } of payloads) {
    expect((await t.pipeline.native('claude-code', event, bytes, HOOK)).answer).toEqual({ kind: 'pass' })
  }
  for (const record of t.records()) {
    expect(ENVELOPE.safeParse(record).error, record.type).toBeUndefined()
    expect(BODIES[record.type].safeParse(record.body).error, record.type).toBeUndefined()
  }
  expect(t.of('violation')).toEqual([])
  expect(
    t
      .of('gap')
      .filter(({ body }) => body.kind !== 'no_transcript')
      .map(({ body }) => [body.kind, body.tool]),
  ).toEqual([
    ['hook_missing', 'Grep'],
    ['hook_missing', 'Glob'],
  ])
  const live = t.snapshot()
  await t.log.close()
  const again = new TestPipeline({ root: t.home.root })
  expect(again.snapshot()).toBe(live)
  await again.log.close()
})
