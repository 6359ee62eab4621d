// What a program's reader gets and gives.
import type { Run } from '../../call.ts'
import type { Field, Out, Shell } from '../shell/state.ts'

export interface Cmd {
  name: string
  args: Field[]
  input: Out
  via: string[]
  run: Run
}

/** Notes a program's effects and says what it prints. */
export type Reader = (cmd: Cmd, shell: Shell) => Out
export type Readers = Record<string, Reader>
