// `spanseal last`
import { type Context, flag } from '../context.ts'
import { newestRun } from '../find-run.ts'
import { withReader } from '../reader.ts'
import { showRun } from '../show-run.ts'

export async function run(context: Context): Promise<number> {
  await withReader(context.home, async (reader) => {
    await showRun(context, reader, await newestRun(reader, flag(context.options, 'open')))
  })
  return 0
}
