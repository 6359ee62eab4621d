// Reads shell text into facts: the pre-scan, the parser, the walk, and what happens when any of them gives up.
import { parse } from 'unbash'
import type { GateCall } from '../../call.ts'
import type { Places } from '../paths.ts'
import type { Sink } from '../sink.ts'
import { assign } from './assign.ts'
import { runFields } from './command.ts'
import { callFunction, readUncalled } from './functions.ts'
import { scan } from './scan.ts'
import type { Out, Shell } from './state.ts'
import { BudgetSpent, deeper, NOTHING, step, unknownOut } from './state.ts'
import { runBody, runScript } from './walk.ts'

/** A shell as it stands when the call starts. `sinkFor` gets the shell's own view of paths. */
export function startShell(call: GateCall, cwd: string, sinkFor: (places: () => Places) => Sink): Shell {
  const realpath = remembered(call.realpath)
  const shell: Omit<Shell, 'sink'> = {
    scope: {
      cwd,
      oldCwd: null,
      branch: call.branch ?? null,
      vars: new Map(),
      functions: new Map(),
      aliases: new Map(),
      positional: null,
    },
    home: call.home,
    project: call.project,
    budget: { steps: 0 },
    depth: 0,
    calling: [],
    parallel: 0,
    captured: 0,
    written: new Map(),
    unpacked: [],
    links: new Map(),
    fds: new Map(),
    remotes: new Set(),
    defined: [],
    atExit: [],
    places: () => ({
      home: call.home,
      project: call.project,
      cwd: shell.scope.cwd,
      oldCwd: shell.scope.oldCwd,
      realpath,
      links: shell.links,
    }),
    assign,
    readText,
    runFields: (inner, fields, input, via) =>
      runFields(inner, fields, input, via, (sh, words, stdin) => callFunction(sh, words, stdin, runBody)),
  }
  return Object.assign(shell, { sink: sinkFor(shell.places) })
}

/** One look at the file system for each path: a decision sees one state of it. */
function remembered(realpath: GateCall['realpath']): GateCall['realpath'] {
  if (realpath === undefined) return undefined
  const seen = new Map<string, string | null>()
  return (path) => {
    const known = seen.get(path)
    if (known !== undefined) return known
    const real = realpath(path)
    seen.set(path, real)
    return real
  }
}

/** Reads one shell text of a call into the shell's sink. Never throws: what can't be read is said in `opaque`. */
export function readShell(shell: Shell, text: string): void {
  const { facts } = shell.sink
  facts.bytes += Buffer.byteLength(text)
  if (facts.parse === 'none') facts.parse = 'ok'
  const wrong = scan(text)
  if (wrong !== null) {
    facts.parse = 'failed'
    shell.sink.opaque(wrong, 'shell')
    // Deny rules still see what the parser makes of it.
    if (wrong !== 'hidden' && wrong !== 'syntax') return
  }
  try {
    const out = runText(shell, text, NOTHING)
    readUncalled(shell, runBody)
    runTraps(shell)
    if (out.taints.has('secret_env')) shell.sink.env('*', 'secret')
    if (out.taints.has('environ')) shell.sink.env('*', 'dump')
  } catch (error) {
    facts.parse = 'failed'
    shell.sink.opaque(error instanceof BudgetSpent ? error.kind : 'reader_failed', 'shell')
  }
}

/** What runs when the shell ends. A trap may set another one; the same text runs once. */
function runTraps(shell: Shell): void {
  const done = new Set<string>()
  for (const { text, scope } of shell.atExit) {
    if (done.has(text)) continue
    done.add(text)
    shell.scope = scope
    deeper(shell, () => readText(shell, text, NOTHING))
  }
}

/** Characters of text whose scan and parse cost about as much as one step of the walk. */
const CHARS_PER_STEP = 50

const stepsOf = (text: string) => Math.ceil(text.length / CHARS_PER_STEP)

function readText(shell: Shell, text: string, input: Out): Out {
  const wrong = text.trim() === '' ? null : scanNested(text)
  if (wrong === null) return runText(shell, text, input)
  step(shell, stepsOf(text))
  shell.sink.opaque(wrong, 'shell')
  return unknownOut()
}

/** Reads text whose scan has been seen to. */
function runText(shell: Shell, text: string, input: Out): Out {
  step(shell, stepsOf(text))
  return text.trim() === '' ? unknownOut() : runScript(shell, parse(text), input)
}

/** Text made on the way (decoded, joined) gets the same look as the whole; hidden characters were looked for there. */
function scanNested(text: string): 'too_long' | 'too_deep' | 'oversize' | null {
  const wrong = scan(text)
  return wrong === 'too_long' || wrong === 'too_deep' || wrong === 'oversize' ? wrong : null
}
