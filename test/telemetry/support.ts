// Reads Prometheus text as a scraper does, and plays a session with a bit of everything.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Claim, claimAttributes } from '../../conventions/claim.ts'
import { type Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export async function scrape(collector: Collector): Promise<Sample[]> {
  const response = await fetch(`${collector.endpoint().otlp}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  return samples(await response.text())
}

export function samples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', braces = '', value = ''] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === '') throw new Error(`no sample: ${line}`)
      const labels = Object.fromEntries(
        [...braces.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]),
      )
      return { name, labels, value: Number(value) }
    })
}

/** Sum over the series with these labels. */
export function total(all: Sample[], name: string, labels: Record<string, string> = {}): number {
  return all
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

/**
 * Allowed, denied, held and lost calls, a call nobody asked about, one that ran against the policy, a sub-agent, a model's message;
 * content has CONTENT- in it and sessions SESSION-.
 */
export async function mixedSession(collector: Collector, n: number): Promise<void> {
  const id = `SESSION-${n}`
  const transcript = join(collector.root, `${id}.jsonl`)
  const at = { transcript_path: transcript, cwd: '/home/dev/CONTENT-PATH' }
  writeFileSync(transcript, '')
  await collector.hook('SessionStart', event(id, 'SessionStart', { ...at, source: 'startup' }))
  await collector.hook('UserPromptSubmit', event(id, 'UserPromptSubmit', { ...at, prompt: 'CONTENT-PROMPT' }))
  const usage = { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 10 }
  const content = [{ type: 'text', text: 'CONTENT-TEXT' }]
  const message = { id: `m${n}`, model: 'claude-opus-5-5', content, usage }
  const line = { type: 'assistant', uuid: `u${n}`, sessionId: id, isSidechain: false, message }
  // A model whose price nobody knows.
  const unpriced = { ...message, id: `n${n}`, model: 'nobody-knows', usage: { input_tokens: 3, output_tokens: 4 } }
  const other = { ...line, uuid: `v${n}`, message: unpriced }
  appendFileSync(transcript, `${JSON.stringify(line)}\n${JSON.stringify(other)}\n`)
  const call = (name: string, command: string) => preToolUse(id, `${id}-${name}`, command, at)
  const done = (name: string, command: string) =>
    postToolUse(id, `${id}-${name}`, command, { ...at, tool_response: 'CONTENT-RESULT' })
  await collector.hook('PreToolUse', call('ok', 'echo CONTENT-ARGS'))
  await collector.hook('PreToolUse', call('ok', 'echo CONTENT-ARGS'))
  await collector.hook('PostToolUse', done('ok', 'echo CONTENT-ARGS'))
  await collector.hook('PreToolUse', call('denied', 'git push --force origin main'))
  await collector.hook('PostToolUse', done('denied', 'git push --force origin main'))
  await collector.hook('PostToolUse', done('never-asked', 'ls'))
  const held = (await collector.hook('PreToolUse', call('held', 'git push origin main'))).body
  const approval = /apr-[0-9a-f]+/.exec(held)?.[0]
  if (approval === undefined) throw new Error(`not held: ${held}`)
  await collector.admin('POST', `/approvals/${approval}/reject`)
  await collector.hook('PreToolUse', call('lost', 'ls'))
  const inside = { ...at, agent_id: `sub-${n}`, agent_type: 'general-purpose' }
  await collector.hook('SubagentStart', event(id, 'SubagentStart', inside))
  await collector.hook('SubagentStop', event(id, 'SubagentStop', inside))
  await collector.hook('Stop', event(id, 'Stop', at))
  await collector.hook('SessionEnd', event(id, 'SessionEnd', { ...at, reason: 'other' }))
  await collector.hook('PreToolUse', '{')
}

/** Claims as one OTLP/JSON request to the gate. */
export function claimsBody(claims: Claim[]): string {
  const spans = claims.map((claim) => ({
    traceId: '1'.repeat(32),
    spanId: '1'.repeat(16),
    name: claim.event,
    startTimeUnixNano: '1',
    endTimeUnixNano: '0',
    attributes: claimAttributes(claim),
  }))
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
}

/** Posts one third-party span, with a body that breaks a rule when `bad`. */
export async function postSpan(collector: Collector, bad = false): Promise<number> {
  const span = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    name: 'CONTENT-NAME',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  }
  const body = bad ? '{"resourceSpans": 1}' : JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${collector.endpoint().otlp}/v1/traces`, { method: 'POST', headers, body })).status
}
