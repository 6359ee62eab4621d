// Walks a parsed script in the order a shell would run it: lists, pipelines, compounds, functions, redirects.
import type {
  Command,
  CommandNode,
  CompoundCommand,
  CompoundList,
  ParsedScript,
  Statement,
  SyntaxNode,
  Word,
} from 'unbash'
import { forEachChild } from 'unbash'
import { UNKNOWN } from '../../call.ts'
import { defineFunction } from './functions.ts'
import { redirect } from './redirects.ts'
import type { Field, Out, Shell } from './state.ts'
import { captured, mix, NOTHING, plain, step, subshell } from './state.ts'
import { arithmetic, assignedFields, expandArguments, expandWord, substitutionsIn } from './words.ts'

/** Values of a loop variable that are each run; beyond, the variable is unknown. */
const MAX_LOOP_VALUES = 64

/** Runs a script in this shell; output of its commands together. */
export function runScript(shell: Shell, script: ParsedScript, input: Out): Out {
  if ((script.errors?.length ?? 0) > 0) {
    shell.sink.facts.parse = 'partial'
    shell.sink.opaque('syntax', 'shell')
  }
  return runList(shell, script.commands, input)
}

/** Runs the script of a substitution: a subshell of its own. */
function runNested(shell: Shell, script: ParsedScript, input: Out): Out {
  return captured(shell, () => subshell(shell, () => runScript(shell, script, input)))
}

function runList(shell: Shell, statements: readonly Statement[], input: Out): Out {
  let out = NOTHING
  for (const statement of statements) {
    const background = statement.background === true
    out = join(
      out,
      background
        ? sideBySide(shell, () => runNode(shell, statement.command, input))
        : runNode(shell, statement.command, input),
    )
  }
  return out
}

function sideBySide<T>(shell: Shell, work: () => T): T {
  shell.parallel++
  try {
    return work()
  } finally {
    shell.parallel--
  }
}

/** Output of two commands after another. */
function join(a: Out, b: Out): Out {
  if (a === NOTHING || (a.text === '' && a.taints.size === 0 && a.fields === null)) return b
  if (b === NOTHING || (b.text === '' && b.taints.size === 0 && b.fields === null)) return a
  const fields = a.fields !== null && b.fields !== null ? [...a.fields, ...b.fields] : null
  return { text: a.text === null || b.text === null ? null : a.text + b.text, taints: mix(a.taints, b.taints), fields }
}

function runNode(shell: Shell, node: Statement['command'] | CommandNode, input: Out): Out {
  step(shell)
  switch (node.type) {
    case 'Command':
      return runCommand(shell, node, input)
    case 'AndOr': {
      let out = NOTHING
      for (const command of node.commands) out = join(out, runNode(shell, command, input))
      return out
    }
    case 'Pipeline': {
      if (node.commands.length === 1)
        return node.commands[0] === undefined ? NOTHING : runNode(shell, node.commands[0], input)
      let piped = input
      sideBySide(shell, () => {
        for (const [i, command] of node.commands.entries()) {
          const stage = () => subshell(shell, () => runNode(shell, command, piped))
          piped = i < node.commands.length - 1 ? captured(shell, stage) : stage()
        }
      })
      return piped
    }
    case 'Function':
      return defineFunction(shell, node)
    case 'Coproc':
      return sideBySide(shell, () =>
        node.body.type === 'CompoundList'
          ? runList(shell, node.body.commands, input)
          : runNode(shell, node.body, input),
      )
    case 'Redirected': {
      const streams = redirect(shell, node.redirects, input, runNested)
      return streams.finish(runCompound(shell, node.command, streams.input))
    }
    default:
      return runCompound(shell, node, input)
  }
}

function runCompound(shell: Shell, node: CompoundCommand, input: Out): Out {
  const body = (list: CompoundList | undefined) => (list === undefined ? NOTHING : runList(shell, list.commands, input))
  switch (node.type) {
    case 'Subshell':
      return subshell(shell, () => body(node.body))
    case 'BraceGroup':
      return body(node.body)
    case 'If': {
      const branches = [
        node.clause,
        node.then,
        ...node.elif.flatMap((branch) => [branch.clause, branch.then]),
        node.else,
      ]
      return branches.reduce((out, branch) => join(out, body(branch)), NOTHING)
    }
    case 'While':
      if (
        isEndless(node.clause) &&
        node.body.commands.some(({ background }) => background === true) &&
        !mentions(node.body, /^(?:wait|sleep|break|exit)$/)
      )
        shell.sink.opaque('fork_bomb', 'shell')
      return join(body(node.clause), body(node.body))
    case 'For':
    case 'Select':
      return runLoop(shell, node.name.value, node.wordlist, () => body(node.body))
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) arithmetic(shell, part, runNested)
      return body(node.body)
    case 'ArithmeticCommand':
      if (node.expression !== undefined) arithmetic(shell, node.expression, runNested)
      return NOTHING
    case 'TestCommand':
      expandAll(shell, node)
      return NOTHING
    case 'Case':
      expandWord(shell, node.word, runNested)
      return node.items.reduce((out, item) => {
        for (const pattern of item.pattern) expandWord(shell, pattern, runNested)
        return join(out, body(item.body))
      }, NOTHING)
  }
}

/** `while true`, `while :`. */
function isEndless({ commands }: CompoundList): boolean {
  const command = commands[0]?.command
  return commands.length === 1 && command?.type === 'Command' && /^(?:true|:|1)$/.test(command.name?.value ?? '')
}

function mentions({ commands }: CompoundList, name: RegExp): boolean {
  return commands.some(({ command }) => command.type === 'Command' && name.test(command.name?.value ?? ''))
}

function runLoop(shell: Shell, name: string, words: readonly Word[] | undefined, body: () => Out): Out {
  const values = words === undefined ? [plain(UNKNOWN)] : words.flatMap((word) => expandWord(shell, word, runNested))
  const few = values.length > MAX_LOOP_VALUES ? [plain(UNKNOWN)] : values
  let out = NOTHING
  for (const value of few) {
    shell.scope.vars.set(name, [value])
    out = join(out, body())
  }
  return out
}

/** Expands every word below a node whose words are only compared. */
function expandAll(shell: Shell, node: SyntaxNode): void {
  step(shell)
  if (node.type === 'Word') {
    // An array index in a test is evaluated once more.
    for (const { text } of expandWord(shell, node, runNested))
      if (/\[[^\]]*(?:\$\(|`)/.test(text)) substitutionsIn(shell, text, runNested)
  } else forEachChild(node, (child) => expandAll(shell, child))
}

function runCommand(shell: Shell, command: Command, input: Out): Out {
  const prefix: Field[] = []
  for (const part of command.prefix) {
    if (part.type !== 'Assignment') continue
    const values = assignedFields(shell, part, runNested)
    const before = part.append === true ? (shell.scope.vars.get(part.name) ?? [plain(UNKNOWN)]) : []
    const isArray = part.value.type === 'ArrayValue'
    const joined = isArray ? [...before, ...values] : [joinText(before, values)]
    shell.scope.vars.set(part.name, joined)
    prefix.push({
      ...plain(`${part.name}=${joined.map(({ text }) => text).join(' ')}`),
      taints: mix(...joined.map(({ taints }) => taints)),
    })
  }
  const name = command.name === undefined ? [] : expandWord(shell, command.name, runNested)
  const fields = [...name, ...expandArguments(shell, command.args, runNested)]
  const streams = redirect(shell, command.redirects, input, runNested)
  if (command.name === undefined) {
    shell.assign(shell, prefix, false)
    return streams.finish(NOTHING)
  }
  shell.assign(shell, prefix, true)
  // A command word that expands to nothing leaves the next word as the command.
  const words = fields.findIndex(({ text, taints }) => text !== '' || taints.size > 0)
  if (words < 0) return streams.finish(NOTHING)
  const out = shell.runFields(shell, fields.slice(words), streams.input, [])
  return streams.finish(out)
}

function joinText(before: Field[], values: Field[]): Field {
  const all = [...before, ...values]
  const tree = all.length === 1 && all[0]?.tree === true
  return {
    ...plain(all.map(({ text }) => text).join('')),
    taints: mix(...all.map(({ taints }) => taints)),
    tree,
    glob: all.some(({ glob }) => glob),
  }
}

/** Runs a function's body with its arguments. */
export function runBody(shell: Shell, node: Extract<CommandNode, { type: 'Function' }>, input: Out): Out {
  const { body } = node
  if (body.type === 'CompoundList') return runList(shell, body.commands, input)
  return runNode(shell, body, input)
}
