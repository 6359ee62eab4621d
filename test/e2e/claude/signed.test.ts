// A held call of the real Claude Code, answered by an approver's signature: nothing less lets it run. Only the model is a stand-in, and
// the approver's key is the test's own.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerBytes, fileApprover } from '../../support/approver.ts'
import { Collector } from '../../support/collector.ts'
import { newKey } from '../../verify/support.ts'
import { Model } from './support/model.ts'
import { ClaudeUser, SESSION_MS } from './support/user.ts'

const alice = fileApprover('alice', newKey())
let user: ClaudeUser
let model: Model
/** Status of each answer that was tried while the call waited. */
const tried: Record<string, number> = {}

beforeAll(async () => {
  user = await new ClaudeUser().install()
  writeFileSync(`${user.project}/billing.py`, 'rate = 1\n')
  const file = { file_path: `${user.project}/billing.py` }
  // The installed collector, which this does not start: its admin socket is all that is wanted.
  const admin = new Collector({ root: user.home, keepConfig: true })
  const { after } = JSON.parse((await admin.admin('GET', '/approvers')).body)
  const change = { after, action: 'add', ...alice.public }
  expect((await admin.admin('POST', '/approvers', { change })).status).toBe(200)

  let answered: Promise<void> = Promise.resolve()
  const person = () => {
    answered = user.held().then(async (id) => {
      const [{ binding }] = JSON.parse((await admin.admin('GET', '/approvals')).body)
      const signed = (word: string) => ({ signature: alice.sign(answerBytes(word, binding)) })
      const answer = async (name: string, given?: object) => {
        tried[name] = (await admin.admin('POST', `/approvals/${id}/approve`, given)).status
      }
      await answer('unsigned')
      await answer('a signed no', signed('reject'))
      expect(readFileSync(file.file_path, 'utf8')).toBe('rate = 1\n')
      await answer('signed', signed('approve'))
      await answer('signed again', signed('approve'))
    })
  }
  model = await new Model({
    fix: [
      { calls: [{ id: 'read', name: 'Read', input: file }] },
      { before: person, calls: [{ id: 'held', name: 'Write', input: { ...file, content: 'held\n' } }] },
      { text: 'Done.' },
    ],
  }).start()
  await user.claude(model, "Fix the rounding bug. Don't touch billing.py. [[fix]]")
  await answered
}, SESSION_MS)

afterAll(async () => {
  await user.remove()
  await model.stop()
})

it('runs after the approver’s signature, and after nothing less', () => {
  expect(model.left()).toEqual([])
  expect(tried).toEqual({ unsigned: 403, 'a signed no': 403, signed: 200, 'signed again': 404 })
  expect(user.one('tool.decided', 'held').body).toMatchObject({ decision: 'ask', rules: ['SP-CONSTRAINT'] })
  expect(user.one('tool.completed', 'held').body.status).toBe('ok')
  expect(readFileSync(`${user.project}/billing.py`, 'utf8')).toBe('held\n')
})

it('is in the evidence as answered by that key, the attempts as refused', async () => {
  expect(user.records('approval.refused').map(({ body }) => body.kind)).toEqual(['unsigned', 'signature'])
  const report = await user.verdict()
  expect(report.status).toBe('intact')
  expect(report.decisions).toMatchObject({ signed: 1, unauthenticated: 0, ran_without_approval: 0 })
  expect(report.approvers).toMatchObject([{ name: 'alice', answers: 1 }])
  expect(report.findings.map(({ code }) => code)).toEqual(['approval.approver_not_pinned'])
})
