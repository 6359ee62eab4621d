import { ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IndexClient, type IndexClientOptions } from '../../collector/store/index/client.ts'
import { IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import { IndexLockedError } from '../../collector/store/index/file.ts'
import { bundle } from './index-bundle.ts'
import { completed, decided, LogFixture, smallRun } from './index-log.ts'

let worker: { dir: string; file: string }
let syncer: { dir: string; file: string }
let log: LogFixture
let client: IndexClient | undefined

beforeAll(async () => {
  worker = await bundle(fileURLToPath(new URL('../../collector/index-worker.ts', import.meta.url)))
  syncer = await bundle(fileURLToPath(new URL('./index-sync-process.ts', import.meta.url)))
})
afterAll(() => {
  for (const { dir } of [worker, syncer]) rmSync(dir, { recursive: true })
})
beforeEach(() => {
  log = new LogFixture()
})
afterEach(async () => {
  await client?.close()
  client = undefined
  log.remove()
})

function connect(options: Partial<IndexClientOptions> = {}): IndexClient {
  client = new IndexClient({ ...log.options, worker: worker.file, restartMs: 50, ...options })
  return client
}

async function until(done: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** The client's process, to be harmed. */
function processOf(of: IndexClient): ChildProcess {
  const found: unknown = Reflect.get(of, 'child')
  if (!(found instanceof ChildProcess)) throw new Error('no process runs')
  return found
}

describe('the index process', () => {
  test('answers with what was notified just before', async () => {
    const index = connect()
    for (let i = 0; i < 20; i++) {
      index.notify(log.addAll([decided(`c${i}`, 'allow'), completed(`c${i}`)]))
      expect(await index.query('SELECT count(*) AS n FROM calls WHERE status = $1', ['ok'])).toEqual([{ n: i + 1 }])
    }
    expect(index.lag()).toBe(0)
    expect(await index.userSql('SELECT count(*) AS n FROM records')).toEqual({
      columns: ['n'],
      rows: [[40]],
      truncated: false,
    })
  })

  test('starts when the doors are open, or with the first question, and never after it was closed', async () => {
    const index = connect()
    expect(index.running).toBe(false)
    const answer = index.query('SELECT 1 AS one')
    expect(index.running).toBe(true)
    expect(await answer).toEqual([{ one: 1 }])
    await index.close()
    const closed = connect()
    await closed.close()
    await expect(closed.query('SELECT 1')).rejects.toThrow('not running')
    expect(closed.running).toBe(false)
  })

  test('syncs without being asked, and says how far it is', async () => {
    const index = connect()
    const end = log.addAll(smallRun())
    index.notify(end)
    expect(index.lag()).toBe(end.offset)
    await until(() => index.lag() === 0)
    await index.close()
    client = undefined
    const direct = await IndexDatabase.open(log.options)
    expect(direct.reached).toEqual({ position: end, records: 16 })
    await direct.close()
  })

  test('never reads past what is durable', async () => {
    const index = connect()
    const durable = log.addAll(smallRun())
    log.add(decided('not-yet', 'allow'))
    index.notify(durable)
    expect(await index.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
  })

  test('turns a bad query into an error of that query', async () => {
    const index = connect()
    await expect(index.query('SELECT nothing')).rejects.toThrow(/nothing/)
    expect(await index.userSql('DROP TABLE records')).toEqual({ error: expect.stringContaining('DROP is refused') })
    expect(
      await index.userSql('SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c', { timeoutMs: 100 }),
    ).toEqual({
      error: expect.stringContaining('Stopped after 100 ms'),
    })
    expect(await index.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('that dies is started again and goes on with the newest position', async () => {
    const lines: string[] = []
    const index = connect({ log: (line) => lines.push(line) })
    index.notify(log.addAll(smallRun()))
    await index.query('SELECT 1')
    const waiting = index.query('SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c')
    const failed = expect(waiting).rejects.toThrow('stopped before it could answer')
    processOf(index).kill('SIGKILL')
    await failed
    index.notify(log.add(decided('later', 'deny')))
    await until(() => index.running)
    expect(await index.query("SELECT decision FROM calls WHERE call_id = 'later'")).toEqual([{ decision: 'deny' }])
    expect(await index.query('SELECT count(*) AS n, count(DISTINCT seq) AS d FROM records')).toEqual([{ n: 17, d: 17 }])
    expect(lines.join()).toMatch(/process ended \(SIGKILL\); it starts again/)
  })

  test('that can’t be started at all harms nobody but queries', async () => {
    const lines: string[] = []
    const index = connect({ worker: `${worker.dir}/missing.mjs`, log: (line) => lines.push(line) })
    index.notify(log.addAll(smallRun()))
    await expect(index.query('SELECT 1')).rejects.toThrow(/not running|stopped before/)
    await until(() => lines.length > 2)
  })

  test('ends at once when the collector is gone, whatever it is doing', async () => {
    const index = connect()
    index.notify(log.addAll(smallRun()))
    await index.query('SELECT 1')
    const failed = expect(
      index.query('SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c'),
    ).rejects.toThrow()
    const child = processOf(index)
    child.disconnect()
    await once(child, 'exit')
    await failed
    const direct = await openIndexDirect(log.options)
    expect(direct.reached.records).toBe(16)
    await direct.close()
  })

  test('builds a corrupt file again', async () => {
    writeFileSync(log.path, 'not a database')
    const lines: string[] = []
    const index = connect({ log: (line) => lines.push(line) })
    index.notify(log.addAll(smallRun()))
    expect(await index.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
    expect(lines.join()).toMatch(/built again/)
    expect(existsSync(`${log.path}.aside`)).toBe(true)
  })

  test('keeps answering when the log itself is damaged', async () => {
    const lines: string[] = []
    const index = connect({ log: (line) => lines.push(line) })
    const end = log.addAll(smallRun())
    index.notify({ ...end, offset: end.offset + 100 })
    writeFileSync(`${log.logDir}/00000000.seg`, Buffer.alloc(100, 9), { flag: 'a' })
    expect(await index.query('SELECT count(*) AS n FROM records')).toEqual([{ n: 16 }])
    expect(lines.join()).toMatch(/can't be indexed any further/)
  })
})

describe('another process', () => {
  function run(...more: string[]) {
    return spawn(process.execPath, [syncer.file, log.path, log.logDir, log.vaultDir, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  test('that has the file open is told apart from damage; the index waits for it', async () => {
    log.addAll(smallRun())
    const holder = run('stay')
    await once(holder.stdout, 'data')
    await expect(openIndexDirect(log.options)).rejects.toThrow(IndexLockedError)
    const lines: string[] = []
    const index = connect({ log: (line) => lines.push(line) })
    const answer = index.query('SELECT count(*) AS n FROM records')
    await until(() => lines.length > 0)
    expect(lines[0]).toContain('open in another process')
    holder.kill('SIGKILL')
    expect(await answer).toEqual([{ n: 16 }])
    expect(existsSync(`${log.path}.aside`)).toBe(false)
  })

  /** Opens what a killed process left, and checks that rows and position agree. */
  async function checkWhole(): Promise<number> {
    const index = await IndexDatabase.open(log.options)
    expect(index.rebuilt).toBeNull()
    const { records } = index.reached
    const whole = { n: records, d: records, high: records === 0 ? null : records - 1 }
    for (const table of ['records', 'contents']) {
      const sql = `SELECT count(*) AS n, count(DISTINCT seq) AS d, max(seq) AS high FROM ${table}`
      expect(await index.query(sql)).toEqual([whole])
    }
    await index.close()
    return records
  }

  test('killed while it syncs much at once leaves neither hole nor duplicate', async () => {
    const group = Array.from({ length: 2000 }, (_, i) => decided(`c${i}`, 'allow', `run ${i}`))
    for (let i = 0; i < 8; i++) log.addAll(group)
    let kills = 0
    for (let delay = 150; ; delay = Math.ceil(delay * 1.5)) {
      const child = run('all')
      const timer = setTimeout(() => child.kill('SIGKILL'), delay)
      const [code, signal] = await once(child, 'exit')
      clearTimeout(timer)
      const records = await checkWhole()
      if (signal === null) {
        expect(code).toBe(0)
        expect(records).toBe(log.seq)
        break
      }
      kills++
      log.addAll(group.slice(0, 100))
    }
    expect(kills).toBeGreaterThan(1)
  })

  test('killed between small transactions leaves neither hole nor duplicate', async () => {
    log.addAll(Array.from({ length: 6000 }, (_, i) => decided(`c${i}`, 'allow', `run ${i}`)))
    let reached = 0
    for (let kill = 0; kill < 8; kill++) {
      const child = run('step')
      await once(child.stdout, 'data')
      await new Promise((resolve) => setTimeout(resolve, 5 + kill * 9))
      child.kill('SIGKILL')
      await once(child, 'exit')
      reached = await checkWhole()
    }
    expect(reached).toBeGreaterThan(0)
    expect(reached).toBeLessThan(log.seq)
  })
})
