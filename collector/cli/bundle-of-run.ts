// The bundle of one run, out of the home's log.
import type { HomePaths } from '../../conventions/home.ts'
import { type ContentRef, exportBundle } from '../verify/index.ts'
import { askOk, NotRunning } from './admin-client.ts'
import type { Context } from './context.ts'
import { CliError } from './exit.ts'
import { findRun } from './find-run.ts'
import { withReader } from './reader.ts'

export interface RunBundle {
  run: string
  records: number
  /** Records under the checkpoint in it; null: it has none. */
  checkpoint: number | null
  lines: Iterable<string>
}

/** Asks a running collector for a checkpoint over all there is. */
export async function checkpointNow(home: HomePaths): Promise<void> {
  try {
    await askOk(home, 'POST', '/checkpoint')
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error
  }
}

/** Finds the run, asks a running collector for a checkpoint over all there is, and prepares the bundle. Throws CliError. */
export async function bundleOfRun(
  { home }: Context,
  text: string,
  open: readonly ContentRef[] = [],
): Promise<RunBundle> {
  const run = await withReader(home, (reader) => findRun(reader, text))
  await checkpointNow(home)
  const made = exportBundle({ root: home.root, run: { id: run }, open })
  if (!made.ok) throw new CliError(made.message)
  const { records, checkpoint, lines } = made
  return { run, records, checkpoint, lines }
}
