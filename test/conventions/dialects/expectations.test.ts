// Every recorded body of an instrumented library or an agent: what each of its items is taken for, as written down and read beside
// the body. A body without an expectation fails.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classify } from '../../../conventions/dialects/classify.ts'
import type { SpanItem } from '../../../conventions/dialects/item.ts'
import type { Tokens, View } from '../../../conventions/dialects/view.ts'
import { bodies as otherBodies } from '../../receive/otlp-support.ts'
import { bodiesOf, expectedOf, itemsOf, line, sources } from './bodies.ts'

describe.each(sources)('%s', (source) => {
  const bodies = bodiesOf(source)
  const expected = expectedOf(source)

  it.each(bodies.map((body) => [body.file, body] as const))('%s', (file, body) => {
    if (expected?.[file] === undefined)
      throw new Error(`no expectation for ${source}/${file}: read the body, write it down`)
    const got = itemsOf(body).map((item) => JSON.parse(JSON.stringify(line(item, classify(item)))))
    expect(got).toEqual(expected[file])
  })

  it('expects nothing of bodies that are not there', () => {
    expect(Object.keys(expected ?? {})).toEqual(bodies.map(({ file }) => file))
  })
})

it('the bodies include every one the receiver is tested with', () => {
  const known = new Set(
    sources.flatMap((source) => bodiesOf(source).map(({ bytes }) => Buffer.from(bytes).toString('base64'))),
  )
  const missing = otherBodies.filter(({ body }) => !known.has(Buffer.from(body).toString('base64')))
  expect(missing.map(({ name }) => name)).toEqual([])
})

// A check that owes nothing to the expectations: what an agent says it used in all is what its calls of the model used.
it.each([
  ['vercel-ai-new', 2],
  ['vercel-ai-json', 2],
  ['vercel-ai-legacy', 2],
  ['strands', 1],
  ['strands-json', 1],
  ['codex', 1],
  ['copilot', 2],
  ['opencode', 3],
] as const)('%s: the tokens of the calls of the model add up to those of the agent, %i times', (source, times) => {
  const spans = viewsOfSpans(source)
  const agents = spans.filter(({ view }) => view.operation === 'invoke_agent' && view.tokens !== undefined)
  expect(agents.length).toBe(times)
  for (const agent of agents) {
    const inside = spans.filter(
      ({ item, view }) => view.operation === 'chat' && ownerOf(item, spans) === agent.item.span.spanId,
    )
    const sum: Tokens = {}
    for (const { view } of inside) {
      for (const [kind, count] of Object.entries(view.tokens ?? {}) as [keyof Tokens, number][]) {
        sum[kind] = (sum[kind] ?? 0) + count
      }
    }
    expect(sum).toEqual(agent.view.tokens)
  }
})

interface Seen {
  item: SpanItem
  view: View
}

function viewsOfSpans(source: string): Seen[] {
  const items = bodiesOf(source).flatMap(itemsOf)
  return items.flatMap((item) => (item.signal === 'span' ? [{ item, view: classify(item) }] : []))
}

/** The nearest agent above a span that counts tokens. */
function ownerOf({ span }: SpanItem, spans: Seen[]): string | undefined {
  const parent = spans.find(({ item }) => item.span.spanId === span.parentSpanId && item.span.traceId === span.traceId)
  // Codex's body is trimmed: its turn is the only agent of the trace.
  if (parent === undefined)
    return span.parentSpanId && spans.find((one) => isCodexTurn(one, span.traceId))?.item.span.spanId
  const counts = parent.view.operation === 'invoke_agent' && parent.view.tokens !== undefined
  return counts ? parent.item.span.spanId : ownerOf(parent.item, spans)
}

function isCodexTurn({ item, view }: Seen, trace: string): boolean {
  return view.dialect === 'codex' && view.operation === 'invoke_agent' && item.span.traceId === trace
}

it('content is told apart: no fact of a view holds what the agents wrote, read or were asked', () => {
  const secret = /Weather in Paris|sunny|missing\.txt|marker\.txt|Héllo/
  for (const source of sources) {
    for (const item of bodiesOf(source).flatMap(itemsOf)) {
      const { content, requested, unread, ...facts } = classify(item)
      expect(JSON.stringify([facts, requested.map(({ id, name }) => [id, name]), unread])).not.toMatch(secret)
    }
  }
  expect(readFileSync(new URL('../../fixtures/telemetry/vercel-ai-new.views.jsonl', import.meta.url), 'utf8')).toMatch(
    secret,
  )
})
