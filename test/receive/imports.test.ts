// What is let into the log at once: little, in turn, and together. The pipeline is a stand-in that says when a batch is durable.
import { expect, it } from 'vitest'
import { Imports } from '../../collector/imports.ts'
import type { OtlpBatch } from '../../collector/receive/otlp/take.ts'
import type { Import } from '../../collector/record/imports.ts'

const MIB = 1024 * 1024

function batch(bytes: number, more: Partial<OtlpBatch> = {}): OtlpBatch {
  const facts = { count: 1, invalid: { total: 0, named: [] }, spoofed: 0, loops: 0, sessions: [] }
  return { signal: 'traces', encoding: 'json', bytes, contents: [], ...facts, ...more }
}

function stand({ low = false } = {}) {
  const writing: { batch: Import; done: () => void; fail: (error: Error) => void }[] = []
  const counts = { refused: 0, ignored: 0, duplicates: 0, imported: 0, not_session_data: 0, loops: 0 }
  const importItems = (taken: Import) =>
    new Promise<void>((done, fail) => {
      writing.push({ batch: taken, done, fail })
    })
  return { imports: new Imports({ pipeline: { importItems, counts }, isDiskLow: () => low }), writing, counts }
}

const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

it('what came during the pause is written together', async () => {
  const { imports, writing } = stand()
  const all = Array.from({ length: 6 }, () => imports.accept(batch(1000)))
  const seen = new Set<number>()
  while (writing.length < 6) {
    await new Promise(setImmediate)
    seen.add(writing.length)
  }
  // The first at once, the five others when the pause was over.
  expect([...seen]).toEqual([1, 6])
  for (const { done } of writing) done()
  expect(await Promise.all(all)).toEqual(Array(6).fill({ ok: true }))
})

it('no more than 4 MiB are being written, in the order they came; a larger one alone', async () => {
  const { imports, writing } = stand()
  const all = [3, 2, 60, 1].map((mib) => imports.accept(batch(mib * MIB)))
  const seen: number[][] = []
  for (let at = 0; at < 4; ) {
    while (writing.length === at) await new Promise((next) => setTimeout(next, 1))
    await new Promise((next) => setTimeout(next, 60))
    const now = writing.slice(at)
    seen.push(now.map(({ batch: { bytes } }) => bytes / MIB))
    at = writing.length
    for (const { done } of now) done()
  }
  expect(seen).toEqual([[3], [2], [60], [1]])
  expect(await Promise.all(all)).toEqual(Array(4).fill({ ok: true }))
})

it('a full disk and a log that can’t be written are for later, never for good', async () => {
  expect(await stand({ low: true }).imports.accept(batch(1))).toEqual({
    ok: false,
    retryAfterSeconds: 60,
    message: 'the disk is nearly full',
  })
  const { imports, writing } = stand()
  const answer = imports.accept(batch(1))
  await settled()
  writing[0]?.fail(new Error('secret of the disk'))
  expect(await answer).toEqual({ ok: false, retryAfterSeconds: 5, message: 'the log can not be written right now' })
  const next = imports.accept(batch(4 * MIB))
  while (writing.length === 1) await new Promise((after) => setTimeout(after, 1))
  writing[1]?.done()
  expect(await next).toEqual({ ok: true })
})

it('a request of nothing but our own items is acknowledged, counted, and not written', async () => {
  const { imports, writing, counts } = stand()
  expect(await imports.accept(batch(1, { count: 3, loops: 3 }))).toEqual({ ok: true })
  expect(counts.loops).toBe(3)
  await settled()
  expect(writing).toHaveLength(0)
})
