// Copies kept elsewhere against logs that were honest, cut, rewritten or forked by someone who holds the keys: rows 9 to 18 and 35 to
// 37 of the tampering table, with copies at hand.
import { afterAll, expect, it } from 'vitest'
import { type JudgedCopy, renderReport, verifyHome } from '../../collector/verify/index.ts'
import type { Copy } from '../../conventions/copy.ts'
import type { SignedRecord } from '../../conventions/frame.ts'
import { recordAttributes } from '../../conventions/record-attribute.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { freshFolder, newKey, removeFolders, TestLog } from './support.ts'

afterAll(removeFolders)

const TRACE = 'a'.repeat(32)
const spanOf = (seq: number) => String(seq).padStart(16, '0')

/** A log whose records after the first are about spans of one trace. `last`: name of the last call, to make another history. */
function logOf(calls: number, { keys, id, last = 'end' }: { keys?: TestLog['keys']; id?: string; last?: string } = {}) {
  const log = new TestLog(keys, id)
  for (let i = 0; i < calls; i++) {
    const seq = log.records.length
    const change = (record: Record<string, Json>) => {
      record.trace = { trace_id: TRACE, span_id: spanOf(seq) }
      // Times that differ make other bytes.
      if (i === calls - 1 && last !== 'end') record.source = { kind: 'collector', version: last }
    }
    log.add('gap', { kind: 'hook_missing', count: i }, { change })
  }
  log.checkpoint()
  return log
}

function copyOf(
  { kid, signature, record }: SignedRecord,
  seq: number,
  change: (text: string) => string = (t) => t,
): Copy {
  const receipt = {
    kid: `sha256:${Buffer.from(kid).toString('hex')}`,
    signature: Buffer.from(signature).toString('base64'),
    bytes: record,
  }
  const attributes = recordAttributes(receipt)
  return {
    traceId: TRACE,
    spanId: spanOf(seq),
    name: 'spanseal.gap',
    attribute: (key) => (attributes[key] === undefined ? undefined : change(attributes[key])),
  }
}

const copiesOf = (log: TestLog) => log.records.slice(1).map((record, i) => copyOf(record, i + 1))

async function compare(log: TestLog, copies: Copy[], trust = log.trust, notChecked: string[] = []) {
  let judged: readonly JudgedCopy[] = []
  const report = await verifyHome({
    root: log.write(freshFolder()),
    trust,
    copies: { from: 'Jaeger', copies, notChecked },
    onCopies: (all) => {
      judged = all
    },
  })
  return { report, judged, codes: report.findings.map(({ code }) => code), text: renderReport(report) }
}

it('an untouched log and its copies agree; a missing copy proves nothing', async () => {
  const log = logOf(10)
  const all = await compare(log, copiesOf(log), log.trust, ['anything older'])
  expect(all.report).toMatchObject({ status: 'intact', exit: 0, copies: { agree_to: 10, counts: { agrees: 10 } } })
  expect(all.text).toContain('Jaeger: 10 copies agree up to record 10.')
  expect(all.text).toContain('NOT CHECKED: anything older.')
  expect(all.text).not.toContain('NOT SEEN OUTSIDE')
  const some = await compare(log, copiesOf(log).slice(2, 4))
  expect(some.report).toMatchObject({ status: 'intact', findings: [], copies: { agree_to: 4, counts: { agrees: 2 } } })
  const none = await compare(log, [])
  expect(none.report).toMatchObject({ status: 'intact', copies: { agree_to: null } })
  expect(none.text).toContain('no copy agrees')
  expect(none.text).toContain('NOT SEEN OUTSIDE')
})

it('a cut-off tail, without any trace of it at home, is named by its copies', async () => {
  const log = logOf(10)
  const copies = copiesOf(log)
  log.records = log.records.slice(0, 6)
  log.notes = []
  log.checkpoint()
  const { report, codes } = await compare(log, copies)
  expect(codes).toEqual(['copy.beyond_log'])
  expect(report).toMatchObject({ status: 'broken', exit: 1 })
  expect(report.findings[0]).toMatchObject({ count: 5, records: [6, 7, 8, 9, 10] })
  expect((await compare(log, [])).report).toMatchObject({ status: 'intact' })
})

it('a last record rewritten with the real keys is a mismatch, what was signed over it a fork', async () => {
  const keys = { log: newKey(), record: newKey() }
  const before = logOf(5, { keys, id: 'c'.repeat(32) })
  const after = logOf(5, { keys, id: 'c'.repeat(32), last: 'forged' })
  const one = await compare(after, copiesOf(before))
  expect(one.codes).toEqual(['copy.mismatch'])
  expect(one.report).toMatchObject({ status: 'broken', findings: [{ records: [5], count: 1 }] })
  // Both go on: everything after the rewritten record was signed over another history.
  before.add('gap', { kind: 'hook_missing', count: 9 })
  after.add('gap', { kind: 'hook_missing', count: 9 })
  const two = await compare(after, copiesOf(before))
  expect(two.codes).toEqual(['copy.mismatch', 'copy.fork'])
  expect(two.judged.filter(({ verdict }) => verdict === 'agrees')).toHaveLength(4)
})

it('cut, masked and replaced copies are damaged and warn, with a guess why', async () => {
  const log = logOf(6)
  const [first, second, third, ...others] = log.records.slice(1)
  if (first === undefined || second === undefined || third === undefined) throw new Error('too short')
  const copies = [
    copyOf(first, 1, (text) => text.slice(0, 200)),
    copyOf(second, 2, (text) => `${text.slice(0, 100)}****${text.slice(104)}`),
    copyOf(third, 3, (text) => text.replace(/.$/, (c) => (c === 'A' ? 'Q' : 'A'))),
    ...others.map((record, i) => copyOf(record, i + 4)),
  ]
  const { report } = await compare(log, copies)
  expect(report).toMatchObject({ status: 'intact', copies: { counts: { damaged: 3, agrees: 3 } } })
  expect(report.findings).toMatchObject([{ code: 'copy.damaged', severity: 'warning', count: 3 }])
  for (const why of ['cut short', 'masked', 'bytes were changed'])
    expect(report.findings[0]?.notes.join('\n')).toContain(why)
})

it('a span without a record is damaged when the log knows the span, else not signed', async () => {
  const log = logOf(3)
  const bare = (spanId: string): Copy => ({ traceId: TRACE, spanId, name: 'x', attribute: () => undefined })
  const { report, judged } = await compare(log, [bare(spanOf(2)), bare('f'.repeat(16))])
  expect(judged.map(({ span_id, verdict }) => [span_id, verdict])).toEqual([
    [spanOf(2), 'damaged'],
    ['f'.repeat(16), 'not_signed'],
  ])
  expect(report.status).toBe('intact')
})

it('a copy whose signature was changed does not count, though its record is the log’s own', async () => {
  const log = logOf(3)
  const forged = copyOf(log.records[2] as SignedRecord, 2, (text) => {
    const [kid = '', signature = '', record = ''] = text.split('.')
    return `${kid}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}.${record}`
  })
  const { judged, codes } = await compare(log, [forged])
  expect(judged).toMatchObject([{ verdict: 'damaged' }])
  expect(codes).toEqual(['copy.damaged'])
})

it('a record on another span than its own is damaged, not taken for that span’s', async () => {
  const log = logOf(3)
  const moved = { ...copyOf(log.records[1] as SignedRecord, 1), spanId: spanOf(2) }
  const { codes, judged } = await compare(log, [moved])
  expect(codes).toEqual(['copy.damaged'])
  expect(judged).toMatchObject([{ verdict: 'damaged', seq: 1 }])
})

it('a copy of this log by a key that it does not declare forbids INTACT', async () => {
  const id = 'd'.repeat(32)
  const other = logOf(3, { id })
  const log = logOf(3, { id })
  const { report, codes, text } = await compare(log, copiesOf(other))
  expect(codes).toEqual(['copy.other_key'])
  expect(report).toMatchObject({ status: 'self_consistent', exit: 0 })
  expect(text).toContain('signed by a key that it does not declare')
  expect(text).not.toContain('INTACT to')
})

it('copies of another log say nothing of this one, and garbage is only damaged', async () => {
  const log = logOf(3)
  const garbage = ['', 'x', `sha256:${'0'.repeat(64)}.${'A'.repeat(86)}.AAAA`].map(
    (text): Copy => ({ traceId: TRACE, spanId: spanOf(1), name: '', attribute: () => text }),
  )
  const { report } = await compare(log, [...copiesOf(logOf(4)), ...garbage])
  expect(report).toMatchObject({ status: 'intact', copies: { counts: { other_log: 4, damaged: 3, agrees: 0 } } })
})

it('a checkpoint on a copy is one kept elsewhere: it names a rewritten history, and one that others put there only warns', async () => {
  const keys = { log: newKey(), record: newKey() }
  const id = 'e'.repeat(32)
  const carrying = (text: string): Copy => ({
    traceId: '',
    spanId: '',
    name: '',
    attribute: (key) => (key === 'spanseal.checkpoint' ? text : undefined),
  })
  const log = logOf(4, { keys, id })
  const [note = ''] = log.notes
  const honest = await compare(log, [carrying(note)])
  expect(honest.report).toMatchObject({ status: 'intact', outside: { size: 5 }, findings: [] })
  const rewritten = await compare(logOf(4, { keys, id, last: 'forged' }), [carrying(note)])
  expect(rewritten.codes).toEqual(['anchor.fork'])
  const cut = await compare(logOf(2, { keys, id }), [carrying(note)])
  expect(cut.codes).toEqual(['anchor.rollback'])
  const foreign = await compare(log, [carrying(logOf(4, { id }).notes[0] ?? ''), carrying('garbage')])
  expect(foreign.codes).toEqual(['copy.damaged'])
  expect(foreign.report.status).toBe('intact')
})

it('copies signed by a key that took over agree; one by a retired key is not this log’s word', async () => {
  const log = logOf(3)
  log.rotate(newKey())
  const seq = log.records.length
  const change = (record: Record<string, Json>) => {
    record.trace = { trace_id: TRACE, span_id: spanOf(seq) }
  }
  log.add('gap', { kind: 'hook_missing', count: 9 }, { change })
  log.checkpoint()
  const copies = copiesOf(log).filter((_, i) => i < 3 || i === seq - 1)
  const good = await compare(log, copies)
  expect(good.codes).toEqual([])
  expect(good.report.copies).toMatchObject({ agree_to: seq, counts: { agrees: 4 } })

  // Whoever took the old key makes another record for a place where it may not sign any more.
  const forged = new TestLog(log.keys, log.id)
  for (let i = 1; i < seq; i++) forged.add('gap', { kind: 'hook_missing', count: i })
  forged.add('gap', { kind: 'hook_missing', count: 99 }, { change })
  const bad = await compare(log, [...copies, copyOf(forged.records[seq] as SignedRecord, seq)])
  expect(bad.codes).toEqual(['copy.other_key'])
  const beyond = new TestLog(log.keys, log.id)
  for (let i = 1; i < seq + 9; i++) beyond.add('gap', { kind: 'hook_missing', count: i })
  const later = await compare(log, [copyOf(beyond.records[seq + 5] as SignedRecord, seq + 5)])
  expect(later.codes).toEqual(['copy.other_key'])
  const edited = copyOf(log.records[seq] as SignedRecord, seq, (text) => `${text.slice(0, -4)}AAAA`)
  expect((await compare(log, [edited])).codes).toEqual(['copy.damaged'])
})
