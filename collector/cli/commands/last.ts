// `spanseal last`
import { type Context, flag } from '../context.ts'
import { newestAnyRun } from '../find-run.ts'
import { withReader } from '../reader.ts'
import { showAnyRun } from '../show-run.ts'

export async function run(context: Context): Promise<number> {
  await withReader(context.home, async (reader) => {
    await showAnyRun(context, reader, await newestAnyRun(reader, flag(context.options, 'open')))
  })
  return 0
}
