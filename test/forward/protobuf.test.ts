// What we write as protobuf, the receiver's own decoder reads back as the same request; and what answers in protobuf say.
import protobuf from 'protobufjs/minimal.js'
import { expect, it } from 'vitest'
import { encodeTraces, rejectedIn, statusCodeIn } from '../../collector/forward/protobuf.ts'
import { encodeSpan, exportRequest } from '../../collector/forward/request.ts'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { spansOfLog } from './forwarder-support.ts'
import { MemoryLog, Session } from './support.ts'

it('a request of every kind of span decodes to what its JSON decodes to', () => {
  const log = new MemoryLog()
  const session = new Session(log).open().prompt().decide('c1').complete('c1', 'error').decide('c2')
  session.closeTurn('crash')
  const spans = spansOfLog(log, 'a checkpoint – with ünicode')
  spans[0]?.attributes?.push(
    { key: 'empty', value: { stringValue: '' } },
    { key: 'large', value: { intValue: '-9007199254740993' } },
    { key: 'half', value: { doubleValue: 0.5 } },
    { key: 'no', value: { boolValue: false } },
    { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
  )
  Object.assign(spans[0] ?? {}, { links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }] })
  const json = exportRequest(spans.map(encodeSpan), { resourceAttributes: { team: 'x' }, version: '1' })
  const decoded = decodeTraces(encodeTraces(JSON.parse(json)), 'protobuf')
  expect(decoded).toMatchObject({ ok: true })
  expect(decoded).toEqual(decodeTraces(Buffer.from(json), 'json'))
})

it('an answer says how many were turned down, or why; garbage says nothing and throws nothing', () => {
  const partial = protobuf.Writer.create().uint32(10).fork().uint32(8).int64(3).uint32(18).string('x').ldelim().finish()
  expect(rejectedIn(partial)).toBe(3)
  const status = protobuf.Writer.create().uint32(18).string('bad').uint32(8).int32(3).finish()
  expect(statusCodeIn(status)).toBe(3)
  for (const bytes of [Buffer.alloc(0), Buffer.from('not protobuf'), Buffer.from([10, 200]), Buffer.from([255])]) {
    expect([rejectedIn(bytes), statusCodeIn(bytes)]).toEqual([0, null])
  }
})
