// Shell functions: kept when defined, run with their arguments when called, and run once anyway when never called.
import type { CommandNode } from 'unbash'
import type { Field, Out, Shell } from './state.ts'
import { deeper, NOTHING, plain } from './state.ts'

type FunctionNode = Extract<CommandNode, { type: 'Function' }>
export type RunBody = (shell: Shell, node: FunctionNode, input: Out) => Out

/** Remembers a function; what it does is read when it is called. */
export function defineFunction(shell: Shell, node: FunctionNode): Out {
  const entry = { node, called: false }
  shell.scope.functions.set(node.name.value, entry)
  shell.defined.push(entry)
  return NOTHING
}

/** Runs the function of that name, or null when there is none. */
export function callFunction(shell: Shell, fields: Field[], input: Out, run: RunBody): Out | null {
  const name = fields[0]?.text ?? ''
  const entry = shell.scope.functions.get(name)
  if (entry === undefined) return null
  entry.called = true
  const { node } = entry
  const words = fields.map(({ text }) => text).join('\n')
  const active = shell.calling.filter((one) => one.node === node)
  if (active.length > 0 && shell.parallel > 0) shell.sink.opaque('fork_bomb', 'shell')
  // The same words again do nothing new; other words do.
  if (active.some((one) => one.words === words)) return NOTHING
  return deeper(shell, () => {
    const outer = shell.scope.positional
    shell.calling.push({ node, words })
    shell.scope.positional = [plain(name), ...fields.slice(1)]
    try {
      return run(shell, node, input)
    } finally {
      shell.calling.pop()
      shell.scope.positional = outer
    }
  })
}

/** Reads the functions that nothing called: a later call of the agent's shell could. */
export function readUncalled(shell: Shell, run: RunBody): void {
  for (const entry of shell.defined) {
    if (entry.called) continue
    entry.called = true
    shell.calling.push({ node: entry.node, words: entry.node.name.value })
    run(shell, entry.node, NOTHING)
    shell.calling.pop()
  }
}
