// `spanseal demo`: from installing to a failed verification, in a temporary home. Exit 0 only if all of it held.
import { writeFileSync } from 'node:fs'
import type { Report } from '../../verify/index.ts'
import { expect, play } from '../demo/play.ts'
import { Stage } from '../demo/stage.ts'
import { changeRecord } from '../demo/tamper.ts'
import { CliError, messageOf } from '../exit.ts'
import { painter, print } from '../output.ts'
import type { Call, RunTree } from '../run-nodes.ts'

const paint = painter()
const title = (text: string) => print(`\n${paint('bold', text)}`)

/** Decision and status of each call, in order. */
const EXPECTED = [
  ['allow', 'ok'],
  ['deny', 'denied'],
  ['ask', 'ok'],
  ['allow', 'error'],
  ['allow|flag', 'ok'],
] as const

export async function run(): Promise<number> {
  const stage = new Stage()
  process.once('SIGINT', () => {
    void clearUp(stage).then(() => process.exit(130))
  })
  try {
    await demo(stage)
    title('All of it held.')
    return 0
  } catch (error) {
    throw new CliError(`the demo failed: ${messageOf(error)}`)
  } finally {
    await clearUp(stage)
  }
}

async function clearUp(stage: Stage): Promise<void> {
  await stage.command('down')
  stage.remove()
}

async function demo(stage: Stage): Promise<void> {
  title(`1. Install into a temporary home (${stage.userHome})`)
  const init = await stage.command('init', '--yes', '--otlp-port', '0')
  print(init.stderr)
  expect(init.status === 0, 'init failed')

  title('2. A session of Claude Code, through the installed hook')
  const session = await play(stage, print)

  title('3. What was recorded')
  const shown = await stage.command('show', session)
  expect(shown.status === 0, `show failed: ${shown.stderr}`)
  print(shown.stdout)
  checkTree(JSON.parse((await stage.command('show', session, '--json')).stdout) as RunTree)

  title('4. Is it intact? With the log key and genesis pinned')
  const trust = `${stage.root}/spanseal.trust`
  writeFileSync(trust, (await stage.command('verify', '--print-trust')).stdout)
  const verified = await stage.command('verify', '--trust', trust)
  print(verified.stdout)
  expect(verified.status === 0 && verified.stdout.includes('INTACT'), `verification failed: ${verified.stderr}`)

  title('5. One byte changed in a copy: the denied call becomes another tool’s')
  const copy = stage.copy()
  const tampered = changeRecord(
    `${copy}/log`,
    ['"type":"tool.decided"', '"decision":"deny"'],
    '"tool":"Bash"',
    '"tool":"Cash"',
  )
  if (tampered === null) throw new Error('the denied call is not in the log')
  print(`record ${tampered.seq} (${tampered.type}): "Bash" is now "Cash", and the checksum of its frame fits again`)
  const broken = await stage.command('--home', copy, 'verify', '--trust', trust)
  print(broken.stdout)
  expect(broken.status === 1, `a changed record was not noticed: verify ended with ${broken.status}`)
  const { findings } = JSON.parse((await stage.command('--home', copy, 'verify', '--json')).stdout) as Report
  const named = findings.find(({ code }) => code === 'record.signature')?.records ?? []
  expect(named.includes(tampered.seq), 'the changed record is not named')

  title('6. Uninstall')
  const removed = await stage.command('uninstall')
  print(removed.stderr)
  expect(removed.status === 0 && stage.settingsRestored(), 'the settings are not what they were before')
}

function checkTree(tree: RunTree): void {
  const calls = tree.turns.flatMap((turn) => turn.inside.filter((node): node is Call => node.kind === 'call'))
  const seen = calls.map(({ decision, status }) => `${decision} ${status}`)
  const right = EXPECTED.every(([decision, status], i) =>
    decision.split('|').some((one) => seen[i] === `${one} ${status}`),
  )
  expect(right && seen.length === EXPECTED.length, `the calls are recorded as: ${seen.join(', ')}`)
  expect(calls[2]?.approval?.state === 'used', 'the approval is not recorded as used')
  const said = tree.turns.flatMap((turn) => turn.inside.flatMap((node) => (node.kind === 'message' ? [node.what] : [])))
  expect(said.includes('reasoning') && said.includes('text'), 'what the model said is not recorded')
}
