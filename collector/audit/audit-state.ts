// How far a destination has been audited: a small file, replaced as a whole.
import { readFile, rename, writeFile } from 'node:fs/promises'
import * as z from 'zod'

const stateSchema = z.strictObject({
  v: z.literal(1),
  log_id: z.string(),
  /** First record that was not looked for yet. */
  next_seq: z.int().min(0),
  /** When the last audit ended, milliseconds since 1970. */
  at: z.int().optional(),
  looked_for: z.int().min(0),
  missing: z.int().min(0),
})

export type AuditState = z.infer<typeof stateSchema>

/** The state; a fresh one where there is no file, one that can't be read, or one of another log: then everything is looked for again. */
export async function readAuditState(file: string, logId: string): Promise<AuditState> {
  const fresh: AuditState = { v: 1, log_id: logId, next_seq: 0, looked_for: 0, missing: 0 }
  try {
    const state = stateSchema.safeParse(JSON.parse(await readFile(file, 'utf8')))
    return state.success && state.data.log_id === logId ? state.data : fresh
  } catch {
    return fresh
  }
}

/** Replaces the file. Throws the system's error. */
export async function writeAuditState(file: string, state: AuditState): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
