// Asks for a passphrase on the terminal, without showing it. Never from an argument or the environment: other processes read those.
import { openSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { CliError, EXIT_USAGE } from './exit.ts'

const ENTER = new Set([0x0a, 0x0d, 0x04])
const BACKSPACE = new Set([0x08, 0x7f])
const INTERRUPT = 0x03
/** Bytes. Longer ones are a mistake. */
const MAX_BYTES = 1_024

/** One line from the controlling terminal. Throws CliError where there is none, or on Ctrl-C. */
export async function askPassphrase(question: string): Promise<string> {
  const stream = openTerminal()
  // Raw: the terminal shows nothing, and Ctrl-C comes as a byte.
  stream.setRawMode(true)
  process.stderr.write(question)
  try {
    return await readLine(stream)
  } finally {
    stream.setRawMode(false)
    process.stderr.write('\n')
    stream.destroy()
  }
}

function openTerminal(): ReadStream {
  try {
    return new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    throw new CliError('a passphrase is asked for on a terminal, and there is none', EXIT_USAGE)
  }
}

async function readLine(terminal: ReadStream): Promise<string> {
  const typed: number[] = []
  for await (const chunk of terminal) {
    for (const code of chunk as Buffer) {
      if (code === INTERRUPT) throw new CliError('interrupted; nothing was signed')
      if (ENTER.has(code)) return Buffer.from(typed).toString('utf8')
      if (BACKSPACE.has(code)) {
        // Back over one whole character.
        while (((typed.pop() ?? 0) & 0xc0) === 0x80);
      } else if (typed.push(code) > MAX_BYTES) {
        throw new CliError(`a passphrase has at most ${MAX_BYTES} bytes`, EXIT_USAGE)
      }
    }
  }
  throw new CliError('the terminal is gone; nothing was signed')
}
