// Tool calls through the pipeline: pairing, repeats, what is said when half of a call is missing.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RecordType } from '../../conventions/record.ts'
import { HOOK, TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline().start()
})
afterEach(() => t.close())

const decide = (callId: string, args = '{"command":"ls"}', more = {}) =>
  t.claim({ event: 'tool.before', turn: 'p1', callId, tool: 'Bash', args, ...more })
const finish = (callId: string, args = '{"command":"ls"}', more = {}) =>
  t.claim({ event: 'tool.after', turn: 'p1', callId, tool: 'Bash', args, result: '"ok"', ...more })
const of = <T extends RecordType>(type: T) => t.of(type)

describe('a call', () => {
  it('is decided, completed and paired, with equal commitments to equal arguments', async () => {
    expect(await decide('c1')).toEqual({ kind: 'pass' })
    await finish('c1', undefined, { durationMs: 12 })
    expect(t.types()).toEqual(['run.opened', 'tool.decided', 'tool.completed'])
    const [decision] = of('tool.decided')
    const [completion] = of('tool.completed')
    expect(completion?.body).toMatchObject({ status: 'ok', duration_ms: 12, tool: 'Bash', turn: 'p1' })
    expect(completion?.body.decision).not.toBeNull()
    expect(completion?.commit?.[0]).toEqual(decision?.commit?.[0])
    expect(completion?.trace?.span_id).toBe(decision?.trace?.parent)
  })

  it('asked twice at once is decided once, and both get the same answer', async () => {
    const answers = await Promise.all([decide('c1', '!deny'), decide('c1', '!deny')])
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.kind).toBe('block')
    expect(of('tool.decided')).toHaveLength(1)
    expect(t.pipeline.counts.duplicates).toBe(1)
  })

  it('that another tool ran was not the one decided on', async () => {
    await decide('c1', '{"path":"a"}')
    await finish('c1', '{"path":"a"}', { tool: 'Write' })
    expect(of('violation').map(({ body }) => body)).toMatchObject([{ kind: 'executed_other_arguments', tool: 'Bash' }])
    expect(of('tool.completed')[0]?.body.tool).toBe('Write')
  })

  it.each(['sdk', 'gateway'] as const)(
    'that a %s reports comes with what ran; a hook says what it is told',
    async (kind) => {
      await decide('c1')
      const claim = { event: 'tool.after', turn: 'p1', callId: 'c1', tool: 'Bash', result: '"ok"' } as const
      const refused = await t.claim(claim, { ...HOOK, kind, adapter: 'app' })
      expect(refused).toMatchObject({ kind: 'block', text: expect.stringContaining('gen_ai.tool.call.arguments') })
      expect(of('tool.completed')).toEqual([])
      await t.claim(claim)
      expect(of('tool.completed')).toHaveLength(1)
    },
  )

  it('counts its repeats in the completion', async () => {
    await Promise.all([decide('c1'), decide('c1'), decide('c1')])
    await finish('c1')
    expect(of('tool.completed')[0]?.body.duplicates).toBe(2)
  })

  it('with the same id and other bytes is a new attempt', async () => {
    await decide('c1', '{"command":"ls"}')
    await decide('c1', '{"command":"pwd"}')
    expect(of('tool.decided').map(({ call }) => call?.attempt)).toEqual([1, 2])
  })

  it('asked again after a prompt forbade something is decided anew', async () => {
    await decide('c1')
    await t.claim({ event: 'prompt', turn: 'p1', prompt: "Don't push." })
    await decide('c1')
    await decide('c1')
    expect(of('tool.decided').map(({ call }) => call?.attempt)).toEqual([1, 2])
    await t.reopen()
    await decide('c1')
    expect(of('tool.decided')).toHaveLength(2)
  })

  it('asked again under another policy is decided anew', async () => {
    await decide('c1')
    t.gate.policyHash = 'cd'.repeat(32)
    await decide('c1')
    expect(of('tool.decided').map(({ body }) => body.policy_hash)).toEqual(['ab'.repeat(32), 'cd'.repeat(32)])
  })

  it('of three parallel ones with equal arguments each pairs with its own result', async () => {
    await Promise.all(['a', 'b', 'c'].map((id) => decide(id)))
    await Promise.all(['c', 'a', 'b'].map((id) => finish(id)))
    const leaf = new Map(of('tool.decided').map((record) => [record.call?.id, record.trace?.parent]))
    for (const done of of('tool.completed')) expect(done.trace?.span_id).toBe(leaf.get(done.call?.id))
    expect(of('gap')).toEqual([])
  })

  it('whose result nobody reports is completed as unreported when the turn ends, without a gap', async () => {
    await decide('c1')
    await t.claim({ event: 'turn.end', turn: 'p1' })
    expect(of('tool.completed')[0]?.body.status).toBe('unreported')
    expect(of('gap')).toEqual([])
    expect(of('turn.closed')[0]?.body).toMatchObject({ finished: true, calls: 1, denied: 0 })
  })

  it('that completes without a decision leaves a gap and no invented decision', async () => {
    await finish('c9')
    expect(of('gap')[0]?.body).toMatchObject({ kind: 'completed_not_decided', count: 1, tool: 'Bash' })
    expect(of('tool.completed')[0]?.body.decision).toBeNull()
    expect(of('tool.decided')).toEqual([])
  })

  it('known only from a batch report leaves a hook_missing gap', async () => {
    await t.claim({
      event: 'tool.reported',
      turn: 'p1',
      callId: 'c1',
      tool: 'Grep',
      args: '{}',
      result: '"no such tool"',
    })
    expect(of('gap')[0]?.body.kind).toBe('hook_missing')
    expect(of('tool.completed')[0]?.body.status).toBe('unreported')
  })

  it('that was denied and reported by the batch is completed as denied', async () => {
    await decide('c1', '!deny')
    await t.claim({ event: 'tool.reported', turn: 'p1', callId: 'c1', tool: 'Bash', args: '!deny', result: '"denied"' })
    expect(of('tool.completed')[0]?.body.status).toBe('denied')
    expect(of('violation')).toEqual([])
  })

  it('that was denied and ran all the same is a violation', async () => {
    await decide('c1', '!deny')
    await finish('c1', '!deny')
    expect(of('violation')[0]?.body.kind).toBe('executed_against_policy')
  })

  it('that ran with other arguments than decided is a violation, and the other arguments are kept', async () => {
    await decide('c1', '{"command":"ls"}')
    await finish('c1', '{"command":"rm -rf x"}')
    expect(of('violation')[0]?.body.kind).toBe('executed_other_arguments')
  })

  it('that fails keeps exit code and status', async () => {
    await decide('c1')
    await t.claim({
      event: 'tool.failed',
      turn: 'p1',
      callId: 'c1',
      tool: 'Bash',
      args: '{"command":"ls"}',
      exitCode: 3,
    })
    expect(of('tool.completed')[0]?.body).toMatchObject({ status: 'error', exit_code: 3 })
  })

  it('that is open when the run goes idle leaves a decided_not_completed gap', async () => {
    await decide('c1')
    t.now += 7 * 60 * 60 * 1000
    await t.pipeline.tick()
    expect(of('gap')[0]?.body.kind).toBe('decided_not_completed')
    expect(of('run.closed')[0]?.body.reason).toBe('idle')
    expect(of('turn.closed')[0]?.body.finished).toBe(false)
  })

  it('is refused with the field named when an id is missing or unusable', async () => {
    for (const [claim, word] of [
      [{ event: 'tool.before', tool: 'Bash', args: '{}' }, 'callId'],
      [{ event: 'tool.before', callId: 'a b', tool: 'Bash', args: '{}' }, 'callId'],
      [{ event: 'tool.before', callId: 'c1', args: '{}' }, 'tool'],
      [{ event: 'tool.before', callId: 'c1', tool: 'Bash' }, 'arguments'],
      [{ event: 'tool.before', callId: 'c1', tool: 'x'.repeat(200), args: '{}' }, 'tool'],
    ] as const) {
      const answer = await t.claim(claim)
      expect(answer).toMatchObject({ kind: 'block', text: expect.stringContaining(word) })
    }
    expect(t.story()).toEqual([])
  })

  it('in observe mode is recorded, and passes whatever was decided', async () => {
    const answer = await t.claim(
      { event: 'tool.before', turn: 'p1', callId: 'c1', tool: 'Bash', args: '!deny' },
      { kind: 'hook', adapter: 'claude-code', version: '1', mode: 'observe', failMode: 'open' },
    )
    expect(answer).toEqual({ kind: 'pass' })
    expect(of('tool.decided')[0]?.body).toMatchObject({ decision: 'deny', enforced: false })
    await finish('c1', '!deny')
    expect(of('violation')).toEqual([])
  })

  it('is stopped by a hook in enforce mode whoever opened the run, and in whatever mode', async () => {
    const observing = { kind: 'hook', adapter: 'claude-code', version: '1', mode: 'observe', failMode: 'open' } as const
    await t.claim({ event: 'session.end' })
    await t.claim({ event: 'session.start', reason: 'startup' }, observing)
    expect((await decide('c1', '!deny')).kind).toBe('block')
    expect((await decide('c1', '!deny')).kind).toBe('block')
    expect((await decide('c2', '!ask')).kind).toBe('hold')
    expect(of('tool.decided')[0]?.body.enforced).toBe(true)
  })
})
