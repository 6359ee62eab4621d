// `spanseal doctor`
import { type Context, flag } from '../context.ts'
import { type Check, exitOf, ok, warn } from '../doctor/check.ts'
import { checkCollector } from '../doctor/collector.ts'
import { checkHome } from '../doctor/home.ts'
import { checkHooks } from '../doctor/hooks.ts'
import { painter, print, printJson } from '../output.ts'

/** Node versions that Spanseal is tested on begin here: major, minor. */
const MIN_NODE = [20, 19] as const

export async function run({ home, options }: Context): Promise<number> {
  const checks = [checkNode(), ...checkHome(home)]
  // Nothing is started in, or written to, a home that is not one.
  if (checks.every(({ id, status }) => id !== 'home.folder' || status !== 'fail')) {
    const collector = await checkCollector(home)
    const answers = collector.every(({ id, status }) => id !== 'collector.running' || status === 'ok')
    checks.push(...collector, ...(await checkHooks(home, answers)))
  }
  const exit = exitOf(checks)
  if (flag(options, 'json')) printJson({ home: home.root, exit, checks })
  else print(lines(checks).join('\n'))
  return exit
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])
  const detail = `Node ${process.versions.node}`
  return enough
    ? ok('node.version', detail)
    : warn('node.version', `${detail} is older than ${MIN_NODE.join('.')}`, 'update Node')
}

function lines(checks: readonly Check[]): string[] {
  const paint = painter()
  const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  return checks.flatMap(({ id, status, detail, fix }) => [
    `${paint(colours[status], status.padEnd(4))}  ${id.padEnd(18)}  ${detail}`,
    ...(fix === undefined ? [] : [`${' '.repeat(26)}to repair: ${fix}`]),
  ])
}
