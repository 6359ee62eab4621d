// The gate's verbs.
export type { GateCall } from './call.ts'
export type { Policy } from './compile.ts'
export { statedIn } from './constraints/index.ts'
export { decide } from './decide.ts'
export { explain } from './explain.ts'
export { problemText } from './load/yaml.ts'
export type { PolicyProblem, PolicyResult } from './policy.ts'
export { loadPolicy } from './policy.ts'
