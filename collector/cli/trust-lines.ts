// The lines that somebody else can pin: who signs this log's checkpoints, and its first record.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { toHex } from '../../conventions/bytes.ts'
import { decodeLogPayload, readFrame, segmentName } from '../../conventions/frame.ts'
import type { HomePaths } from '../../conventions/home.ts'
import { MAX_ENTRY_BYTES } from '../../conventions/limits.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import { leafHash } from '../verify/merkle.ts'
import { CliError, EXIT_USAGE, messageOf } from './exit.ts'

/** Text of a trust file for the log in `home`. Throws CliError when its first record can't be read. */
export function trustLines(home: HomePaths, now: Date): string {
  const record = firstRecord(`${home.log}/${segmentName(0)}`)
  const logKey = record === null ? undefined : logKeyOf(record)
  if (record === null || logKey === undefined) {
    throw new CliError(`the first record in ${home.log} can't be read; see: spanseal verify`, EXIT_USAGE)
  }
  return [
    `# What a verifier pins of this log. Printed ${now.toISOString()}; keep it where this machine can't change it.`,
    `log ${logKey}`,
    `genesis ${toHex(leafHash(record))}`,
    '',
  ].join('\n')
}

/** Id of the log in `home`. Throws CliError when its first record can't be read. */
export function logIdOf(home: HomePaths): string {
  const record = firstRecord(`${home.log}/${segmentName(0)}`)
  const parsed = record === null ? null : parseStrict(record)
  if (parsed?.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)) {
    const { log } = parsed.value
    if (typeof log === 'object' && log !== null && !Array.isArray(log) && typeof log.id === 'string') return log.id
  }
  throw new CliError(`the first record in ${home.log} can't be read; see: spanseal verify`, EXIT_USAGE)
}

/** Text of a file that was given with an option. Throws CliError. */
export function readGiven(what: 'trust' | 'checkpoint', path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`the ${what} file can't be read: ${messageOf(error)}`, EXIT_USAGE)
  }
}

function logKeyOf(record: Uint8Array): string | undefined {
  const parsed = parseStrict(record)
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    return undefined
  const { type, body } = parsed.value
  if (type !== 'log.opened' || typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  return typeof body.log_key === 'string' ? body.log_key : undefined
}

function firstRecord(path: string): Uint8Array | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return null
  }
  try {
    const bytes = Buffer.alloc(MAX_ENTRY_BYTES * 2)
    const read = readFrame(bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)), 0, crc32)
    return read.kind === 'frame' ? (decodeLogPayload(read.payload)?.record ?? null) : null
  } finally {
    closeSync(fd)
  }
}
