import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import { TABLES } from '../../collector/store/index/schema.ts'
import { VIEWS } from '../../collector/store/index/views.ts'
import { readFrames, segmentPath } from '../../collector/store/segments.ts'
import { fromHex } from '../../conventions/bytes.ts'
import { decodeVaultPayload } from '../../conventions/frame.ts'
import type { ImportedSpan } from '../../conventions/import.ts'
import { completed, decided, LogFixture, RUN, smallRun } from './index-log.ts'

let log: LogFixture
let index: IndexDatabase | undefined

beforeEach(() => {
  log = new LogFixture()
})
afterEach(async () => {
  await index?.close()
  index = undefined
  log.remove()
})

async function open(): Promise<IndexDatabase> {
  await index?.close()
  index = undefined
  index = await openIndexDirect(log.options)
  return index
}

async function everything(db: IndexDatabase): Promise<unknown> {
  const out: Record<string, unknown> = {}
  for (const { name } of TABLES) out[name] = await db.query(`SELECT * FROM ${name} ORDER BY ALL`)
  for (const { name } of VIEWS) out[name] = await db.query(`SELECT * FROM ${name} ORDER BY ALL`)
  return out
}

describe('views', () => {
  test('each answers what its line says', async () => {
    log.addAll(smallRun())
    const db = await open()
    const [run] = await db.query('SELECT * FROM runs')
    expect(run).toMatchObject({
      run_id: RUN,
      run_part: 0,
      agent: 'claude-code',
      session: 's1',
      mode: 'enforce',
      close_reason: 'session_end',
      calls: 3,
      denied: 1,
      asked: 1,
      flagged: 0,
      gaps: 1,
      violations: 1,
      prompts: 1,
      records: 15,
      opened: '2026-11-30T17:00:01.000Z',
      last_activity: '2026-11-30T17:00:15.000Z',
    })
    expect(
      await db.query(
        'SELECT call_id, tool, decision, rules, status, exit_code, duration_ms, turn, approval, answer FROM calls ORDER BY seq',
      ),
    ).toEqual([
      {
        call_id: 'c1',
        tool: 'Bash',
        decision: 'allow',
        rules: [],
        status: 'ok',
        exit_code: 0,
        duration_ms: 12,
        turn: 't1',
        approval: null,
        answer: null,
      },
      {
        call_id: 'c2',
        tool: 'Bash',
        decision: 'deny',
        rules: ['shell.rm'],
        status: null,
        exit_code: null,
        duration_ms: null,
        turn: 't1',
        approval: null,
        answer: null,
      },
      {
        call_id: 'c3',
        tool: 'Bash',
        decision: 'ask',
        rules: ['shell.rm'],
        status: 'error',
        exit_code: 1,
        duration_ms: 12,
        turn: 't1',
        approval: 'ap1',
        answer: 'approve',
      },
    ])
    expect(
      await db.query('SELECT approval, state, answer, authentication, waited_ms, call_id, expires FROM approvals'),
    ).toEqual([
      {
        approval: 'ap1',
        state: 'consumed',
        answer: 'approve',
        authentication: 'unauthenticated',
        waited_ms: 900,
        call_id: 'c3',
        expires: '2026-11-30T18:00:00.000Z',
      },
    ])
    expect(
      await db.query(
        'SELECT model, messages, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens FROM usage',
      ),
    ).toEqual([
      {
        model: 'm1',
        messages: 1,
        input_tokens: 100,
        output_tokens: 20,
        cache_read_tokens: 7,
        cache_write_tokens: null,
      },
    ])
    expect(await db.query('SELECT kind, model FROM messages ORDER BY seq')).toEqual([
      { kind: 'reasoning', model: 'm1' },
      { kind: 'tool_use', model: 'm1' },
    ])
    expect(await db.query('SELECT machine, bytes FROM prompts')).toEqual([{ machine: false, bytes: 11 }])
    expect(await db.query('SELECT kind, count, tool FROM gaps')).toEqual([
      { kind: 'decided_not_completed', count: 2, tool: 'Bash' },
    ])
    expect(await db.query('SELECT kind, call_id FROM violations')).toEqual([
      { kind: 'executed_against_policy', call_id: 'c2' },
    ])
    const timeline = await db.query('SELECT run_seq, what FROM timeline WHERE run_id = $1', [RUN])
    expect(timeline.map((row) => row.run_seq)).toEqual([...Array(15).keys()])
    expect(timeline.map((row) => row.what)).toContain('Bash deny shell.rm')
  })

  test('each approval has the state its records say', async () => {
    const records = smallRun()
    const held = (approval: string) =>
      records.flatMap((entry) =>
        entry.type.startsWith('approval.')
          ? [{ ...entry, body: { ...entry.body, approval } } as (typeof records)[number]]
          : [],
      )
    const [requested, answered, consumed] = held('x')
    if (requested === undefined || answered === undefined || consumed === undefined) throw new Error('no approval')
    const named = (name: string, ...entries: (typeof records)[number][]) =>
      entries.map((entry) => ({ ...entry, body: { ...entry.body, approval: name } }) as (typeof records)[number])
    const rejected = { ...answered, body: { ...answered.body, answer: 'reject' } } as typeof answered
    const expired = {
      ...answered,
      type: 'approval.expired',
      body: { approval: 'x', reason: 'restart' },
    } as typeof answered
    log.addAll([
      ...named('pending', requested),
      ...named('approved', requested, answered),
      ...named('rejected', requested, rejected),
      ...named('consumed', requested, answered, consumed),
      ...named('expired', requested, answered, expired),
    ])
    const db = await open()
    const rows = await db.query('SELECT approval, state FROM approvals ORDER BY seq')
    expect(rows.map((row) => row.state)).toEqual(rows.map((row) => row.approval))
    expect(rows).toHaveLength(5)
  })

  test('tables and views carry their line as a comment', async () => {
    const db = await open()
    const rows = await db.query(
      'SELECT table_name AS name, comment FROM duckdb_tables() UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal',
    )
    const docs = [...TABLES, ...VIEWS].map(({ name, doc }) => ({ name, comment: doc }))
    expect(rows.sort((a, b) => String(a.name).localeCompare(String(b.name)))).toEqual(
      docs.sort((a, b) => a.name.localeCompare(b.name)),
    )
  })
})

describe('the log is the database', () => {
  test('each record is there with exact bytes and leaf', async () => {
    log.addAll(smallRun())
    const db = await open()
    const rows = await db.query('SELECT seq, bytes, leaf, kid, signature FROM records ORDER BY seq')
    const frames = readFrames(log.logDir, { segment: 0, offset: 0 }, 1e6)
    expect(rows).toHaveLength(frames.length)
    const { createHash } = await import('node:crypto')
    for (const [i, { payload }] of frames.entries()) {
      const record = Buffer.from(payload.subarray(96))
      expect(rows[i]).toEqual({
        seq: i,
        bytes: record.toString('hex'),
        leaf: createHash('sha256')
          .update(Buffer.concat([Buffer.of(0), record]))
          .digest('hex'),
        kid: Buffer.from(payload.subarray(0, 32)).toString('hex'),
        signature: Buffer.from(payload.subarray(32, 96)).toString('hex'),
      })
    }
  })

  test('a deleted file is built again with identical rows', async () => {
    log.addAll(smallRun())
    const before = await everything(await open())
    await index?.close()
    index = undefined
    rmSync(log.path)
    expect(await everything(await open())).toEqual(before)
  })

  test.each([
    ['cut to half', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['cut to nothing', (path: string) => truncateSync(path, 0)],
    ['not a DuckDB file', (path: string) => writeFileSync(path, 'this was never a database')],
    [
      'overwritten in its blocks',
      (path: string) => {
        const bytes = readFileSync(path)
        for (let at = 12_288 + 4096; at < bytes.length; at += 4096) bytes.fill(0xa5, at, at + 64)
        writeFileSync(path, bytes)
      },
    ],
    ['overwritten in its header', (path: string) => writeFileSync(path, readFileSync(path).fill(0xff, 0, 8192))],
    [
      'with a broken write-ahead log',
      (path: string) => {
        writeFileSync(`${path}.wal`, Buffer.alloc(500, 7))
      },
    ],
  ])('a file that is %s is built again', async (_name, damage) => {
    for (let i = 0; i < 60; i++) log.addAll([decided(`c${i}`, 'allow'), completed(`c${i}`)])
    const before = await everything(await open())
    await index?.close()
    index = undefined
    damage(log.path)
    expect(await everything(await open())).toEqual(before)
  })

  test('a file of another schema is built again and the old one put aside', async () => {
    log.addAll(smallRun())
    const first = await open()
    const before = await everything(first)
    await first.query("UPDATE meta SET schema = 'older'")
    const again = await open()
    expect(again.rebuilt).toBe('it was written by another version')
    expect(existsSync(`${log.path}.aside`)).toBe(true)
    expect(await everything(again)).toEqual(before)
  })

  test('rows that were removed from the file come back', async () => {
    log.addAll(smallRun())
    const first = await open()
    await first.query('DELETE FROM records WHERE seq = 7')
    const again = await open()
    expect(again.rebuilt).toBe('rows are missing or were added')
    expect(await again.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
  })

  test('the index of another log is not continued', async () => {
    log.addAll(smallRun())
    await open()
    await index?.close()
    index = undefined
    rmSync(segmentPath(log.logDir, 0))
    rmSync(segmentPath(log.vaultDir, 0))
    log.seq = 0
    log.addAll([decided('new', 'deny')])
    const db = await open()
    expect(db.rebuilt).toBe('it is the index of another log')
    expect(await db.query('SELECT call_id FROM records')).toEqual([{ call_id: 'new' }])
  })
})

describe('sync', () => {
  test('goes on where it stopped, over segments, up to the durable position only', async () => {
    const db = await open()
    const [first, second] = [log.addAll(smallRun()), log.add(decided('later', 'flag'))]
    expect(await db.sync(first)).toEqual({ position: first, records: 16 })
    expect(await db.query("SELECT count(*) AS n FROM calls WHERE call_id = 'later'")).toEqual([{ n: 0 }])
    expect(await db.sync(second)).toEqual({ position: second, records: 17 })
    log.segment = 1
    const third = log.add(completed('later'))
    expect((await db.sync(third)).records).toBe(18)
    expect((await db.sync(first)).records).toBe(18)
    const again = await open()
    expect(again.rebuilt).toBeNull()
    expect(await again.query('SELECT seq FROM records ORDER BY seq')).toEqual(
      [...Array(18).keys()].map((seq) => ({ seq })),
    )
    expect(await again.query('SELECT count(*) AS n FROM contents')).toEqual([{ n: 10 }])
  })

  test('more rows than one transaction holds', async () => {
    const entries = Array.from({ length: 7000 }, (_, i) => decided(`c${i}`, 'allow'))
    for (let i = 0; i < 3; i++) log.addAll(entries)
    const db = await open()
    expect(db.reached.records).toBe(21_000)
    expect(await db.query('SELECT count(*) AS n, count(DISTINCT seq) AS d, max(seq) AS m FROM records')).toEqual([
      { n: 21_000, d: 21_000, m: 20_999 },
    ])
    expect(await db.query('SELECT count(DISTINCT seq) AS n FROM contents')).toEqual([{ n: 21_000 }])
  })

  test.each([
    ['half a frame', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['its head only', (bytes: Buffer) => bytes.subarray(0, 5)],
    ['zeros', () => Buffer.alloc(64)],
    ['a frame with a flipped bit', (bytes: Buffer) => bytes.fill(bytes[50] === 1 ? 2 : 1, 50, 51)],
  ])('a last frame that is %s is left out, and read when it was written again', async (_name, tear) => {
    log.addAll(smallRun())
    const path = segmentPath(log.logDir, 0)
    const size = statSync(path).size
    log.add(decided('last', 'allow'))
    const frame = readFileSync(path).subarray(size)
    const torn = tear(Buffer.from(frame))
    truncateSync(path, size)
    appendFileSync(path, torn)
    const db = await open()
    expect(db.reached).toEqual({ position: { segment: 0, offset: size }, records: 16 })
    truncateSync(path, size)
    appendFileSync(path, frame)
    expect((await db.sync()).records).toBe(17)
    expect(await db.query("SELECT count(*) AS n FROM calls WHERE call_id = 'last'")).toEqual([{ n: 1 }])
  })

  test('a torn frame before the durable position is an error, and what came before stays', async () => {
    const path = segmentPath(log.logDir, 0)
    log.addAll(smallRun())
    const size = statSync(path).size
    const end = log.add(decided('last', 'allow'))
    truncateSync(path, end.offset - 3)
    index = await IndexDatabase.open(log.options)
    await expect(index.sync(end)).rejects.toThrow('torn')
    expect(index.reached).toEqual({ position: { segment: 0, offset: size }, records: 16 })
  })

  test('a frame that holds no record is a row, so that nothing is hidden', async () => {
    log.addAll(smallRun())
    const { encodeFrame } = await import('../../conventions/frame.ts')
    const { crc32 } = await import('node:zlib')
    appendFileSync(segmentPath(log.logDir, 0), encodeFrame(Buffer.from('short'), crc32))
    appendFileSync(segmentPath(log.logDir, 0), encodeFrame(Buffer.alloc(200, 0x7b), crc32))
    const db = await open()
    expect(await db.query("SELECT seq FROM records WHERE type = '(unreadable)' ORDER BY seq")).toEqual([
      { seq: 16 },
      { seq: 17 },
    ])
  })

  test('goes on for longer than memory lasts, and still answers', async () => {
    const memoryMb = 64
    // What a killed process had not room for.
    mkdirSync(`${log.path}.tmp`)
    writeFileSync(`${log.path}.tmp/duckdb_temp_storage_DEFAULT-0.tmp`, 'left over')
    index = await IndexDatabase.open({ ...log.options, memoryMb })
    // Each record takes about a kilobyte of the index, so this and what a checkpoint takes is more than the memory, with no moment of rest in between.
    for (let group = 0; group < 45; group++) {
      const calls = Array.from({ length: 1_000 }, (_, n) => decided(`c${group * 1_000 + n}`, 'allow'))
      await index.sync(log.addAll(calls))
    }
    expect(await index.query('SELECT count(*) AS n FROM calls')).toEqual([{ n: 45_000 }])
    expect(statSync(`${log.path}.wal`, { throwIfNoEntry: false })?.size ?? 0).toBeLessThan((memoryMb / 2) * 1024 * 1024)
    await index.close()
    index = undefined
    expect(existsSync(`${log.path}.tmp`)).toBe(false)
  })
})

describe('contents', () => {
  const SECRET = 'planted-secret-5f2c9a'

  test('say where the vault frame is and never hold what is in it', async () => {
    log.addAll([decided('c1', 'allow', `curl -H ${SECRET}`), completed('c1', 'ok', SECRET.repeat(50))])
    const span = { ...SPAN, attributes: { 'gen_ai.prompt': SECRET, 'input.value': SECRET, n: 1 } }
    log.add(imported(SECRET))
    index = await openIndexDirect({ ...log.options, readImport: () => [span] })
    const rows = await index.query('SELECT * FROM contents ORDER BY seq')
    expect(rows.map(({ seq, name }) => `${seq} ${name}`)).toEqual(['0 args', '1 result', '2 body'])
    for (const row of rows) {
      const frame = readFrames(log.vaultDir, { segment: Number(row.segment), offset: Number(row.byte_offset) }, 1)[0]
      const entry = frame === undefined ? null : decodeVaultPayload(frame.payload)
      expect(entry?.head).toMatchObject({ seq: row.seq, name: row.name })
      expect(entry?.content.length).toBe(row.bytes)
    }
    expect(readFileSync(`${log.path}.wal`).length).toBeGreaterThan(0)
    expect(readFileSync(`${log.path}.wal`).includes(SECRET)).toBe(false)
    await index.checkpoint()
    expect(readFileSync(log.path).includes(SECRET)).toBe(false)
    expect(readFileSync(log.path).includes('claude-code')).toBe(true)
  })

  test('of a closed vault segment that is damaged are passed over', async () => {
    log.addAll([decided('c1', 'allow'), decided('c2', 'allow')])
    const path = segmentPath(log.vaultDir, 0)
    truncateSync(path, statSync(path).size - 1)
    log.segment = 1
    log.add(decided('c3', 'allow'))
    const db = await open()
    expect(await db.query('SELECT seq FROM contents ORDER BY seq')).toEqual([{ seq: 0 }, { seq: 2 }])
    expect(await db.query('SELECT vault_skipped AS n FROM meta')).toEqual([{ n: 1 }])
  })

  test('that a recovery cut and wrote again are found again', async () => {
    const first = log.add(decided('c1', 'allow'))
    const path = segmentPath(log.vaultDir, 0)
    const size = statSync(path).size
    appendFileSync(path, Buffer.alloc(40))
    writeFileSync(segmentPath(log.vaultDir, 1), '')
    const db = await open()
    await db.sync(first)
    truncateSync(path, size)
    const second = log.add(decided('c2', 'allow'))
    await db.sync(second)
    expect(await db.query('SELECT seq, byte_offset FROM contents ORDER BY seq')).toEqual([
      { seq: 0, byte_offset: 0 },
      { seq: 1, byte_offset: size },
    ])
  })
})

const SPAN: ImportedSpan = {
  signal: 'traces',
  trace_id: '1'.repeat(32),
  span_id: '2'.repeat(16),
  name: 'chat m1',
  kind: 3,
  start_ns: '1796058000000000001',
  end_ns: '1796058001500000001',
  service: 'crewai',
  scope: 'openinference',
  status: 0,
  attributes: {},
  valid: true,
}

function imported(body: string, name = 'body', dropped = false) {
  return {
    type: 'spans.imported' as const,
    source: { kind: 'otlp' as const },
    body: { count: 1, rejected: 0, encoding: 'json' as const, bytes: body.length, spoofed: 0 },
    contents: [{ name, bytes: Buffer.from(dropped ? '' : body), dropped }],
  }
}

describe('imports', () => {
  const reader = (body: Uint8Array): ImportedSpan[] => JSON.parse(Buffer.from(body).toString())

  test('become span rows once, receipt only, valid ones only', async () => {
    const other = { ...SPAN, end_ns: '1796058009000000000' }
    log.add(imported(JSON.stringify([SPAN, { ...SPAN, span_id: 'x', valid: false }])))
    log.add(imported(JSON.stringify([SPAN])))
    log.add(imported(JSON.stringify([other])))
    index = await openIndexDirect({ ...log.options, readImport: reader })
    const rows = await index.query('SELECT * FROM spans ORDER BY seq')
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({
      trace_id: SPAN.trace_id,
      span_id: SPAN.span_id,
      name: 'chat m1',
      started: '2026-11-30T17:00:00.000000001Z',
      duration_ms: 1500,
      service: 'crewai',
      status: 'unset',
      received: 2,
      seq: 0,
      receipt_only: true,
    })
    expect(rows[1]).toMatchObject({ received: 1, seq: 2 })
    expect(await index.query('SELECT count, encoding, indexed FROM imports ORDER BY seq')).toEqual([
      { count: 1, encoding: 'json', indexed: 1 },
      { count: 1, encoding: 'json', indexed: 1 },
      { count: 1, encoding: 'json', indexed: 1 },
    ])
  })

  test('keep ids, names and numbers of a span and count what is withheld', async () => {
    const attributes = {
      'gen_ai.request.model': 'm1',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.input.messages': 'what the user said',
      'llm.input_messages.0.message.content': 'the same',
      'tool.name': 'x'.repeat(1000),
      nested: { deep: 1 },
      flag: true,
    }
    log.add(imported(JSON.stringify([{ ...SPAN, attributes }])))
    index = await openIndexDirect({ ...log.options, readImport: reader })
    const [row] = await index.query('SELECT attributes, withheld_attributes FROM spans')
    expect(row?.withheld_attributes).toBe(4)
    expect(JSON.parse(String(row?.attributes))).toEqual({
      'gen_ai.request.model': 'm1',
      'gen_ai.usage.input_tokens': 12,
      flag: true,
    })
  })

  test('are read from the redacted body where that was kept', async () => {
    const entry = imported('', 'body', true)
    const kept = imported(JSON.stringify([SPAN]), 'body.redacted')
    log.add({ ...entry, contents: [...entry.contents, ...kept.contents] })
    index = await openIndexDirect({ ...log.options, readImport: reader })
    expect(await index.query('SELECT count(*) AS n FROM spans')).toEqual([{ n: 1 }])
  })

  test('whose body can’t be read stop nothing and are counted', async () => {
    log.add(imported('not json'))
    log.add(imported(JSON.stringify([SPAN])))
    index = await openIndexDirect({ ...log.options, readImport: reader })
    expect(await index.query('SELECT count(*) AS n FROM spans')).toEqual([{ n: 1 }])
    expect(await index.query('SELECT imports_unread AS n FROM meta')).toEqual([{ n: 1 }])
  })

  test('with impossible numbers keep their row', async () => {
    const odd = { ...SPAN, kind: 900, start_ns: '-5', end_ns: '99999999999999999999999' }
    log.add(imported(JSON.stringify([odd, { ...SPAN, span_id: '3'.repeat(16), start_ns: '18446744073709551615' }])))
    index = await openIndexDirect({ ...log.options, readImport: reader })
    expect(await index.query('SELECT kind, started, ended FROM spans ORDER BY span_id')).toHaveLength(2)
    expect(await index.query('SELECT max(start_ns) AS s FROM import_spans')).toEqual([{ s: '18446744073709551615' }])
  })
})

test('values of any type come out JSON-safe', async () => {
  const db = await open()
  const [row] =
    await db.query(`SELECT 9007199254740993::UBIGINT AS big, 9007199254740991::BIGINT AS safe, '\\x00\\xFF'::BLOB AS blob,
    TIMESTAMP '2026-11-30 17:41:02.123456' AS t, TIMESTAMP_NS '1960-01-01 00:00:00.000000001' AS ns, 'nan'::DOUBLE AS nan,
    1.50::DECIMAL(5,2) AS d, [1, NULL]::UBIGINT[] AS list, {'a': 1::BIGINT} AS obj, MAP {'k': 2::BIGINT} AS map, DATE '2026-11-30' AS day,
    sum(5::BIGINT) AS total, NULL AS nothing`)
  expect(row).toEqual({
    big: '9007199254740993',
    safe: 9007199254740991,
    blob: '00ff',
    t: '2026-11-30T17:41:02.123456Z',
    ns: '1960-01-01T00:00:00.000000001Z',
    nan: 'NaN',
    d: 1.5,
    list: [1, null],
    obj: { a: 1 },
    map: { k: 2 },
    day: '2026-11-30',
    total: 5,
    nothing: null,
  })
  expect(fromHex(String(row?.blob))).toEqual(Uint8Array.of(0, 255))
  expect(JSON.parse(JSON.stringify(row))).toEqual(row)
})
