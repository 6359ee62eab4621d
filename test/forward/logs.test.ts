// The evidence as OTLP log records: every record and every checkpoint, in order, once; and spans without evidence where it is off.
import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import protobuf from 'protobufjs/minimal.js'
import { expect, onTestFinished, test } from 'vitest'
import { Forwarder } from '../../collector/forward/forwarder.ts'
import { type ExportLogsServiceRequest, type LogRecord, logs } from '../../collector/forward/logs.ts'
import { traces } from '../../collector/forward/traces.ts'
import { CheckpointReader } from '../../collector/store/checkpoint-reader.ts'
import type { KeyValue } from '../../conventions/otlp.ts'
import { readRecordAttributes } from '../../conventions/record-attribute.ts'
import { startBackend } from './backend.ts'
import { forward, idle, logOfTurns, temporaryFolder, until } from './forwarder-support.ts'
import { type MemoryLog, Session } from './support.ts'

/** A stand-in for a backend that takes logs. */
async function logBackend() {
  const taken: LogRecord[] = []
  const paths = new Set<string | undefined>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      paths.add(request.url)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as ExportLogsServiceRequest
      taken.push(...body.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  return { taken, paths, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const note = (size: number) => `spanseal.log/x\n${size}\nroot\n\n— x sig\n`

function rig(log: MemoryLog, url: string, folder: string) {
  const forwarder = new Forwarder({
    name: 'backend.logs',
    destination: { url, protocol: 'http/json', evidence: 'logs', content: false, headers: {} },
    signal: logs({
      checkpoints: () => {
        const reader = new CheckpointReader(`${folder}/checkpoints.jsonl`)
        return () => reader.next()
      },
    }),
    source: log,
    stateFile: join(folder, 'backend.logs.json'),
    checkpoint: () => undefined,
    resourceAttributes: {},
    version: '1',
    log: () => {},
  })
  onTestFinished(() => forwarder.stop({ drainMs: 0 }))
  forwarder.start()
  return forwarder
}

const text = ({ attributes }: { attributes: KeyValue[] }, key: string) => {
  const value = attributes.find((entry) => entry.key === key)?.value
  return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
}

test('every record goes out, with its bytes, and each checkpoint behind the last record it is over', async () => {
  const folder = temporaryFolder()
  const log = logOfTurns(2)
  const size = log.entries.length
  writeFileSync(`${folder}/checkpoints.jsonl`, [1, 4].map((n) => `${JSON.stringify(note(n))}\n`).join(''))
  const backend = await logBackend()
  const forwarder = rig(log, backend.url, folder)
  await until(() => forwarder.status().state === 'idle')
  expect([...backend.paths]).toEqual(['/v1/logs'])
  const records = backend.taken.filter(({ eventName }) => eventName === 'spanseal.record')
  expect(records.map((record) => readRecordAttributes((key) => text(record, key))?.record)).toEqual(
    log.entries.map(({ bytes }) => Uint8Array.from(bytes)),
  )
  expect(records.map(({ body }) => body)).toEqual(log.entries.map(({ record }) => ({ stringValue: record.type })))
  expect(records.map(({ traceId }) => traceId)).toEqual(log.entries.map(({ record }) => record.trace?.trace_id))
  const events = backend.taken.map(({ eventName }) => eventName)
  expect(events.indexOf('spanseal.checkpoint')).toBe(1)
  expect(events.lastIndexOf('spanseal.checkpoint')).toBe(5)

  // One over all there is, signed when all of it was sent; half of a line is not one yet.
  appendFileSync(`${folder}/checkpoints.jsonl`, `${JSON.stringify(note(size))}\n"spans`)
  forwarder.notify()
  await until(() => backend.taken.length === size + 3)
  expect(text(backend.taken.at(-1) as LogRecord, 'spanseal.checkpoint')).toBe(note(size))

  // A later start sends what is new, and at most the last checkpoint again.
  await forwarder.stop({ drainMs: 1_000 })
  new Session(log, 'other').open().prompt().closeTurn()
  const second = rig(log, backend.url, folder)
  await until(() => second.status().next_seq === log.entries.length && second.status().state === 'idle')
  const again = backend.taken.slice(size + 3)
  expect(again.filter(({ eventName }) => eventName === 'spanseal.record')).toHaveLength(log.entries.length - size)
  expect(again.filter(({ eventName }) => eventName === 'spanseal.checkpoint').length).toBeLessThanOrEqual(1)
})

test('the protobuf form holds the same fields under their numbers', () => {
  const [entry] = logOfTurns(1).entries
  if (entry === undefined) throw new Error('no entry')
  const signal = logs({ checkpoints: () => () => [] })
  const [item] = signal.fold().apply(entry)
  if (item === undefined) throw new Error('no record')
  const record: LogRecord = { ...JSON.parse(item.json), traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
  const sent = { ...item, json: JSON.stringify(record) }
  const { json, protobuf: encode } = signal.request([sent], { resourceAttributes: { team: 'x' }, version: '1' })
  expect((JSON.parse(json) as ExportLogsServiceRequest).resourceLogs[0]?.scopeLogs[0]?.logRecords).toEqual([record])
  const [resource, scopeLogs] = fields(fields(encode())[0]?.bytes)
  expect(resource?.number).toBe(1)
  const logRecord = fields(fields(scopeLogs?.bytes)[1]?.bytes)
  const at = (number: number) => logRecord.find((field) => field.number === number)
  expect(logRecord.map(({ number }) => number)).toEqual([1, 2, 5, ...record.attributes.map(() => 6), 9, 10, 11, 12])
  expect(at(1)?.fixed).toBe(record.timeUnixNano)
  expect(at(2)?.varint).toBe(9)
  expect(at(9)?.bytes?.toString('hex')).toBe('a'.repeat(32))
  expect(at(10)?.bytes?.toString('hex')).toBe('b'.repeat(16))
  expect(at(12)?.bytes?.toString()).toBe('spanseal.record')
})

/** The fields of a message, read with nothing but the wire format. */
function fields(bytes: Buffer | undefined | Uint8Array) {
  const reader = protobuf.Reader.create(bytes ?? new Uint8Array(0))
  const out: { number: number; bytes?: Buffer; fixed?: string; varint?: number }[] = []
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const number = tag >>> 3
    if ((tag & 7) === 2) out.push({ number, bytes: Buffer.from(reader.bytes()) })
    else if ((tag & 7) === 1) out.push({ number, fixed: String(reader.fixed64()) })
    else out.push({ number, varint: reader.uint32() })
  }
  return out
}

test('spans without evidence are the same spans but for the record and the checkpoint', async () => {
  const backend = await startBackend()
  const log = logOfTurns(2)
  const checkpoint = () => note(3)
  await idle(forward(log, backend.url, { signal: traces({ evidence: true }), checkpoint }))
  const carrying = backend.taken.splice(0)
  await idle(forward(log, backend.url, { signal: traces({ evidence: false }), checkpoint }))
  const keys = (span: { attributes?: KeyValue[] }) => (span.attributes ?? []).map(({ key }) => key)
  const evidence = (key: string) => /^spanseal\.(record|checkpoint)/.test(key)
  expect(carrying.flatMap(keys).filter(evidence).length).toBeGreaterThan(carrying.length)
  expect(backend.taken.flatMap(keys).filter(evidence)).toEqual([])
  expect(backend.taken.map(keys)).toEqual(carrying.map((span) => keys(span).filter((key) => !evidence(key))))
})
