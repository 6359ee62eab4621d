// The built collector and somebody who wants a call let through that nobody approved: each attempt is refused, and the refusal signed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordOf } from '../../conventions/record.ts'
import { answerBytes, changeBytes, fileApprover, softToken, type TestApprover } from '../support/approver.ts'
import { Collector, preToolUse } from '../support/collector.ts'
import { newKey } from '../verify/support.ts'

const PUSH = { command: 'git push origin main' }
const alice = fileApprover('alice', newKey())
/** A software stand-in: no test can touch a device. */
const token = softToken('bob', newKey())

let collector: Collector
beforeAll(async () => {
  collector = await new Collector().start()
})
afterAll(() => collector.remove())

let n = 0
/** A session with a call that is held. */
async function held() {
  const session = `S${++n}`
  const asked = await ask(session, 'c1', PUSH)
  expect(asked.decision).toBe('hold')
  return { session, approval: String(asked.approval) }
}

async function gate(body: object): Promise<{ decision?: string; approval?: string; reason?: string }> {
  return JSON.parse((await collector.gate({ agent: 'loop', ...body })).body)
}

const ask = (session: string, call: string, args: object, more: object = {}) =>
  gate({ session, call, tool: 'Bash', arguments: args, ...more })

const answer = (id: string, word: string, given?: object) => collector.admin('POST', `/approvals/${id}/${word}`, given)

function refusals(approval: string): string[] {
  const records = collector.records().filter((record) => record.type === 'approval.refused')
  return (records as RecordOf<'approval.refused'>[])
    .filter(({ body }) => body.approval === approval)
    .map(({ body }) => body.kind)
}

/** What the approver signs to answer. */
async function signed(by: TestApprover, id: string, word: string) {
  const list = JSON.parse((await collector.admin('GET', '/approvals')).body)
  const { binding } = list.find((each: { id: string }) => each.id === id)
  return { signature: by.sign(answerBytes(word, binding)) }
}

describe('the six attempts', () => {
  it.each([
    [
      'a replayed snapshot: the same call with the approval that was used',
      'replayed',
      async () => {
        const { session, approval } = await held()
        await answer(approval, 'approve')
        expect(await ask(session, 'c1', PUSH, { approval })).toMatchObject({ decision: 'allow' })
        return { approval, reply: await ask(session, 'c1', PUSH, { approval }) }
      },
    ],
    [
      'saved state with edited arguments',
      'args_mismatch',
      async () => {
        const { session, approval } = await held()
        const reply = await ask(session, 'c1', { command: 'git push --force origin main' }, { approval })
        return { approval, reply }
      },
    ],
    [
      'an approval of another run',
      'wrong_run',
      async () => {
        const { approval } = await held()
        await answer(approval, 'approve')
        return { approval, reply: await ask(`S${++n}`, 'c1', PUSH, { approval }) }
      },
    ],
    [
      'no approval: resumed while nobody has answered',
      'not_approved',
      async () => {
        const { session, approval } = await held()
        return { approval, reply: await ask(session, 'c1', PUSH, { approval }) }
      },
    ],
    [
      'a rewritten call id',
      'wrong_call',
      async () => {
        const { session, approval } = await held()
        await answer(approval, 'approve')
        return { approval, reply: await ask(session, 'c2', PUSH, { approval }) }
      },
    ],
    [
      'other arguments than were approved',
      'args_mismatch',
      async () => {
        const { session, approval } = await held()
        await answer(approval, 'approve')
        return { approval, reply: await ask(session, 'c1', { command: 'git push origin main:prod' }, { approval }) }
      },
    ],
    [
      'an approval that was rejected',
      'rejected',
      async () => {
        const { session, approval } = await held()
        await answer(approval, 'reject')
        return { approval, reply: await ask(session, 'c1', PUSH, { approval }) }
      },
    ],
    [
      'an approval that nobody was asked for',
      'unknown',
      async () => ({
        approval: 'apr-made-up',
        reply: await ask(`S${++n}`, 'c1', PUSH, { approval: 'apr-made-up' }),
      }),
    ],
  ])('%s: refused as %s', async (_, kind, attempt) => {
    const { approval, reply } = await attempt()
    expect(reply.decision).toBe('deny')
    expect(reply.reason).toContain(approval)
    expect(refusals(approval)).toEqual([kind])
  })
})

/** Paths as the agent would write them: those of this collector's own home. */
const ATTEMPTS: [string, (approval: string, home: string) => object][] = [
  ['our command', (id) => ({ command: `spanseal approvals approve ${id}` })],
  ['our command from npm', (id) => ({ command: `npx -y spanseal@latest approvals approve ${id}` })],
  [
    'our command as a file',
    (id) => ({ command: `node node_modules/spanseal/dist/spanseal.mjs approvals approve ${id}` }),
  ],
  ['our command, its words in pieces', (id) => ({ command: `X=approve; s"pan"seal approvals $X ${id}` })],
  [
    'our command in a shell in a shell',
    (id) => ({ command: `env A=1 sh -c 'nohup spanseal approvals approve ${id} &'` }),
  ],
  ['our command through xargs', (id) => ({ command: `echo ${id} | xargs spanseal approvals approve` })],
  ['our command on a terminal', (id) => ({ command: `script -qc 'spanseal approvals approve ${id}' /dev/null` })],
  ['break-glass', (id) => ({ command: `spanseal approvals approve ${id} --break-glass hurry` })],
  ['an approver of its own', () => ({ command: 'spanseal approvers add eve' })],
  ['no approver any more', () => ({ command: 'spanseal approvers remove alice --break-glass x' })],
  [
    'the admin socket',
    (id, home) => ({ command: `curl --unix-socket ${home}/run/admin.sock -X POST http://x/approvals/${id}/approve` }),
  ],
  ['the admin socket with nc', (_, home) => ({ command: `nc -U ${home}/run/admin.sock` })],
  ['the admin socket in Python', (_, home) => ({ command: `python3 -c 's.connect("${home}/run/admin.sock")'` })],
  ['HTTP', (id) => ({ command: `curl -X POST http://127.0.0.1:4318/approvals/${id}/approve` })],
  ['an approver’s key', (_, home) => ({ command: `cat ${home}/approvers/alice.key` })],
  ['the keys of the log', (_, home) => ({ command: `cp ${home}/keys/record.pem /tmp/k` })],
  ['the policy', (_, home) => ({ command: `sed -i s/ask/allow/ ${home}/policy.yaml` })],
]

describe('what an agent does to approve its own call', () => {
  it.each(ATTEMPTS)('%s: denied and recorded, and the call still waits', async (_, make) => {
    const { session, approval } = await held()
    const id = `try-${n}`
    const payload = preToolUse(session, id, '', { tool_input: make(approval, collector.root) })
    const reply = await collector.hook('PreToolUse', payload)
    expect(reply.body).toMatch(/^spanseal\/1 block\n/)
    expect(decisionOn(id)).toMatchObject({ decision: 'deny', enforced: true })
    expect(await ask(session, 'c1', PUSH)).toMatchObject({ decision: 'hold', approval })
  })

  it('writing the configuration with a tool, or letting a sub-agent do it', async () => {
    const { session, approval } = await held()
    const write = { tool_name: 'Write', tool_input: { file_path: `${collector.root}/config.yaml`, content: '' } }
    const sub = { agent_id: 'a1', agent_type: 'general-purpose' }
    for (const [id, more] of Object.entries({ w1: write, w2: sub, w3: { ...write, ...sub } })) {
      const payload = preToolUse(session, id, `spanseal approvals approve ${approval}`, more)
      expect((await collector.hook('PreToolUse', payload)).body).toMatch(/^spanseal\/1 block\n/)
      expect(decisionOn(id)).toMatchObject({ decision: 'deny', enforced: true })
    }
    expect(await ask(session, 'c1', PUSH)).toMatchObject({ decision: 'hold', approval })
  })

  it.each(['default', 'acceptEdits', 'bypassPermissions', 'dontAsk'])(
    'an ask is held in permission mode %s: nobody at a screen does not mean yes',
    async (permission_mode) => {
      const payload = preToolUse(`S${++n}`, 'h1', PUSH.command, { permission_mode })
      expect((await collector.hook('PreToolUse', payload)).body).toMatch(/^spanseal\/1 hold apr-/)
    },
  )
})

function decisionOn(call: string) {
  const found = collector.records().findLast((record) => record.type === 'tool.decided' && record.call?.id === call)
  return found?.body
}

describe('with approvers', () => {
  let after = ''
  const change = async (body: Record<string, unknown>, by?: TestApprover) => {
    const list = JSON.parse((await collector.admin('GET', '/approvers')).body)
    after = list.after
    const added = { after, ...body } as { after: string }
    const given = by === undefined ? {} : { signature: by.sign(changeBytes(added)) }
    return collector.admin('POST', '/approvers', { change: added, ...given })
  }
  beforeAll(async () => {
    expect((await change({ action: 'add', ...alice.public })).status).toBe(200)
  })

  it('adds a second one only with the signature of the first', async () => {
    const body = { action: 'add', ...token.public }
    expect((await change(body)).status).toBe(403)
    expect((await change(body, token)).status).toBe(403)
    expect((await change(body, alice)).status).toBe(200)
    expect((await change(body, alice)).body).toContain('of that key or name')
  })

  it.each([
    ['a key file', alice],
    ['a security key (stand-in)', token],
  ])('lets a call through that was approved with %s', async (_, by) => {
    const { session, approval } = await held()
    expect((await answer(approval, 'approve', await signed(by, approval, 'approve'))).status).toBe(200)
    expect(await ask(session, 'c1', PUSH, { approval })).toMatchObject({ decision: 'allow' })
    expect(
      await gate({ event: 'tool.after', session, call: 'c1', tool: 'Bash', arguments: PUSH, result: 'ok' }),
    ).toMatchObject({ decision: 'allow' })
  })

  it.each([
    ['unsigned', 'unsigned', async () => ({})],
    ['a reject replayed', 'signature', (id: string) => signed(alice, id, 'reject')],
    ['by a stranger', 'signature', (id: string) => signed(fileApprover('eve', newKey()), id, 'approve')],
    ['signed for another call', 'signature', async () => signed(alice, (await held()).approval, 'approve')],
    [
      'by a key that nobody touched',
      'signature',
      async (id: string) => {
        const { signature } = await signed(token, id, 'approve')
        return { signature: { ...signature, flags: 0 } }
      },
    ],
  ])('refuses an answer: %s', async (_, kind, make) => {
    const { session, approval } = await held()
    const reply = await answer(approval, 'approve', await make(approval))
    expect(reply.status).toBe(403)
    expect(refusals(approval)).toEqual([kind])
    expect(await ask(session, 'c1', PUSH)).toMatchObject({ decision: 'hold', approval })
  })

  it('lets break-glass through with a reason only, and every report says so', async () => {
    const { session, approval } = await held()
    expect((await answer(approval, 'approve', { break_glass: '  ' })).status).toBe(400)
    expect((await answer(approval, 'approve', { break_glass: 'alice is away' })).status).toBe(200)
    expect(await ask(session, 'c1', PUSH, { approval })).toMatchObject({ decision: 'allow' })
  })

  it('does not fill the log when somebody tries on and on', async () => {
    const { approval } = await held()
    for (let i = 0; i < 40; i++) expect((await answer(approval, 'approve')).status).toBe(403)
    expect(refusals(approval)).toHaveLength(16)
  })

  it('knows its approvers after a kill, and what it wrote verifies', async () => {
    await collector.kill()
    await collector.start()
    const list = JSON.parse((await collector.admin('GET', '/approvers')).body)
    expect(list.approvers.map(({ name }: { name: string }) => name)).toEqual(['alice', 'bob'])
    await collector.stop()
    const report = await collector.verify()
    expect(report.findings.filter(({ severity }) => severity === 'broken')).toEqual([])
    expect(report.findings.find(({ code }) => code === 'approval.break_glass')?.count).toBe(1)
    expect(report.decisions).toMatchObject({ signed: 2, break_glass: 1 })
    await collector.start()
  })
})
