// `spanseal show RUN`
import type { Context } from '../context.ts'
import { findAnyRun } from '../find-run.ts'
import { withReader } from '../reader.ts'
import { showAnyRun } from '../show-run.ts'

export async function run(context: Context): Promise<number> {
  await withReader(context.home, async (reader) => {
    await showAnyRun(context, reader, await findAnyRun(reader, context.args[0] ?? ''))
  })
  return 0
}
