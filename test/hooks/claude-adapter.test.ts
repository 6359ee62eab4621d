// The Claude Code adapter on payloads of the real agent and on broken ones.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claim, readClaims } from '../../conventions/claim.ts'
import { idText } from '../../conventions/names.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import { isId } from '../../hooks/adapter.ts'
import { adapters } from '../../hooks/index.ts'
import { rawItems } from '../../hooks/raw-items.ts'

const FOLDER = 'test/fixtures/claude/hooks'
const NOW = '1796060912197000000'
const adapter = adapters.get('claude-code')
if (adapter === undefined) throw new Error('no Claude Code adapter')

const files = readdirSync(FOLDER)
  .filter((name) => /^\d/.test(name))
  .sort()
const eventOf = (file: string) => file.replace(/^\d+-|\.json$/g, '')
const read = (file: string) => readFileSync(`${FOLDER}/${file}`)
const encode = (text: string) => new TextEncoder().encode(text)

function claimsOf(event: string, payload: Uint8Array): Claim[] {
  const result = adapter?.toRequest(event, payload, NOW)
  if (result?.ok !== true || !('request' in result)) throw new Error(`no request: ${JSON.stringify(result)}`)
  return readClaims(result.request).map((read) => {
    if (!read.ok) throw new Error(read.message)
    return read.claim
  })
}
const claimOf = (file: string) => {
  const [claim] = claimsOf(eventOf(file), read(file))
  if (claim === undefined) throw new Error('no claim')
  return claim
}
/** A real PreToolUse payload with some of its fields changed or removed (undefined). */
const preTool = (changes: Record<string, unknown>) =>
  encode(JSON.stringify({ ...JSON.parse(read('04-PreToolUse.json').toString()), ...changes }))

describe('payloads of the real agent', () => {
  it.each(files.filter((file) => !file.includes('MessageDisplay')))(
    '%s becomes claims that the gate can read',
    (file) => {
      const native = JSON.parse(read(file).toString())
      const claims = claimsOf(eventOf(file), read(file))
      expect(claims.length).toBe(native.tool_calls?.length ?? 1)
      for (const claim of claims) {
        expect(claim).toMatchObject({ agent: 'claude-code', session: native.session_id, cwd: native.cwd })
        expect(claim.event).toBe(adapter.events[eventOf(file)]?.claim)
        expect(claim.nativeEvent).toBe(eventOf(file))
        expect(claim.turn).toBe(native.prompt_id)
        expect(claim.transcript).toBe(native.transcript_path)
        for (const id of [claim.session, claim.turn, claim.sub, claim.callId, claim.tool, claim.subType]) {
          if (id !== undefined) expect(idText.safeParse(id).success).toBe(true)
        }
      }
    },
  )

  it('gives the same request for the same arguments, and other span ids for other events', () => {
    const once = adapter.toRequest('PreToolUse', read('04-PreToolUse.json'), NOW)
    expect(adapter.toRequest('PreToolUse', read('04-PreToolUse.json'), NOW)).toEqual(once)
    const span = (file: string) => {
      const result = adapter.toRequest(eventOf(file), read(file), NOW)
      return 'request' in result ? result.request.resourceSpans[0]?.scopeSpans?.[0]?.spans?.[0] : undefined
    }
    const [pre, post] = [span('04-PreToolUse.json'), span('05-PostToolUse.json')]
    expect(pre?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(post?.traceId).toBe(pre?.traceId)
    expect(post?.spanId).not.toBe(pre?.spanId)
    expect(pre).toMatchObject({ name: 'execute_tool Bash', startTimeUnixNano: NOW, endTimeUnixNano: '0' })
    expect(post).toMatchObject({ endTimeUnixNano: NOW, startTimeUnixNano: String(BigInt(NOW) - 365_000_000n) })
  })

  it('says who it is', () => {
    const result = adapter.toRequest('Stop', read('40-Stop.json'), NOW)
    expect(result).toMatchObject({
      request: {
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'claude-code' } }] },
            scopeSpans: [{ scope: { name: 'spanseal.hooks.claude-code', version: adapter.version } }],
          },
        ],
      },
    })
  })

  it('keeps arguments and results as the exact text that was sent', () => {
    const text = read('11-PostToolUse.json').toString()
    const claim = claimOf('11-PostToolUse.json')
    expect(text).toContain(`"tool_input":${claim.args},"tool_response":${claim.result},"tool_use_id"`)
    expect(claimOf('21-PostToolUse.json').result).toBe(String.raw`"{\"sum\":42}"`)
  })

  it('keeps the exact text of each call of a batch', () => {
    const text = read('37-PostToolBatch.json').toString()
    const claims = claimsOf('PostToolBatch', read('37-PostToolBatch.json'))
    expect(claims.map((claim) => claim.callId)).toEqual(['toolu_lab00110', 'toolu_lab00111'])
    for (const claim of claims) {
      expect(claim.event).toBe('tool.reported')
      expect(text).toContain(`"tool_input":${claim.args}`)
      expect(text).toContain(`"tool_response":${claim.result}`)
    }
  })

  it('reads failures, sub-agents, launches, machine prompts and settings changes', () => {
    expect(claimOf('08-PostToolUseFailure.json')).toMatchObject({ exitCode: 3, interrupted: false, durationMs: 32 })
    expect(claimOf('08-PostToolUseFailure.json').result).toBe(String.raw`"Exit code 3\nout\noops"`)
    expect(claimOf('24-PostToolUseFailure.json').exitCode).toBeUndefined()
    expect(claimOf('26-PreToolUse.json')).toMatchObject({ tool: 'Agent', background: true })
    expect(claimOf('60-PreToolUse.json')).toMatchObject({ tool: 'Agent', background: false })
    expect(claimOf('28-PostToolUse.json')).toMatchObject({ launched: 'a7b7a154e736ec6c4', background: true })
    expect(claimOf('61-PostToolUse.json')).toMatchObject({ launched: 'a2f62b0bbd3274796', background: false })
    expect(claimOf('27-SubagentStart.json')).toMatchObject({ sub: 'a7b7a154e736ec6c4', subType: 'general-purpose' })
    expect(claimOf('38-SubagentStop.json').file).toMatch(/agent-a7b7a154e736ec6c4\.jsonl$/)
    expect(claimOf('51-SubagentStop.json').subType).toBeUndefined()
    expect(claimOf('02-UserPromptSubmit.json')).toMatchObject({
      prompt: 'Héllo wörld 🌍\nsecond line\n"quoted" & <tag>\n日本語',
      machine: false,
    })
    expect(claimOf('41-UserPromptSubmit.json').machine).toBe(true)
    expect(claimOf('49-SessionStart.json').reason).toBe('resume')
    expect(claimOf('50-PreCompact.json').reason).toBe('manual')
    expect(claimOf('62-ConfigChange.json')).toMatchObject({
      reason: 'user_settings',
      file: '/home/dev/.claude/settings.json',
    })
    expect(claimOf('55-PermissionRequest.json').callId).toBeUndefined()
    const calls = files.filter((file) => file.includes('PreToolUse')).map((file) => claimOf(file).sub)
    expect(calls).toContain('a7b7a154e736ec6c4')
  })
})

describe('payloads that are not ours', () => {
  it('are ignored with the reason', () => {
    expect(adapter.toRequest('MessageDisplay', read('03-MessageDisplay.json'), NOW)).toEqual({
      ok: true,
      ignored: 'unknown event',
    })
    for (const event of ['toString', '__proto__', 'constructor', '']) {
      expect(adapter.toRequest(event, encode('{'), NOW)).toEqual({ ok: true, ignored: 'unknown event' })
    }
    for (const mark of ['conversation_id', 'cursor_version']) {
      expect(adapter.toRequest('PreToolUse', preTool({ [mark]: 'x' }), NOW)).toEqual({
        ok: true,
        ignored: 'cursor payload',
      })
    }
  })
})

describe('payloads that cannot be trusted', () => {
  const base = read('04-PreToolUse.json').toString().trim()
  it.each([
    ['empty', encode('')],
    ['garbage', encode('hello')],
    ['truncated', encode(base.slice(0, -40))],
    ['a list', encode('[]')],
    ['null', encode('null')],
    ['duplicate keys', encode(base.replace('"tool_name":', '"tool_name":"Read","tool_name":'))],
    ['duplicate keys deep inside', encode(base.replace('"command":', '"command":"ls","command":'))],
    ['invalid UTF-8', Buffer.concat([encode(base.slice(0, -2)), Buffer.from([0xff]), encode('"}')])],
    ['a lone surrogate', encode(base.replace('echo hello', '\\ud800'))],
    ['a byte order mark', encode(`\ufeff${base}`)],
  ])('%s: refused as payload, without quoting it', (_name, payload) => {
    const result = adapter.toRequest('PreToolUse', payload, NOW)
    expect(result).toMatchObject({ ok: false, field: 'payload' })
    expect(JSON.stringify(result)).not.toContain('tool_name')
  })

  it.each([
    ['session_id', { session_id: undefined }],
    ['session_id', { session_id: '' }],
    ['session_id', { session_id: 7 }],
    ['session_id', { session_id: 'with space' }],
    ['session_id', { session_id: 'x'.repeat(129) }],
    ['tool_use_id', { tool_use_id: undefined }],
    ['tool_use_id', { tool_use_id: null }],
    ['tool_use_id', { tool_use_id: 'ünï' }],
    ['tool_name', { tool_name: undefined }],
    ['tool_name', { tool_name: ['Bash'] }],
    ['tool_input', { tool_input: undefined }],
    ['prompt_id', { prompt_id: 'a\nb' }],
    ['agent_id', { agent_id: ' ' }],
    ['hook_event_name', { hook_event_name: 'PostToolUse' }],
    ['hook_event_name', { hook_event_name: undefined }],
    ['cwd', { cwd: 3 }],
  ])('%s is named when it is missing or wrong (%j)', (field, changes) => {
    expect(adapter.toRequest('PreToolUse', preTool(changes), NOW)).toMatchObject({ ok: false, field })
  })

  it.each([
    ['PostToolUse', '05-PostToolUse.json', 'tool_use_id'],
    ['PostToolUseFailure', '08-PostToolUseFailure.json', 'tool_use_id'],
    ['PermissionRequest', '55-PermissionRequest.json', 'tool_name'],
    ['SubagentStart', '27-SubagentStart.json', 'agent_id'],
    ['SubagentStop', '38-SubagentStop.json', 'agent_id'],
    ['UserPromptSubmit', '02-UserPromptSubmit.json', 'prompt'],
    ['PostToolBatch', '06-PostToolBatch.json', 'tool_calls'],
    ['SessionEnd', '44-SessionEnd.json', 'session_id'],
  ])('%s without its field is refused (%s)', (event, file, field) => {
    const payload = JSON.parse(read(file).toString())
    delete payload[field]
    expect(adapter.toRequest(event, encode(JSON.stringify(payload)), NOW)).toMatchObject({ ok: false, field })
  })

  it('a call of a batch without id, or a batch that is no list, is refused by name', () => {
    const payload = JSON.parse(read('37-PostToolBatch.json').toString())
    delete payload.tool_calls[1].tool_use_id
    expect(adapter.toRequest('PostToolBatch', encode(JSON.stringify(payload)), NOW)).toMatchObject({
      field: 'tool_calls[1].tool_use_id',
    })
    for (const [calls, field] of [
      [{}, 'tool_calls'],
      [[1], 'tool_calls[0]'],
    ]) {
      const changed = encode(JSON.stringify({ ...payload, tool_calls: calls }))
      expect(adapter.toRequest('PostToolBatch', changed, NOW)).toMatchObject({ ok: false, field })
    }
  })
})

describe('unusual but honest payloads', () => {
  it('5 MB arguments, 64-bit numbers and unknown fields come through as sent', () => {
    const big = 'é'.repeat(2_500_000)
    const base = read('04-PreToolUse.json').toString()
    const input = `{"id": 9223372036854775807, "neg": -0, "huge": 1e999, "text": "${big}"}`
    const text = base.replace(/"tool_input":\{[^}]*\}/, `"new_field":{"deep":[1]},"tool_input":${input}`)
    const [claim] = claimsOf('PreToolUse', encode(text))
    expect(claim?.args === input).toBe(true)
  })

  it('a description that records cannot hold is left out and blocks nothing', () => {
    const [claim] = claimsOf('PreToolUse', preTool({ agent_type: 'my agent', permission_mode: 'ünï', agent_id: 'a1' }))
    expect(claim).toMatchObject({ sub: 'a1' })
    expect(claim?.subType).toBeUndefined()
    expect(claim?.permissionMode).toBeUndefined()
  })

  it('a tool named like a property of every object launches nothing', () => {
    const [claim] = claimsOf('PreToolUse', preTool({ tool_name: 'constructor' }))
    expect(claim?.background).toBeUndefined()
  })
})

describe('properties', () => {
  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(adapter.events)),
        fc.uint8Array({ maxLength: 200 }),
        (event, bytes) => {
          expect(adapter.toRequest(event, bytes, NOW).ok).toBe(false)
        },
      ),
    )
  })

  it('never throws, whatever the fields', () => {
    const keys = fc.constantFrom('session_id', 'tool_name', 'tool_use_id', 'tool_calls', 'prompt', 'agent_id', 'error')
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(adapter.events)),
        fc.dictionary(keys, fc.jsonValue()),
        (event, fields) => {
          const payload = encode(JSON.stringify({ ...fields, hook_event_name: event }))
          const result = adapter.toRequest(event, payload, NOW)
          if ('request' in result) for (const claim of readClaims(result.request)) expect(claim.ok).toBe(true)
        },
      ),
    )
  })

  it('an id is what a record accepts as one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 4 })), (text) => {
        expect(isId(text)).toBe(idText.safeParse(text).success)
      }),
    )
  })

  it('the items of an array are its exact texts', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2, '\t'), (values, indent) => {
        const items = rawItems(JSON.stringify(values, null, indent))
        expect(items.map((item) => JSON.parse(item))).toEqual(JSON.parse(JSON.stringify(values)))
        for (const item of items) expect(parseStrict(item, { looseNumbers: true }).ok).toBe(true)
      }),
    )
  })
})
