// Whether reading one run out of the index stays as fast when there is ten times as much beside it.
import { mkdirSync } from 'node:fs'
import { IndexDatabase } from '../../collector/store/index/database.ts'
import type { Bench } from '../main.ts'
import { removeFolder, temporaryFolder } from '../process.ts'
import { median, percentile } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rows: 4_000, rounds: 2 },
  quick: { rows: 20_000, rounds: 15 },
  normal: { rows: 100_000, rounds: 40 },
  full: { rows: 1_000_000, rounds: 100 },
} as const

const RUN_ROWS = 1_000
/** Runs whose records lie between one another, as of agents that work at the same time. */
const AT_ONCE = 4

export async function run({ size }: Bench): Promise<Finding[]> {
  const { rows, rounds } = SIZES[size]
  const folder = temporaryFolder()
  try {
    const small = await filled(`${folder}/small`, rows)
    const large = await filled(`${folder}/large`, rows * 10)
    const times: { small: number[]; large: number[] } = { small: [], large: [] }
    for (let round = -1; round < rounds; round++) {
      const one = { small: await readRun(small, rows), large: await readRun(large, rows * 10) }
      if (round < 0) continue
      times.small.push(one.small)
      times.large.push(one.large)
    }
    await small.close()
    await large.close()
    const p = (values: number[]) => `p50 ${median(values).toFixed(1)} ms, p99 ${percentile(values, 99).toFixed(1)} ms`
    const counts = [rows, rows * 10].map((n) => n.toLocaleString('en'))
    return [
      {
        id: 'query.run',
        value: median(times.large) / median(times.small),
        rounds: String(rounds),
        shown: `at ${counts[1]} rows ${p(times.large)}; at ${counts[0]} ${p(times.small)}; made-up rows${size === 'full' ? '' : ' (--full: 1M and 10M)'}`,
      },
    ]
  } finally {
    removeFolder(folder)
  }
}

/** An index of that many made-up records, with one kept content each, in the order a log would have them. */
async function filled(folder: string, rows: number): Promise<IndexDatabase> {
  for (const dir of ['log', 'vault']) mkdirSync(`${folder}/${dir}`, { recursive: true })
  const index = await IndexDatabase.open({
    path: `${folder}/index.duckdb`,
    logDir: `${folder}/log`,
    vaultDir: `${folder}/vault`,
  })
  const block = RUN_ROWS * AT_ONCE
  await index.query(`INSERT INTO records SELECT i, encode(repeat(md5(i::VARCHAR), 25)), unhex(sha256(i::VARCHAR)),
      unhex(sha256('key')), unhex(sha256(i::VARCHAR) || sha256('s' || i)), 'tool.decided',
      make_timestamp(1796040000000000 + i * 1000), 'T1', 'hook', 'sh', 'PreToolUse', ${RUN_ID}, 0, i // ${AT_ONCE} % ${RUN_ROWS},
      md5('t' || i // ${block}), substr(md5(i::VARCHAR), 1, 16), NULL, 'toolu_' || i, 1, 'turn-' || i // 50, NULL,
      '{"decision":"allow","tool":"Bash","rules":[],"enforced":true,"turn":"turn-' || i // 50 || '","policy_hash":"' || sha256('p') || '"}'
    FROM range(${rows}) t(i)`)
  await index.query(`INSERT INTO contents SELECT i, 'args', i // 100000, i * 500, 400, false FROM range(${rows}) t(i)`)
  await index.checkpoint()
  return index
}

const RUN_ID = `md5('run' || (i // ${RUN_ROWS * AT_ONCE} * ${AT_ONCE} + i % ${AT_ONCE}))`

/** Milliseconds of what `spanseal show` reads of a run chosen at random. */
async function readRun(index: IndexDatabase, rows: number): Promise<number> {
  const n = Math.floor(Math.random() * (rows / RUN_ROWS))
  const [found] = await index.query(`SELECT md5('run' || ${n}) AS id`)
  const id = String(found?.id)
  const began = performance.now()
  const records = await index.query(
    'SELECT seq, type, time, run_part, turn, sub, call_id, attempt, body FROM records WHERE run_id = ? ORDER BY seq',
    [id],
  )
  await index.query(
    'SELECT seq, name, segment, byte_offset, dropped FROM contents WHERE seq IN (SELECT seq FROM records WHERE run_id = ?)',
    [id],
  )
  const took = performance.now() - began
  if (records.length !== RUN_ROWS) throw new Error(`a run of ${records.length} records`)
  return took
}
