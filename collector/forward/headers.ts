// The headers of one request. Values from files are read for each request, so that a renewed token needs no restart; none of them is
// ever part of a message.
import { readFile } from 'node:fs/promises'
import { errorCode } from './cursor.ts'
import type { Destination, HeaderSource } from './destination.ts'

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

type Headers = { ok: true; headers: Record<string, string> } | { ok: false; message: string }
type Value = { ok: true; value: string } | { ok: false; message: string }

/** Throws TypeError, naming the header only, when one can't be sent whatever its source will say. */
export function checkHeaders(headers: Destination['headers']): void {
  for (const [name, source] of Object.entries(headers)) {
    if (!NAME.test(name)) throw new TypeError('a header of the destination has no valid name')
    if (typeof source === 'string' && !VALUE.test(source)) throw new TypeError(unsendable(name))
  }
}

/** Reads all values now. The message of a refusal names the header and its source, never a value. */
export async function readHeaders(headers: Destination['headers'], env = process.env): Promise<Headers> {
  const out: Record<string, string> = {}
  for (const [name, source] of Object.entries(headers)) {
    const read = await readSource(source, env)
    if (!read.ok) return { ok: false, message: `the header ${name}: ${read.message}` }
    if (!VALUE.test(read.value)) return { ok: false, message: unsendable(name) }
    out[name] = read.value
  }
  return { ok: true, headers: out }
}

async function readSource(source: HeaderSource, env: NodeJS.ProcessEnv): Promise<Value> {
  if (typeof source === 'string') return { ok: true, value: source }
  if ('env' in source) {
    const value = env[source.env]
    if (value !== undefined && value !== '') return { ok: true, value }
    return { ok: false, message: `${source.env} is not in the environment that the collector was started in` }
  }
  try {
    // Editors and `echo` end a file with a line feed.
    const value = (await readFile(source.file, 'utf8')).trim()
    return value === '' ? { ok: false, message: `${source.file} is empty` } : { ok: true, value }
  } catch (error) {
    return { ok: false, message: `${source.file} can't be read: ${errorCode(error)}` }
  }
}

const unsendable = (name: string) => `the header ${name} has a value that can't be sent`
