// OTLP/JSON in a file: one request, or one a line, as the OpenTelemetry Collector's file exporter writes them.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { copiesIn, type Found, MAX_COPIES, ReadBackError } from './copies.ts'

/** Every copy in the file: of the log `logId`, or of all. Throws ReadBackError when it can't be read. */
export async function findInFile(path: string, logId?: string): Promise<Found> {
  const found: Found = { copies: [], notChecked: [] }
  let unreadable = 0
  let rest = ''
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      rest += line
      const body = parse(rest)
      // A request written over several lines goes on; one that is a line of its own and broken would never end.
      if (body === undefined && !(rest === line && line.startsWith('{') && line.trimEnd().endsWith('}'))) continue
      if (body === undefined) unreadable++
      else found.copies.push(...copiesIn(body, logId).slice(0, MAX_COPIES - found.copies.length))
      rest = ''
      if (found.copies.length >= MAX_COPIES) {
        found.notChecked.push(`copies beyond ${MAX_COPIES}`)
        break
      }
    }
  } catch (error) {
    throw new ReadBackError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (rest.trim() !== '') unreadable++
  if (unreadable > 0) found.notChecked.push(`${unreadable} lines that are no JSON`)
  return found
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
