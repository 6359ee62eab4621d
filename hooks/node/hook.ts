// The installed hook for machines without curl: one CommonJS file with the same wire and the same rules as hooks/sh/hook.sh.
// Usage: node hook.cjs AGENT EVENT, the native payload on stdin. What it needs is in hook.json beside it, nothing in the environment.
import { readFileSync } from 'node:fs'
import { decodeAnswer, type HookAnswer } from '../../conventions/wire.ts'
import { GATE_EVENTS } from '../gate-events.ts'
import { DEADLINES } from '../limits.ts'
import { commandText, type HookSettings } from '../sh/render.ts'
import { type Exchange, exchange, NOT_OURS } from './exchange.ts'

const [agent = '', event = ''] = process.argv.slice(2)
const gate = GATE_EVENTS.includes(event)
// Leaving means failure until an answer says otherwise, also when the event loop just runs empty.
process.exitCode = gate ? 2 : 1
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => process.exit())
process.on('uncaughtException', (error) => {
  try {
    fail(`the hook failed: ${error.message}`)
  } catch {
    // An error in here would end the process with a status of Node's own, which lets the call run.
    process.exit()
  }
})

let settings: HookSettings | undefined

function leave(status: number, words: string): void {
  process.exitCode = status
  if (words === '') process.exit()
  process.stderr.on('error', () => process.exit())
  process.stderr.write(words, () => process.exit())
}

/** The event was not checked or not recorded. */
function fail(reason: string): void {
  const { status, words } = verdict(reason)
  leave(status, words)
}

function verdict(reason: string): { status: number; words: string } {
  if (settings === undefined) {
    return { status: gate ? 2 : 1, words: `[spanseal] the hook is not usable: ${reason}; run init again\n` }
  }
  if (settings.mode === 'observe') return { status: 0, words: '' }
  const command = commandText(settings)
  const help =
    `[spanseal] to repair: ${command} doctor, or: ${command} up\n` +
    `[spanseal] to remove the hooks: ${command} uninstall\n`
  if (!gate) return { status: 1, words: `[spanseal] not recorded: ${reason}\n${help}` }
  if (settings.failMode === 'open') {
    return { status: 0, words: `[spanseal] not checked and let through (fail mode open): ${reason}\n${help}` }
  }
  return { status: 2, words: `[spanseal] blocked, because it could not be checked: ${reason}\n${help}` }
}

async function main(): Promise<void> {
  const known = readSettings(readFileSync(`${__dirname}/hook.json`, 'utf8'))
  settings = known
  if (known.mode === 'observe' || (gate && known.failMode === 'open')) process.exitCode = 0
  if (!/^[A-Za-z0-9-]+$/.test(agent) || !/^[A-Za-z0-9-]+$/.test(event)) {
    throw new Error('the hook was called without agent and event; install it again with init')
  }
  const deadlines = known.deadlines ?? DEADLINES
  const payload = await readStdin(deadlines.answer)
  const path = `/hook/${agent}/${event}?mode=${known.mode}&fail=${known.failMode}&hook=node`
  const head = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json']
  let got = await exchange(known.hookSocket, head, payload, deadlines.answer)
  if (got.kind === 'refused') {
    // Loaded only here: an everyday call has no use for it.
    const { startCollector } = await import('./start.ts')
    const started = await startCollector(known, deadlines.start)
    if (!started.ok) throw new Error(`no collector answered and it could not be started: ${started.reason}`)
    got = await exchange(known.hookSocket, head, payload, deadlines.answer)
  }
  if (known.mode === 'observe') leave(0, '')
  let answer = readAnswer(got)
  if (answer.kind === 'hold' && gate) {
    process.stderr.write(`[spanseal] waiting for a person: ${answer.text}\n`)
    const wait = [`GET /hook/wait/${answer.approval} HTTP/1.1`]
    answer = readAnswer(await exchange(known.hookSocket, wait, Buffer.alloc(0), deadlines.wait))
  }
  if (answer.kind === 'pass') leave(0, '')
  else if (answer.kind === 'block' && gate) leave(2, `${answer.text}\n`)
  else fail(answer.kind === 'fail' ? answer.text : NOT_OURS)
}

function readSettings(text: string): HookSettings {
  const value: HookSettings = JSON.parse(text)
  for (const key of ['home', 'userHome', 'hookSocket', 'runtime', 'cli', 'mode', 'failMode'] as const) {
    if (typeof value?.[key] !== 'string') throw new Error(`hook.json does not say ${key}`)
  }
  return value
}

function readAnswer(got: Exchange): HookAnswer {
  if (got.kind === 'refused') return { kind: 'fail', text: 'no collector answers' }
  if (got.kind === 'failed') return { kind: 'fail', text: got.reason }
  return decodeAnswer(got.body) ?? { kind: 'fail', text: NOT_OURS }
}

/** All of stdin; rejects when it does not end in time. */
function readStdin(seconds: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const timer = setTimeout(() => reject(new Error('the payload did not arrive in time')), seconds * 1000)
    process.stdin.on('data', (chunk: Buffer) => chunks.push(chunk))
    process.stdin.on('error', reject)
    process.stdin.on('end', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks))
    })
  })
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : 'unknown error'))
