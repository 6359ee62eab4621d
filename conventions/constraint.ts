// What a person's prompt forbids for the rest of a run: what the gate reads, a run remembers and a record says.

import * as z from 'zod'

/**
 * scope is what may be changed; going beyond it is told afterwards and never held. Every other kind is what may not be done, and a
 * call that does it waits for a person.
 */
export const CONSTRAINT_KINDS = [
  'no-modify',
  'read-only',
  'no-push',
  'no-commit',
  'no-network',
  'no-install',
  'no-run',
  'no-delete',
  'no-read',
  'scope',
] as const
export type ConstraintKind = (typeof CONSTRAINT_KINDS)[number]

/** `target`: a path, a command or a branch as the person wrote it; null where the whole kind is meant. */
export interface Constraint {
  kind: ConstraintKind
  target: string | null
}

/** Constraints a run keeps. An agent can write prompts too; beyond this every change of a file waits for a person. */
export const MAX_CONSTRAINTS = 32

/** What one prompt says. `lifts`: constraints of before that it seems to end; that takes a person's approval, not a sentence. */
export interface Stated {
  constraints: Constraint[]
  lifts: Constraint[]
}

/** Two constraints that say the same. */
export function sameConstraint(a: Constraint, b: Constraint): boolean {
  return a.kind === b.kind && a.target === b.target
}

/** Constraints as they stand in the vault, or null when the text is no such list. */
export function readConstraints(text: string): Constraint[] | null {
  try {
    const found = list.safeParse(JSON.parse(text))
    return found.success ? found.data : null
  } catch {
    return null
  }
}

const list = z.array(z.strictObject({ kind: z.enum(CONSTRAINT_KINDS), target: z.string().nullable() }))
