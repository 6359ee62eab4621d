// The world the gate's tests play in, and short ways to ask it something.
import { readFileSync } from 'node:fs'
import type { GateCall, GateDecision } from '../../collector/gate/call.ts'
import type { CallCase } from '../../collector/gate/corpus.ts'
import { decide, loadPolicy, type Policy } from '../../collector/gate/index.ts'
import type { Json } from '../../conventions/strict-json.ts'

export const WORLD: Omit<GateCall, 'tool' | 'args'> = {
  agent: 'claude-code',
  cwd: '/home/dev/project',
  home: '/home/dev',
  project: '/home/dev/project',
  spansealHome: '/home/dev/.spanseal',
  branch: 'feature/x',
  // Stands for the file system: one symbolic link in the project.
  realpath: (path) => (path === '/home/dev/project/link-to-ssh' ? '/home/dev/.ssh' : null),
}

/** The built-in policy. */
export function builtin(): Policy {
  const loaded = loadPolicy()
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors, null, 2))
  return loaded.policy
}

const POLICY = builtin()

export function call(tool: string, args: Json, world: Partial<GateCall> = {}): GateDecision {
  return decide(POLICY, { ...WORLD, tool, args, ...world })
}

export function bash(command: string, world: Partial<GateCall> = {}): GateDecision {
  return call('Bash', { command }, world)
}

export type Case = CallCase & { input: Json; cwd: string; family: string }

/** Cases of a file: the corpus, or the project's own of the same families (`own.jsonl`). */
export function corpus(file = 'corpus.jsonl'): Case[] {
  const text = readFileSync(new URL(`../fixtures/policy/${file}`, import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case)
}

/** True when the call does not run at once. */
export function stopped({ decision }: GateDecision): boolean {
  return decision === 'deny' || decision === 'ask'
}
