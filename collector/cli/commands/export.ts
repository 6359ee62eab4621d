// `spanseal export RUN`
import { closeSync, openSync, writeSync } from 'node:fs'
import { bundleOfRun } from '../bundle-of-run.ts'
import { type Context, textOption } from '../context.ts'
import { CliError, messageOf } from '../exit.ts'
import { say } from '../output.ts'
import { SHORT_ID } from '../run-render.ts'
import { counted } from '../times.ts'

export async function run(context: Context): Promise<number> {
  const { run, records, checkpoint, lines } = await bundleOfRun(context, context.args[0] ?? '')
  const output = textOption(context.options, 'output')
  const file = output ?? `${run.slice(0, SHORT_ID)}.evidence.jsonl`
  if (file === '-') {
    for (const line of lines) process.stdout.write(line)
  } else write(file, output === undefined, lines)
  const covered = checkpoint === null ? 'no checkpoint' : `checkpoint over ${counted(checkpoint, 'record')}`
  say(`${file === '-' ? 'written' : file}: ${counted(records, 'record')} shown, ${covered}. No content is in it.`)
  if (file !== '-') say(`verify it anywhere with: spanseal verify ${file} --trust FILE`)
  return 0
}

/** A file that was named is replaced, one that was not is never. */
function write(file: string, isNew: boolean, lines: Iterable<string>): void {
  let fd: number
  try {
    fd = openSync(file, isNew ? 'wx' : 'w')
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new CliError(
      exists ? `${file} is there already; name a file with -o` : `${file} can't be written: ${messageOf(error)}`,
    )
  }
  try {
    for (const line of lines) writeSync(fd, line)
  } finally {
    closeSync(fd)
  }
}
