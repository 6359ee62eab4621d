// What the collector and its index process say to each other, as JSON over the process's own channel.
import type { Position } from '../../../conventions/log.ts'
import type { Param, SyncResult } from './database.ts'
import type { SqlAnswer, SqlBudget } from './user-sql.ts'
import type { Row } from './values.ts'

/** `durable`: what an answer must include; absent when nothing was ever said to be durable. */
export type ToWorker =
  | { kind: 'durable'; position: Position }
  | { kind: 'query'; id: number; sql: string; params: Param[]; durable?: Position | undefined }
  | { kind: 'sql'; id: number; sql: string; budget: SqlBudget; durable?: Position | undefined }
  /** The home's policy or configuration is another from here on. */
  | { kind: 'changed' }
  | { kind: 'close' }

export type FromWorker =
  | { kind: 'rows'; id: number; result: Row[] }
  | { kind: 'answer'; id: number; result: SqlAnswer }
  | { kind: 'failed'; id: number; error: string }
  | { kind: 'synced'; reached: SyncResult }
  /** Something a person may want to know; never content. */
  | { kind: 'trouble'; message: string }
