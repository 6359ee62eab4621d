// Live constraints: what a prompt forbids, and whether a call does it.
export { beyondScope, broken } from './breaks.ts'
export type { Constraint, ConstraintKind, Stated } from './constraint.ts'
export { CONSTRAINT_KINDS, sameConstraint } from './constraint.ts'
export { statedIn } from './read.ts'
