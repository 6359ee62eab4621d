// Live constraints: what a prompt forbids, and whether a call does it.
export { beyondScope, broken } from './breaks.ts'
export { statedIn } from './read.ts'
export { inWords } from './words.ts'
