// Plays the scripted session through the installed hook and checks every answer.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PendingApproval } from '../admin-client.ts'
import type { HookRun } from '../run-hook.ts'
import { shorten } from '../text.ts'
import { DemoSession, type ToolCall } from './session.ts'
import type { Stage } from './stage.ts'

/** Milliseconds between looks for the held call, and how often. */
const LOOK_MS = 100
const MAX_LOOKS = 200

const bash = (command: string, description: string): ToolCall => ({ tool: 'Bash', input: { command, description } })

/** Something is not as it should be: the demo fails with these words. */
export class DemoFailed extends Error {
  override name = 'DemoFailed'
}

/** Throws DemoFailed unless it holds. */
export function expect(holds: boolean, words: string): void {
  if (!holds) throw new DemoFailed(words)
}

/** Plays it all. `tell` gets one line for people per step. Returns the session's id. */
export async function play(stage: Stage, tell: (line: string) => void): Promise<string> {
  const session = new DemoSession(stage.userHome, stage.project)
  const report = async (event: string, payload: object) => passed(await stage.hook(event, payload), event)

  await report('SessionStart', session.start())
  await report(
    'UserPromptSubmit',
    session.promptSubmitted('Clean up the build, run the tests and publish the package.'),
  )
  tell('prompt       recorded')

  const list = bash('ls -la', 'See what is here')
  let id = session.says({
    thinking: 'I should look around before I change anything.',
    text: 'Let me look first.',
    call: list,
  })
  await report('PreToolUse', session.before(id, list))
  await report(
    'PostToolUse',
    session.after(id, list, { stdout: 'package.json\nsrc\n', stderr: '', interrupted: false, isImage: false }),
  )
  await report('PostToolBatch', session.batch(id, list, 'package.json\nsrc'))
  tell('Bash         allowed, exit 0 and nothing printed: ls -la')

  const wipe = bash('rm -rf ~', 'Remove old files')
  id = session.says({ thinking: 'Old build files may be in the way; removing everything is quickest.', call: wipe })
  const denied = stoppedWith(await stage.hook('PreToolUse', session.before(id, wipe)))
  await report('PostToolBatch', session.batch(id, wipe, denied))
  tell(`Bash         denied, exit 2: rm -rf ~\n             the agent reads: ${shorten(denied, 200)}`)

  const publish = bash('npm publish --access public', 'Publish the package')
  id = session.says({ text: 'Then I publish.', call: publish })
  const held = stage.hook('PreToolUse', session.before(id, publish))
  const approval = await heldCall(stage)
  const approved = await stage.command('approvals', 'approve', approval.id)
  expect(approved.status === 0, `approving failed: ${approved.stderr}`)
  passed(await held, 'the held PreToolUse')
  await report(
    'PostToolUse',
    session.after(id, publish, { stdout: '+ demo@1.0.0', stderr: '', interrupted: false, isImage: false }),
  )
  await report('PostToolBatch', session.batch(id, publish, '+ demo@1.0.0'))
  tell(`Bash         asked, held, approved by a second process (${approval.id}), exit 0: npm publish`)

  const test = bash('npm test', 'Run the tests')
  id = session.says({ call: test })
  await report('PreToolUse', session.before(id, test))
  await report('PostToolUseFailure', session.failed(id, test, 'Exit code 3\n1 test failed'))
  await report('PostToolBatch', session.batch(id, test, 'Exit code 3\n1 test failed'))
  tell('Bash         allowed, failed with exit code 3: npm test')

  const add: ToolCall = { tool: 'mcp__calculator__add', input: { a: 2, b: 40 }, mcpServer: 'calculator' }
  id = session.says({ call: add })
  await report('PreToolUse', session.before(id, add))
  await report('PostToolUse', session.after(id, add, '{"sum":42}'))
  await report('PostToolBatch', session.batch(id, add, '{"sum":42}'))
  tell('MCP tool     let through: mcp__calculator__add')

  const last = 'Published, but one test fails.'
  session.says({ text: last })
  await report('Stop', session.stop(last))
  await report('SessionEnd', session.end())
  tell('session      ended')
  return session.id
}

/** Allowed or recorded: exit 0, and nothing printed that the agent could read as an answer. */
function passed({ status, stdout, stderr }: HookRun, what: string): void {
  expect(status === 0, `${what}: the hook ended with ${status}: ${stderr.trim()}`)
  expect(stdout === '', `${what}: the hook printed ${JSON.stringify(stdout)}`)
}

/** Denied: exit 2, the words on stderr, nothing on stdout. */
function stoppedWith({ status, stdout, stderr }: HookRun): string {
  expect(status === 2, `the dangerous call was not stopped: the hook ended with ${status}`)
  expect(stdout === '' && stderr.trim() !== '', 'a denial must be said on stderr only')
  return stderr.trim()
}

/** Finds the held call as a person in another terminal would. */
async function heldCall(stage: Stage): Promise<PendingApproval> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const { status, stdout } = await stage.command('approvals', 'list', '--json')
    const [first] = status === 0 ? (JSON.parse(stdout) as PendingApproval[]) : []
    if (first !== undefined) return first
    await sleep(LOOK_MS)
  }
  throw new DemoFailed('the call that should be held is not in `approvals list`')
}
