// `spanseal show RUN`
import type { Context } from '../context.ts'
import { findRun } from '../find-run.ts'
import { withReader } from '../reader.ts'
import { showRun } from '../show-run.ts'

export async function run(context: Context): Promise<number> {
  await withReader(context.home, async (reader) => {
    await showRun(context, reader, await findRun(reader, context.args[0] ?? ''))
  })
  return 0
}
