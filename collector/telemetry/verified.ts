// What the last `spanseal verify` of this home said: told by that command to the running collector, and kept over a restart.
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'

/** `disobeyed`: nothing was changed, but a decision was not obeyed. */
export const VERIFY_STATUSES = ['intact', 'self_consistent', 'broken', 'unusable', 'disobeyed'] as const

/** What the command tells. */
export const LAST_VERIFY = z.strictObject({ time: z.iso.datetime(), status: z.enum(VERIFY_STATUSES) })
export type LastVerify = z.infer<typeof LAST_VERIFY>

/** Undefined when none was kept, or what was kept is no such thing. */
export function readLastVerify(path: string): LastVerify | undefined {
  if (!existsSync(path)) return undefined
  try {
    return LAST_VERIFY.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // A file cut by a crash; the next verification writes it anew.
    return undefined
  }
}
