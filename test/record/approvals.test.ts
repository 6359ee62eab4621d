// A held call: one answer, used once, on disk before the call goes on; no answer means no call.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RecordType } from '../../conventions/record.ts'
import { HOOK, TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline().start()
})
afterEach(() => t.close())

const of = <T extends RecordType>(type: T) => t.of(type)
const ask = async () => {
  const answer = await t.claim({ event: 'tool.before', turn: 'p1', callId: 'c1', tool: 'Bash', args: '!ask' })
  if (answer.kind !== 'hold') throw new Error(`expected a hold, got ${answer.kind}`)
  return answer.approval
}
const never = new AbortController().signal

it('lets the call through after an approval, consumed exactly once', async () => {
  const id = await ask()
  const waiting = t.pipeline.approvals.wait(id, HOOK, never)
  expect((await t.pipeline.approvals.answer(id, 'approve')).ok).toBe(true)
  expect(await waiting).toEqual({ kind: 'pass' })
  expect(await t.pipeline.approvals.wait(id, HOOK, never)).toEqual({ kind: 'pass' })
  expect((await t.pipeline.approvals.answer(id, 'approve')).ok).toBe(false)
  expect(of('approval.consumed')).toHaveLength(1)
  expect(of('approval.answered')[0]?.body.nonce).toBe(of('approval.requested')[0]?.body.nonce)
  await t.claim({ event: 'tool.after', turn: 'p1', callId: 'c1', tool: 'Bash', args: '!ask', result: '1' })
  expect(of('violation')).toEqual([])
})

it('lets the call through when the answer came before the hook asked', async () => {
  const id = await ask()
  await t.pipeline.approvals.answer(id, 'approve')
  expect(await t.pipeline.approvals.wait(id, HOOK, never)).toEqual({ kind: 'pass' })
  expect(of('approval.consumed')).toHaveLength(1)
})

it('blocks the call after a rejection, and says so if it ran all the same', async () => {
  const id = await ask()
  const waiting = t.pipeline.approvals.wait(id, HOOK, never)
  await t.pipeline.approvals.answer(id, 'reject')
  expect((await waiting)?.kind).toBe('block')
  await t.claim({ event: 'tool.after', turn: 'p1', callId: 'c1', tool: 'Bash', args: '!ask', result: '1' })
  expect(of('violation')[0]?.body.kind).toBe('executed_without_approval')
})

it('gives both hooks of one call the same hold and the same answer', async () => {
  const [first, second] = [await ask(), await ask()]
  expect(second).toBe(first)
  const waiting = [t.pipeline.approvals.wait(first, HOOK, never), t.pipeline.approvals.wait(first, HOOK, never)]
  await t.pipeline.approvals.answer(first, 'approve')
  expect(await Promise.all(waiting)).toEqual([{ kind: 'pass' }, { kind: 'pass' }])
  expect(of('approval.consumed')).toHaveLength(1)
})

it('ends every hold when the collector stops: no late answer lets anything through', async () => {
  const id = await ask()
  const waiting = t.pipeline.approvals.wait(id, HOOK, never)
  await t.pipeline.suspend('collector_stop')
  expect((await waiting)?.kind).toBe('block')
  expect(of('approval.expired')[0]?.body.reason).toBe('restart')
  expect((await t.pipeline.approvals.answer(id, 'approve')).ok).toBe(false)
})

it('ends a hold after a restart as restart', async () => {
  const id = await ask()
  await t.reopen()
  expect(of('approval.expired')[0]?.body).toMatchObject({ approval: id, reason: 'restart' })
  expect(await t.pipeline.approvals.wait(id, HOOK, never)).toBeNull()
})

it('answers an unknown approval with null', async () => {
  expect((await t.pipeline.approvals.answer('apr-0', 'approve')).ok).toBe(false)
  expect(await t.pipeline.approvals.wait('apr-0', HOOK, never)).toBeNull()
})
