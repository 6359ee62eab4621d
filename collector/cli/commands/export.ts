// `spanseal export`: the bundle of a run, or with --leaf the proof of one record.
import { closeSync, openSync, writeSync } from 'node:fs'
import { fromBase64, fromHex } from '../../../conventions/bytes.ts'
import { type ContentRef, exportProof } from '../../verify/index.ts'
import { bundleOfRun, checkpointNow } from '../bundle-of-run.ts'
import { type Context, textOption } from '../context.ts'
import { CliError, EXIT_USAGE, messageOf } from '../exit.ts'
import { say } from '../output.ts'
import { SHORT_ID } from '../run-render.ts'
import { counted } from '../times.ts'

export async function run(context: Context): Promise<number> {
  const [run] = context.args
  const leaf = textOption(context.options, 'leaf')
  if ((run === undefined) === (leaf === undefined)) throw new CliError('a run, or --leaf', EXIT_USAGE)
  return leaf === undefined ? exportRun(context, run ?? '') : exportLeaf(context, leaf)
}

async function exportRun(context: Context, text: string): Promise<number> {
  const open = (textOption(context.options, 'open') ?? '')
    .split(',')
    .filter((ref) => ref !== '')
    .map(contentRef)
  const { run, records, checkpoint, lines } = await bundleOfRun(context, text, open)
  const output = textOption(context.options, 'output')
  const file = output ?? `${run.slice(0, SHORT_ID)}.evidence.jsonl`
  write(file, output === undefined, lines)
  const covered = checkpoint === null ? 'no checkpoint' : `checkpoint over ${counted(checkpoint, 'record')}`
  const content =
    open.length === 0 ? 'No content is in it.' : `It discloses ${counted(open.length, 'piece')} of content.`
  say(`${file === '-' ? 'written' : file}: ${counted(records, 'record')} shown, ${covered}. ${content}`)
  if (file !== '-') say(`verify it anywhere with: spanseal verify ${file} --trust FILE`)
  return 0
}

async function exportLeaf({ home, options }: Context, text: string): Promise<number> {
  if (textOption(options, 'open') !== undefined) throw new CliError('--open needs a run', EXIT_USAGE)
  const leaf = fromHex(text) ?? fromBase64(text)
  if (leaf?.length !== 32) throw new CliError('a leaf is 64 hex characters, or base64 as records write it', EXIT_USAGE)
  await checkpointNow(home)
  const made = exportProof({ root: home.root, leaf })
  if (!made.ok) throw new CliError(made.message)
  const output = textOption(options, 'output')
  const file = output ?? `record-${made.seq}.tlog-proof`
  write(file, output === undefined, [made.text])
  say(
    `${file === '-' ? 'written' : file}: record ${made.seq} under the checkpoint over ${counted(made.size, 'record')}.`,
  )
  return 0
}

/** Reads `SEQ:NAME`. */
function contentRef(text: string): ContentRef {
  const [, seq, name] = /^(0|[1-9][0-9]{0,14}):(.+)$/.exec(text) ?? []
  if (seq === undefined || name === undefined) {
    throw new CliError(`--open takes SEQ:NAME, as in 41:args, not ${JSON.stringify(text.slice(0, 80))}`, EXIT_USAGE)
  }
  return { seq: Number(seq), name }
}

/** `-` is stdout. A file that was named is replaced, one that was not is never. */
function write(file: string, isNew: boolean, lines: Iterable<string>): void {
  if (file === '-') {
    for (const line of lines) process.stdout.write(line)
    return
  }
  let fd: number
  try {
    fd = openSync(file, isNew ? 'wx' : 'w', 0o600)
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
