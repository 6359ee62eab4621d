// The recorded bodies of instrumented libraries and agents, and what is expected of each item in them (test/fixtures/telemetry).
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import {
  decodeLogs,
  decodeMetrics,
  decodeTraces,
  type Encoding,
  type Malformed,
} from '../../../collector/receive/otlp/decode.ts'
import { type Item, logItems, pointItems, spanItems } from '../../../conventions/dialects/item.ts'
import type { Content, View } from '../../../conventions/dialects/view.ts'
import type { Signal } from '../../../conventions/import.ts'

const FOLDER = new URL('../../fixtures/telemetry/', import.meta.url)

export interface Body {
  source: string
  file: string
  signal: Signal
  encoding: Encoding
  bytes: Uint8Array
}

/** Folders of bodies, by the library or agent they are of. */
export const sources: string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.jsonl.gz'))
  .map((name) => name.slice(0, -'.jsonl.gz'.length))

export function bodiesOf(source: string): Body[] {
  const lines = gunzipSync(readFileSync(new URL(`${source}.jsonl.gz`, FOLDER)))
    .toString()
    .trimEnd()
    .split('\n')
  return lines.map((line) => {
    const { body, ...about } = JSON.parse(line)
    return { source, ...about, bytes: Buffer.from(body, about.encoding === 'protobuf' ? 'base64' : 'utf8') }
  })
}

export function itemsOf({ bytes, signal, encoding }: Body): Item[] {
  switch (signal) {
    case 'traces':
      return [...spanItems(decoded(decodeTraces(bytes, encoding)))]
    case 'logs':
      return [...logItems(decoded(decodeLogs(bytes, encoding)))]
    case 'metrics':
      return [...pointItems(decoded(decodeMetrics(bytes, encoding)))]
  }
}

function decoded<T>(result: { ok: true; request: T } | Malformed): T {
  if (!result.ok) throw new Error(result.message)
  return result.request
}

/** Characters of a content an expectation shows; of more, the beginning and the length. */
const SHOWN = 100

/** One item and its view, short enough to be read beside the body. */
export function line(item: Item, { content, requested, cut, unread, ...facts }: View): object {
  return {
    item: nameOf(item),
    ...facts,
    ...(requested.length > 0 && {
      requested: requested.map(({ arguments: args, ...call }) => ({
        ...call,
        ...(args !== undefined && { arguments: shown(args) }),
      })),
    }),
    ...(Object.keys(content).length > 0 && {
      content: Object.fromEntries(
        (Object.keys(content) as (keyof Content)[]).map((name) => [name, shown(content[name] ?? '')]),
      ),
    }),
    ...(cut.length > 0 && { cut }),
    ...(unread.count > 0 && { unread: unread.names }),
  }
}

function nameOf(item: Item): string {
  if (item.signal === 'span') return item.span.name
  if (item.signal === 'metric') return item.metric.name
  const { attributes = [], body, eventName } = item.log
  const named = attributes.find(({ key }) => key === 'event.name')?.value
  const text = named ?? body
  return text !== undefined && 'stringValue' in text ? shown(text.stringValue) : (eventName ?? '')
}

function shown(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}... (${text.length})`
}

/** What is expected of a source, by file: a line for each item; undefined where nothing is written down. */
export function expectedOf(source: string): Record<string, object[]> | undefined {
  const path = new URL(`${source}.views.jsonl`, FOLDER)
  if (!existsSync(path)) return undefined
  const out: Record<string, object[]> = {}
  for (const text of readFileSync(path, 'utf8').trimEnd().split('\n')) {
    const { file, times = 1, ...view } = JSON.parse(text)
    out[file] ??= []
    for (let i = 0; i < times; i++) out[file]?.push(view)
  }
  return out
}
