// The commands that read, with the collector running and stopped, on one recorded session.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { segmentName } from '../../conventions/frame.ts'
import { type Ran, TempUser } from '../support/cli.ts'
import { event, postToolUse, preToolUse } from '../support/collector.ts'

const SESSION = 'aa11bb22-0000-4000-8000-000000000001'
const EVIL = 'see \x1b[2J\x1b]0;owned\x07 this'
const SECRET = `ghp_${'a1'.repeat(18)}`

let user: TempUser
let run: string
/** Path of a transcript with messages of a model that has a price, of one that has none, and of one the configuration has a price of. */
function transcript(): string {
  const cache = { cache_read_input_tokens: 15030, cache_creation_input_tokens: 8655 }
  const line = (id: string, model: string, usage: object) => {
    const message = { id, model, content: [{ type: 'text', text: 'hm' }], usage }
    return JSON.stringify({ type: 'assistant', uuid: id, sessionId: SESSION, isSidechain: false, message })
  }
  const path = `${user.project}/transcript.jsonl`
  const priced = line('m1', 'claude-opus-5-5', { input_tokens: 2, output_tokens: 327, ...cache })
  const unpriced = line('m2', 'nobody-knows', { input_tokens: 3, output_tokens: 4 })
  const own = line('m3', 'our-model', { input_tokens: 1_000, output_tokens: 0 })
  writeFileSync(path, `${priced}\n${unpriced}\n${own}\n`)
  return path
}
const json = async (args: string[]) => (await user.json(args)) as never

beforeAll(async () => {
  user = new TempUser()
  await user.run(['init', '--yes', '--otlp-port', '0'])
  writeFileSync(
    `${user.home}/config.yaml`,
    'version: 1\notlp: {port: 0}\nprices: [{model: "our-*", input: 1, output: 2}]\n',
  )
  // A change of prices that a running collector can't take.
  expect((await user.run(['reload'])).stderr).toContain('prices: can')
  await user.run(['down'])
  const send = async (name: string, payload: object) => user.hook(name, payload)
  await send('SessionStart', event(SESSION, 'SessionStart', { source: 'startup' }))
  await send('UserPromptSubmit', event(SESSION, 'UserPromptSubmit', { prompt: EVIL }))
  await send('PreToolUse', preToolUse(SESSION, 'c1', 'ls -la', { transcript_path: transcript() }))
  await send('PostToolUse', postToolUse(SESSION, 'c1', 'ls -la'))
  await send('PreToolUse', preToolUse(SESSION, 'c2', `echo ${SECRET}`))
  await send('Stop', event(SESSION, 'Stop', { stop_hook_active: false }))
  await send('SessionEnd', event(SESSION, 'SessionEnd', { reason: 'other' }))
  await send('SessionStart', event('zz-other', 'SessionStart', { source: 'startup' }))
  const [newest, older] = (await json(['runs'])) as { run_id: string; session: string }[]
  expect([newest?.session, older?.session]).toEqual(['zz-other', SESSION])
  run = older?.run_id ?? ''
})
afterAll(() => user.remove())

describe.each(['running', 'stopped'])('with the collector %s', (state) => {
  beforeAll(async () => {
    expect((await user.run([state === 'running' ? 'up' : 'down'])).status).toBe(0)
  })

  test('runs lists the newest first, as a table and as JSON', async () => {
    const { stdout } = await user.run(['runs'])
    expect(stdout.split('\n')[0]).toMatch(/^RUN +AGENT +OPENED/)
    expect(
      stdout
        .split('\n')
        .slice(1)
        .map((line) => line.split(/ +/).at(-1)),
    ).toEqual(['zz-other', SESSION.slice(0, 8), ''])
    expect(await json(['runs', '--limit', '1'])).toMatchObject([{ session: 'zz-other' }])
  })

  test('show finds a run by the beginning of its id or session, and sends nothing raw to the terminal', async () => {
    for (const name of [run, run.slice(0, 12), SESSION, SESSION.slice(0, 6)]) {
      const { status, stdout } = await user.run(['show', name])
      expect([name, status]).toEqual([name, 0])
      expect(stdout).toContain('Bash  allow  ok, 5 ms  ls -la')
      expect(stdout).toContain('see \\e[2J\\e]0;owned\\x07 this')
      expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
      expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^2 calls, .* signed records$/)
    }
  })

  test('show keeps a secret cut out, also with --content and --json', async () => {
    for (const option of ['--content', '--json']) {
      const { stdout } = await user.run(['show', run, option])
      expect(stdout).not.toContain(SECRET)
      expect(stdout).toContain('[redacted:')
    }
    expect((await user.run(['show', run, '--content'])).stdout).toContain('"stdout":"done"')
    expect(await json(['show', run])).toMatchObject({
      id: run,
      session: SESSION,
      turns: [
        {
          inside: [
            { kind: 'prompt', text: EVIL },
            { kind: 'message' },
            { kind: 'message' },
            { kind: 'message' },
            {},
            {},
            {},
          ],
        },
      ],
    })
  })

  test('runs and show say what was used and what it costs by list prices, and that this is an estimate', async () => {
    const opus = 2 * 4000 + 327 * 20_000 + 15_030 * 200 + 8_655 * 5000
    const cost = { cost_nano_usd: opus + 1_000 * 1_000, unpriced_tokens: 7 }
    const listed = await user.run(['runs'])
    expect(listed.stdout).toMatch(/~\$0\.0538 \+ no price +aa11bb22/)
    expect(listed.stderr).toMatch(
      /estimated from list prices of \d{4}-\d\d-\d\d or later \(table [0-9a-f]{16}, 1 of your own\): not a bill/,
    )
    expect(await json(['runs'])).toMatchObject([{ cost_nano_usd: null, unpriced_tokens: null }, cost])
    const { stdout } = await user.run(['show', run])
    expect(stdout).toContain(
      '\nclaude-opus-5-5: 23687 tokens in (15030 read from cache, 8655 written to it), 327 out, ~$0.0528\n' +
        'nobody-knows: 3 tokens in, 4 out, no price\nour-model: 1000 tokens in, 0 out, ~$0.0010\ncost is estimated from list prices of ',
    )
    expect(await json(['show', run])).toMatchObject({
      usage: {
        models: [
          { model: 'claude-opus-5-5', sub: null, input_tokens: 23687, cost_nano_usd: opus },
          { model: 'nobody-knows', cost_nano_usd: null, unpriced_tokens: 7 },
          { model: 'our-model', cost_nano_usd: 1_000_000, unpriced_tokens: 0 },
        ],
        prices: { own: 1 },
      },
    })
  })

  test('show refuses what fits none or several', async () => {
    expect(await user.run(['show', 'nothing'])).toMatchObject({ status: 1, stdout: '' })
    const several = await user.run(['show', ''])
    expect(several.status).toBe(2)
  })

  test('last is the newest run, last --open the newest that is open', async () => {
    expect(await json(['last'])).toMatchObject({ session: 'zz-other' })
    expect(await json(['last', '--open'])).toMatchObject({ session: 'zz-other' })
  })

  test('sql reads, as table, JSON and CSV, within its rows; it writes and reaches nothing', async () => {
    const query = "SELECT tool, decision, NULL AS n, 'a,\"b' AS text FROM decisions ORDER BY seq"
    expect((await user.run(['sql', query])).stdout.split('\n')[0]).toBe('tool  decision  n  text')
    expect((await user.run(['sql', '--csv', query])).stdout.split('\r\n').slice(0, 2)).toEqual([
      'tool,decision,n,text',
      'Bash,allow,,"a,""b"',
    ])
    expect(await json(['sql', query, '--max-rows', '1'])).toMatchObject({
      columns: ['tool', 'decision', 'n', 'text'],
      truncated: true,
      rows: [{}],
    })
    for (const bad of [
      'DELETE FROM records',
      "COPY records TO '/tmp/x'",
      `SELECT * FROM read_text('${user.home}/keys/log.pem')`,
      'nonsense',
    ]) {
      const { status, stdout, stderr } = await user.run(['sql', bad])
      expect([bad, status, stdout]).toEqual([bad, 1, ''])
      expect(stderr).toMatch(/^spanseal: /)
    }
  })

  test('verify says what is proven; pinned, it is intact', async () => {
    const trust = `${user.project}/trust-${state}`
    writeFileSync(trust, (await user.run(['verify', '--print-trust'])).stdout)
    expect(await user.run(['verify'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('SELF-CONSISTENT ONLY'),
    })
    const pinned = await user.run(['verify', '--trust', trust])
    expect(pinned).toMatchObject({ status: 0, stdout: expect.stringContaining('INTACT') })
    expect(await json(['verify', '--trust', trust])).toMatchObject({ status: 'intact', exit: 0, subject: 'home' })
    expect(await json(['verify', '--run', run.slice(0, 8), '--trust', trust])).toMatchObject({
      status: 'intact',
      subject: 'bundle',
      scope: { run },
    })
    writeFileSync(
      trust,
      readFileSync(trust, 'utf8').replace(/genesis ./, (text) => `genesis ${text.endsWith('0') ? '1' : '0'}`),
    )
    expect((await user.run(['verify', '--trust', trust])).status).toBe(1)
    expect((await user.run(['verify', '--trust', '/nowhere'])).status).toBe(2)
    expect((await user.run(['verify', '/nowhere'])).status).toBe(2)
    expect((await user.run(['verify', '--strict'])).status).toBe(3)
  })

  test('export writes a bundle that another machine can verify, and never over a file it was not told to', async () => {
    const file = `${user.project}/${state}.evidence.jsonl`
    expect((await user.run(['export', run.slice(0, 8), '-o', file])).status).toBe(0)
    const trust = `${user.project}/trust`
    writeFileSync(trust, (await user.run(['verify', '--print-trust'])).stdout)
    const elsewhere = ['--home', '/nowhere', 'verify', file, '--trust', trust]
    expect(await user.run(elsewhere)).toMatchObject({ status: 0, stdout: expect.stringContaining('INTACT') })
    expect(readFileSync(file, 'utf8')).not.toContain('owned')
    const [first, ...rest] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, [first, ...rest.slice(1)].join('\n'))
    expect((await user.run(elsewhere)).status).not.toBe(0)
    const named = await user.run(['export', SESSION])
    const own = `${user.project}/${run.slice(0, 8)}.evidence.jsonl`
    expect([named.status, existsSync(own)]).toEqual([state === 'running' ? 0 : 1, true])
    expect((await user.run(['export', run, '-o', '-'])).stdout.split('\n')[0]).toContain('"kind":"bundle"')
  })
})

test('content that is gone is said to be gone, and nothing else fails', async () => {
  await user.run(['down'])
  const copy = `${user.project}/copy`
  cpSync(user.home, copy, { recursive: true })
  writeFileSync(`${copy}/vault/${segmentName(0)}`, '')
  const { status, stdout } = await user.run(['--home', copy, 'show', run])
  expect(status).toBe(0)
  expect(stdout).toContain('[no longer in the vault]')
})

test('a held call is listed, and answered once', async () => {
  await user.run(['up'])
  const hold = (id: string) => user.hook('PreToolUse', preToolUse('held', id, 'npm publish'))
  const pending = async () => (await json(['approvals', 'list'])) as { id: string; tool: string; rules: string[] }[]
  const waitFor = async (): Promise<string> => (await pending())[0]?.id ?? waitFor()

  const first: Promise<Ran> = hold('h1')
  const approve = await waitFor()
  expect(await pending()).toMatchObject([{ tool: 'Bash', rules: [expect.any(String)] }])
  const table = await user.run(['approvals', 'list'])
  expect(table.stdout).toContain(approve)
  expect((await json(['status'])) as object).toMatchObject({ pending_approvals: 1 })
  expect((await user.run(['approvals', 'approve', approve])).status).toBe(0)
  expect(await first).toMatchObject({ status: 0, stdout: '' })
  expect(await user.run(['approvals', 'approve', approve])).toMatchObject({ status: 1, stdout: '' })

  const second = hold('h2')
  const reject = await waitFor()
  expect((await user.run(['approvals', 'reject', reject])).status).toBe(0)
  expect(await second).toMatchObject({ status: 2, stdout: '' })
  expect(await pending()).toEqual([])
  expect((await user.run(['approvals', 'approve', '../status'])).status).toBe(2)
  const shown = (await user.run(['show', 'held'])).stdout
  expect(shown).toContain(`(${approve}, unauthenticated)`)
  expect(shown).toContain('rejected after')
})
