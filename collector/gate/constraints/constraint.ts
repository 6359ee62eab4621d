// What a person's prompt forbids for the rest of a run: the types the reader, the judge and the run share.

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

/** What one prompt says. `lifts`: constraints of before that it seems to end; that takes a person's approval, not a sentence. */
export interface Stated {
  constraints: Constraint[]
  lifts: Constraint[]
}

/** Two constraints that say the same. */
export function sameConstraint(a: Constraint, b: Constraint): boolean {
  return a.kind === b.kind && a.target === b.target
}
