// The gate's verbs.
export type { Facts, GateCall, GateDecision } from './call.ts'
export type { Policy } from './compile.ts'
export { decide } from './decide.ts'
export { explain } from './explain.ts'
export type { PolicyProblem, PolicyResult } from './policy.ts'
export { loadPolicy } from './policy.ts'
