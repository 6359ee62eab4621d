// OTLP/JSON in a file: one request, or one a line, as the OpenTelemetry Collector's file exporter writes them.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { copiesIn, type Found, MAX_COPIES, ReadBackError } from './copies.ts'

/** Every copy in the file: of the log `logId`, or of all. Throws ReadBackError when it can't be read. */
export async function findInFile(path: string, logId?: string): Promise<Found> {
  const found: Found = { copies: [], notChecked: [] }
  let unreadable = 0
  const open = new Unfinished()
  const take = (body: unknown) => {
    if (body === undefined) unreadable++
    else found.copies.push(...copiesIn(body, logId).slice(0, MAX_COPIES - found.copies.length))
  }
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (open.isEmpty && line.trim() === '') continue
      const body = open.isEmpty ? parse(line) : undefined
      // A request written over several lines goes on; one that is a line of its own and broken would never end.
      if (body !== undefined || (open.isEmpty && (!line.startsWith('{') || line.trimEnd().endsWith('}')))) take(body)
      else if (open.add(line)) take(parse(open.text()))
      if (found.copies.length >= MAX_COPIES) {
        found.notChecked.push(`copies beyond ${MAX_COPIES}`)
        break
      }
    }
  } catch (error) {
    throw new ReadBackError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!open.isEmpty) unreadable++
  if (unreadable > 0) found.notChecked.push(`${unreadable} lines that are no JSON`)
  return found
}

/** Lines of a request that goes on. Its brackets are counted, so that it is parsed once and not again with each line. */
class Unfinished {
  private lines: string[] = []
  private depth = 0

  get isEmpty(): boolean {
    return this.lines.length === 0
  }

  /** True when the line may have been the last. */
  add(line: string): boolean {
    this.lines.push(line)
    // No text of JSON goes on in the next line.
    let inText = false
    for (const [mark] of line.matchAll(/\\.|["{}[\]]/g)) {
      if (mark === '"') inText = !inText
      else if (!inText && !mark.startsWith('\\')) this.depth += mark === '{' || mark === '[' ? 1 : -1
    }
    return this.depth <= 0
  }

  /** All of it; the next line begins anew. */
  text(): string {
    const text = this.lines.join('\n')
    this.lines = []
    this.depth = 0
    return text
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
