import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import { VIEWS } from '../../collector/store/index/views.ts'
import { LogFixture, smallRun } from './index-log.ts'

const SECRET = 'BEGIN PRIVATE KEY planted'
const BUDGET = { maxRows: 1000, timeoutMs: 20_000 }
let log: LogFixture
let index: IndexDatabase

beforeAll(async () => {
  log = new LogFixture()
  log.addAll(smallRun())
  mkdirSync(`${log.dir}/keys`)
  writeFileSync(`${log.dir}/keys/record.pem`, SECRET)
  writeFileSync(`${log.dir}/rows.csv`, `a,b\n1,${SECRET}\n`)
  index = await openIndexDirect(log.options)
})
afterAll(async () => {
  await index.close()
  log.remove()
})

describe('refused', () => {
  const statements: [string, RegExp][] = [
    ['INSERT INTO records (seq) VALUES (99)', /INSERT is refused/],
    ['/* hi */ UPDATE records SET seq = 1', /UPDATE is refused/],
    ['-- hi\nDELETE FROM records', /DELETE is refused/],
    ['CREATE TABLE x (a INT)', /CREATE is refused/],
    ['CREATE TEMP MACRO m() AS 1', /CREATE is refused/],
    ['DROP VIEW runs', /DROP is refused/],
    ['ALTER TABLE records ADD COLUMN x INT', /ALTER is refused/],
    ['TRUNCATE records', /refused/],
    ["ATTACH 'HOME/other.duckdb' AS o", /ATTACH is refused/],
    ['DETACH index', /DETACH is refused/],
    ['USE memory', /USE is refused/],
    ["COPY records TO 'HOME/out.csv'", /COPY is refused/],
    ["COPY records FROM 'HOME/rows.csv'", /COPY is refused/],
    ["EXPORT DATABASE 'HOME/dump'", /EXPORT is refused/],
    ["IMPORT DATABASE 'HOME/dump'", /IMPORT is refused/],
    ['INSTALL httpfs', /INSTALL is refused/],
    ["LOAD 'HOME/evil.duckdb_extension'", /LOAD is refused/],
    ['PRAGMA database_list', /PRAGMA is refused/],
    ["PRAGMA enable_profiling = 'json'", /PRAGMA is refused/],
    ['SET enable_external_access = true', /SET is refused/],
    ['RESET lock_configuration', /RESET is refused/],
    ['CHECKPOINT', /CHECKPOINT is refused/],
    ['CALL enable_logging()', /CALL is refused/],
    ['BEGIN', /BEGIN is refused/],
    ['PREPARE p AS SELECT 1', /PREPARE is refused/],
    ['VACUUM', /VACUUM is refused/],
    ['EXPLAIN ANALYZE DELETE FROM records', /EXPLAIN is refused/],
    ['EXPLAIN INSERT INTO records (seq) VALUES (1)', /EXPLAIN is refused/],
    ['WITH x AS (DELETE FROM records RETURNING *) SELECT * FROM x', /A CTE needs a SELECT/],
    ['SELECT 1; SELECT 2', /several statements/],
    ['SELECT 1; DROP VIEW runs', /refused/],
    ["SELECT * FROM read_csv('HOME/rows.csv')", /table function read_csv is refused/],
    ["SELECT * FROM read_text('HOME/keys/record.pem')", /table function read_text is refused/],
    ["SELECT (SELECT content FROM READ_TEXT('HOME/keys/record.pem'))", /read_text is refused/],
    ["SELECT * FROM read_blob('HOME/index.duckdb')", /read_blob is refused/],
    ["SELECT * FROM read_json('HOME/keys/record.pem')", /read_json is refused/],
    ["SELECT * FROM parquet_metadata('HOME/x')", /parquet_metadata is refused/],
    ["SELECT * FROM sniff_csv('HOME/rows.csv')", /sniff_csv is refused/],
    ["SELECT * FROM glob('HOME/*')", /glob is refused/],
    ["SELECT * FROM 'HOME/rows.csv'", /files can't be read/],
    ['SELECT * FROM "HOME/keys/record.pem"', /files can't be read/],
    ["WITH a AS (SELECT 1 UNION ALL SELECT b FROM 'HOME/rows.csv') FROM a", /files can't be read/],
    ["DESCRIBE SELECT * FROM 'HOME/rows.csv'", /files can't be read/],
    ["SUMMARIZE 'HOME/rows.csv'", /files can't be read/],
    ["SELECT * FROM read_duckdb('HOME/index.duckdb')", /read_duckdb is refused/],
    ["SELECT * FROM query('SELECT * FROM read_text(''HOME/keys/record.pem'')')", /query is refused/],
    ["SELECT * FROM query_table('HOME/rows.csv')", /query_table is refused/],
    ["SELECT * FROM json_execute_serialized_sql('{}')", /json_execute_serialized_sql is refused/],
    ['SELECT * FROM duckdb_secrets()', /duckdb_secrets is refused/],
    ['SELECT * FROM duckdb_settings()', /duckdb_settings is refused/],
    ['SELECT * FROM force_checkpoint()', /force_checkpoint is refused/],
    ['SELECT * FROM enable_profiling()', /enable_profiling is refused/],
    ['SELECT * FROM main.enable_logging()', /enable_logging is refused/],
    ["SELECT getenv('HOME')", /getenv is refused/],
    ["SELECT 1 WHERE write_log('x') IS NULL", /write_log is refused/],
    ['SELECT sleep_ms(1)', /sleep_ms is refused/],
    ['', /Only one query/],
    [';;', /Only one query/],
  ]
  test.each(statements)('%s', async (sql, message) => {
    const files = readdirSync(log.dir).sort()
    const answer = await index.userSql(sql.replaceAll('HOME', log.dir), BUDGET)
    expect(answer).toEqual({ error: expect.stringMatching(message) })
    expect(JSON.stringify(answer)).not.toContain(SECRET)
    expect(readdirSync(log.dir).sort()).toEqual(files)
    expect(await index.query('SELECT count(*) AS n, min(seq) AS low FROM records')).toEqual([{ n: 16, low: 0 }])
  })

  test.each([
    "SELECT content FROM read_text('HOME/keys/record.pem')",
    "SELECT * FROM 'HOME/rows.csv'",
    "COPY records TO 'HOME/out.csv'",
    "ATTACH 'HOME/other.duckdb'",
    "LOAD 'HOME/evil.duckdb_extension'",
    'SET enable_external_access = true',
    'SET lock_configuration = false',
    "SET temp_directory = 'HOME/tmp'",
    'INSTALL httpfs',
  ])('by DuckDB itself, should the guard fail: %s', async (sql) => {
    const files = readdirSync(log.dir).sort()
    await expect(index.query(sql.replaceAll('HOME', log.dir))).rejects.toThrow(
      /disabled by configuration|disabled through configuration|has been locked/,
    )
    expect(readdirSync(log.dir).sort()).toEqual(files)
  })
})

describe('answered', () => {
  test.each([
    ['SELECT count(*) AS n FROM calls', ['n'], [[3]]],
    ['WITH a AS (SELECT 1 AS x) FROM a', ['x'], [[1]]],
    ['VALUES (1, NULL)', ['col0', 'col1'], [[1, null]]],
    ['SELECT unnest([1, 2]) AS u ORDER BY u', ['u'], [[1], [2]]],
    ["SELECT value FROM json_each('[7]')", ['value'], [['7']]],
    ["SELECT body->>'session' AS s FROM records WHERE type = 'run.opened'", ['s'], [['s1']]],
    [
      "SELECT call_id FROM main.calls WHERE list_contains(rules, 'shell.rm') ORDER BY 1;",
      ['call_id'],
      [['c2'], ['c3']],
    ],
    ['SELECT 18446744073709551615 AS big', ['big'], [['18446744073709551615']]],
  ])('%s', async (sql, columns, rows) => {
    expect(await index.userSql(sql, BUDGET)).toEqual({ columns, rows, truncated: false })
  })

  test.each([
    ...VIEWS.map(({ name }) => `SELECT * FROM ${name}`),
    'SHOW TABLES',
    'DESCRIBE runs',
    'SUMMARIZE calls',
    'EXPLAIN SELECT * FROM runs',
    'EXPLAIN ANALYZE SELECT * FROM runs',
    'SELECT * FROM information_schema.tables',
  ])('%s', async (sql) => {
    expect(await index.userSql(sql, BUDGET)).toHaveProperty('rows')
  })

  test.each([
    ['SELEC 1', /syntax error at or near "SELEC"[\s\S]*LINE 1/],
    ['SELECT nothing FROM runs', /Binder Error: .*nothing/],
    ['SELECT * FROM nowhere', /Catalog Error: .*nowhere/],
    ["SELECT CAST('x' AS INTEGER)", /Conversion Error/],
  ])('%s with what DuckDB says is wrong', async (sql, message) => {
    expect(await index.userSql(sql, BUDGET)).toEqual({ error: expect.stringMatching(message) })
  })
})

describe('budgets', () => {
  // A query that was stopped gives its place back when it has really ended, which a busy machine may take a while for.
  beforeEach(async () => {
    for (;;) {
      const answer = await index.userSql('SELECT 1', BUDGET)
      if (!('error' in answer)) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  test('at once: one too many is told so, and the index goes on', async () => {
    const slow = 'SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c'
    const answers = await Promise.all([1, 2, 3].map(() => index.userSql(slow, { maxRows: 1, timeoutMs: 500 })))
    expect(answers.filter((answer) => 'error' in answer && /already running/.test(answer.error))).toHaveLength(1)
    expect(await index.sync()).toMatchObject({ records: 16 })
  })

  test('length: a statement nobody would write', async () => {
    const answer = await index.userSql(`SELECT '${'x'.repeat(20_001)}'`, BUDGET)
    expect(answer).toEqual({ error: expect.stringMatching(/longer than 20000/) })
  })

  test('rows: no more are read than asked for', async () => {
    const answer = await index.userSql('SELECT range AS n FROM range(100000000000)', { maxRows: 5, timeoutMs: 20_000 })
    expect(answer).toEqual({ columns: ['n'], rows: [[0], [1], [2], [3], [4]], truncated: true })
    const exact = await index.userSql('SELECT range AS n FROM range(5)', { maxRows: 5, timeoutMs: 20_000 })
    expect(exact).toMatchObject({ truncated: false })
  })

  test('bytes: an answer of huge values is cut', async () => {
    const answer = await index.userSql("SELECT repeat('x', 1000000) AS x FROM range(100)", BUDGET)
    expect(answer).toMatchObject({ truncated: true })
    expect(JSON.stringify(answer).length).toBeLessThan(17 * 1024 * 1024)
  })

  test('memory: a query that needs too much fails alone', async () => {
    const answer = await index.userSql('SELECT list(a.range) FROM range(300000000) a', BUDGET)
    expect(answer).toEqual({ error: expect.stringMatching(/needs more memory .* name a run/) })
    expect(await index.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
  })

  test.each([
    'SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c',
    'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t',
    'SELECT max(list_reduce(range(3000000), lambda x, y: x + y)) FROM range(1000)',
  ])('time: %s', async (sql) => {
    const answer = await index.userSql(sql, { maxRows: 10, timeoutMs: 300 })
    expect(answer).toEqual({ error: expect.stringContaining('Stopped after 300 ms') })
    expect(await index.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
  })
})
