// Shared by the OTLP tests: fixture bodies, and a protobuf writer that is not ours (protobufjs reflection over the same schema).
import { readdirSync, readFileSync } from 'node:fs'
import protobuf from 'protobufjs'
import type { Encoding } from '../../collector/receive/otlp/decode.ts'
import { readImport } from '../../collector/receive/otlp/import.ts'
import { ENUMS, MESSAGES } from '../../collector/receive/otlp/schema.ts'
import type { OtlpBatch } from '../../collector/receive/otlp/take.ts'
import type { ImportedSpan } from '../../conventions/import.ts'

const folder = new URL('../fixtures/otlp/', import.meta.url)

/** A span as spans.json lists it: trace id prefix, span id, parent, kind, status, name, attributes, events. */
export type ListedSpan = [string, string, string | null, number, number, string, number, number]

export interface EdgeCase {
  id: string
  method: string
  path: string
  headers: Record<string, string>
  bodyBase64: string
  expect: { status: number | string; contentType?: string; grpcCode?: number }
}

export const edgeCases: EdgeCase[] = JSON.parse(readFileSync(new URL('cases.json', folder), 'utf8'))
export const listedSpans: Record<string, ListedSpan[]> = JSON.parse(readFileSync(new URL('spans.json', folder), 'utf8'))

/** Every real body, with its encoding. */
export const bodies: { name: string; encoding: Encoding; body: Uint8Array }[] = readdirSync(folder)
  .filter((name) => /-traces-[0-9]+\.(?:pb|json)$/.test(name))
  .map((name) => ({
    name,
    encoding: name.endsWith('.pb') ? 'protobuf' : 'json',
    body: new Uint8Array(readFileSync(new URL(name, folder))),
  }))

const nested = Object.fromEntries([
  ...Object.entries(MESSAGES),
  ...Object.entries(ENUMS),
  ['ExportTraceServiceResponse', { fields: { partialSuccess: { id: 1, type: 'PartialSuccess' } } }],
  ['PartialSuccess', { fields: { rejectedSpans: { id: 1, type: 'int64' }, errorMessage: { id: 2, type: 'string' } } }],
  [
    'RpcStatus',
    {
      fields: {
        code: { id: 1, type: 'int32' },
        message: { id: 2, type: 'string' },
        details: { id: 3, rule: 'repeated', type: 'Any' },
      },
    },
  ],
  ['Any', { fields: { typeUrl: { id: 1, type: 'string' }, value: { id: 2, type: 'bytes' } } }],
])
const root = protobuf.Root.fromJSON({ nested: { otlp: { edition: 'proto3', nested } } } as protobuf.INamespace)

/** The received body of a batch. */
export const bodyOf = (batch: OtlpBatch | undefined): Uint8Array => batch?.contents[0]?.bytes ?? new Uint8Array(0)

/** Rows of a recorded /v1/traces body. */
export const readSpans = (body: Uint8Array, encoding: Encoding) =>
  readImport(body, encoding, 'traces', '') as ImportedSpan[]

/** A message type of protobufjs, to encode or decode with. */
export const typeNamed = (name: string) => root.lookupType(`otlp.${name}`)

/** Protobuf bytes of a request given in protobufjs's own shape (ids as bytes). */
export function encodeRequest(request: object): Uint8Array {
  const type = typeNamed('ExportTraceServiceRequest')
  return type.encode(type.fromObject(request)).finish().slice()
}

export const utf8 = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

export const TRACE_ID = '5b8efff798038103d269b633813fc60c'
export const SPAN_ID = 'eee19b7ec3c1b174'

/** A JSON request with one valid span and these changes to it. */
export const withSpan = (span: object, resource?: object) => ({
  resourceSpans: [{ resource, scopeSpans: [{ spans: [{ traceId: TRACE_ID, spanId: SPAN_ID, name: 'x', ...span }] }] }],
})

/** One length-delimited protobuf field, by hand: for bytes no protobuf library would write. */
export function field(number: number, ...content: number[]): number[] {
  const length: number[] = []
  let rest = content.length
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128)
  return [(number << 3) | 2, ...length, rest, ...content]
}
