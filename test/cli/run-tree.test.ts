import { expect, test } from 'vitest'
import type { Entry } from '../../collector/cli/run-nodes.ts'
import { argsPreview, renderTree, summary } from '../../collector/cli/run-render.ts'
import { buildTree } from '../../collector/cli/run-tree.ts'

let seq = 0
const entry = (type: string, body: Entry['body'], more: Partial<Entry> = {}): Entry => ({
  seq: seq++,
  type,
  time: '2026-11-30T17:48:30.000Z',
  part: 0,
  turn: typeof body.turn === 'string' ? body.turn : null,
  sub: typeof body.sub === 'string' ? body.sub : null,
  call: null,
  attempt: null,
  body,
  ...more,
})
const call = (id: string, attempt = 1) => ({ call: id, attempt })

function entries(): { list: Entry[]; texts: Map<string, string> } {
  seq = 0
  const texts = new Map<string, string>()
  const say = (one: Entry, name: string, text: string) => {
    texts.set(`${one.seq} ${name}`, text)
    return one
  }
  const decided = (
    id: string,
    tool: string,
    decision: string,
    rules: string[],
    args: string,
    more: Entry['body'] = {},
  ) =>
    say(entry('tool.decided', { turn: 't1', tool, decision, rules, enforced: true, ...more }, call(id)), 'args', args)
  const list = [
    entry('run.opened', {
      session: 'S1',
      agent: 'claude-code',
      mode: 'enforce',
      fail_mode: 'closed',
      reason: 'startup',
    }),
    say(entry('prompt.submitted', { turn: 't1', machine: false, bytes: 9 }), 'prompt', 'do \x1b[31mit\nnow'),
    say(entry('model.message', { turn: 't1', kind: 'reasoning' }), 'text', 'thinking'),
    say(entry('model.message', { turn: 't1', kind: 'tool_use', tool: 'Bash' }, call('c1')), 'text', '{}'),
    say(entry('model.message', { turn: 't1', kind: 'tool_use', tool: 'Lost' }, call('never')), 'text', '{"a":1}'),
    decided('c1', 'Bash', 'allow', [], '{"command":"ls"}'),
    say(entry('model.message', { turn: 't1', kind: 'tool_use', tool: 'Bash' }, call('c1')), 'text', '{"late":1}'),
    entry('tool.completed', { turn: 't1', tool: 'Bash', status: 'ok', duration_ms: 365, decision: 'x' }, call('c1')),
    decided('c2', 'Bash', 'deny', ['R-1', 'R-2'], '{"command":"rm -rf /"}'),
    entry('violation', { turn: 't1', kind: 'executed_against_policy', tool: 'Bash' }, call('c2')),
    decided('c3', 'Bash', 'ask', ['R-3'], '{"command":"npm publish"}'),
    entry('approval.requested', { turn: 't1', approval: 'apr-1', tool: 'Bash' }, call('c3')),
    entry(
      'approval.answered',
      { turn: 't1', approval: 'apr-1', answer: 'approve', authentication: 'unauthenticated', waited_ms: 1200 },
      call('c3'),
    ),
    entry('approval.consumed', { turn: 't1', approval: 'apr-1' }, call('c3')),
    entry('tool.completed', { turn: 't1', tool: 'Bash', status: 'error', exit_code: 3 }, call('c3')),
    decided('c4', 'Task', 'allow', [], '{"prompt":"help"}'),
    entry('subagent.started', { turn: 't1', sub: 'a1', sub_type: 'Explore', background: false }, call('c4')),
    say(
      entry(
        'tool.decided',
        { turn: 't1', sub: 'a1', tool: 'Read', decision: 'allow', rules: [], enforced: true },
        call('c5'),
      ),
      'args',
      '{"file_path":"/x"}',
    ),
    entry('subagent.ended', { turn: 't1', sub: 'a1', finished: true }),
    entry('tool.completed', { turn: 't1', tool: 'Read', status: 'unreported' }, call('c5')),
    entry('gap', { turn: 't1', kind: 'no_transcript', count: 2 }),
    entry('tool.completed', { turn: 't1', tool: 'Web', status: 'ok' }, call('c6')),
    entry('turn.closed', { turn: 't1', reason: 'stop', finished: true }),
    entry('settings.changed', { problem: 'hooks_missing', decision: 'deny' }),
    entry('run.closed', { reason: 'session_end' }),
  ]
  return { list, texts }
}

const tree = () => {
  const { list, texts } = entries()
  return buildTree('ab'.repeat(16), list, (at, names) =>
    names.map((name) => texts.get(`${at} ${name}`)).find((text) => text !== undefined),
  )
}
const plain = (_style: string, text: string) => text

test('a run is printed as a tree: each call once, with decision, rules, approval, outcome and what belongs to it', () => {
  expect(renderTree(tree(), { paint: plain, content: false })).toBe(`run abababab  claude-code, session S1
opened 2026-11-30 17:48:30 UTC (startup), closed 17:48:30 (session_end), enforced, fail mode closed
├─ turn t1  17:48:30, stop
│  ├─ prompt  do \\e[31mit\\nnow
│  ├─ reasoning  thinking
│  ├─ tool_use Lost  {"a":1}
│  ├─ Bash  allow  ok, 365 ms  ls
│  ├─ Bash  deny (R-1, R-2)  did not run  rm -rf /
│  │  └─ violation: executed against policy
│  ├─ Bash  ask (R-3), approved after 1.2 s (apr-1, unauthenticated)  failed, exit code 3  npm publish
│  ├─ Task  allow  no result yet  help
│  │  └─ sub-agent Explore  a1, finished
│  │     └─ Read  allow  unreported  /x
│  ├─ gap: no transcript ×2
│  └─ Web  not decided  ok
└─ settings changed: hooks_missing, deny

6 calls, 3 allowed, 0 flagged, 1 asked (1 approved), 1 denied, 1 failed, 1 gap, 1 violation, 25 signed records
`)
})

test('--content prints all of it, line by line and made visible', () => {
  const text = renderTree(tree(), { paint: plain, content: true })
  expect(text).toContain('├─ prompt\n│  │      do \\e[31mit\n│  │      now\n')
  expect(text).toContain('arguments:\n│  │        {"command":"ls"}\n')
})

test('content that is not kept is said to be', () => {
  const { list } = entries()
  const bare = buildTree('ab'.repeat(16), list, () => undefined)
  expect(renderTree(bare, { paint: plain, content: false })).toContain('prompt  [content not kept]')
})

test('an approval that was refused, timed out or is waiting is told apart', () => {
  const of = (...more: Entry[]) => {
    const list = [
      entry('tool.decided', { turn: 't', tool: 'Bash', decision: 'ask', rules: [], enforced: true }, call('c')),
      entry('approval.requested', { turn: 't', approval: 'apr-9' }, call('c')),
      ...more,
    ]
    return renderTree(
      buildTree('00', list, () => undefined),
      { paint: plain, content: false },
    )
  }
  expect(of()).toContain('ask, waits for a person (apr-9)  no result yet')
  const answered = (answer: string) =>
    entry(
      'approval.answered',
      { turn: 't', approval: 'apr-9', answer, authentication: 'unauthenticated', waited_ms: 5 },
      call('c'),
    )
  expect(of(answered('reject'))).toContain('rejected after 5 ms (apr-9, unauthenticated)  did not run')
  expect(of(answered('approve'))).toContain('approved after 5 ms, not used')
  expect(of(entry('approval.expired', { turn: 't', approval: 'apr-9', reason: 'timeout' }, call('c')))).toContain(
    'expired (timeout) (apr-9)  did not run',
  )
})

test('a second attempt of a call stands beside the first', () => {
  const list = [1, 2].map((attempt) =>
    entry(
      'tool.decided',
      { turn: 't', tool: 'Bash', decision: 'allow', rules: [], enforced: false },
      call('c', attempt),
    ),
  )
  const text = renderTree(
    buildTree('00', list, () => undefined),
    { paint: plain, content: false },
  )
  expect(text).toContain('Bash  allow, only observed  no result yet\n')
  expect(text).toContain('Bash  allow, only observed  no result yet  attempt 2')
  expect(summary(buildTree('00', list, () => undefined))).toContain('2 calls, 2 allowed')
})

test('the most telling argument stands for all of them', () => {
  expect(argsPreview('{"description":"x","command":"ls"}')).toBe('ls')
  expect(argsPreview('{"a":2,"b":40}')).toBe('{"a":2,"b":40}')
  expect(argsPreview('not json')).toBe('not json')
  expect(argsPreview('["ls"]')).toBe('["ls"]')
  expect(argsPreview('{"command":""}')).toBe('{"command":""}')
})
