// Threads that look through bodies. The built one looks; the others are stand-ins that fail as a thread can.
import { pathToFileURL } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { InspectPool } from '../../collector/receive/otlp/pool.ts'
import { utf8, withSpan } from './otlp-support.ts'

let pool: InspectPool
afterEach(() => pool.close())

const built = pathToFileURL('dist/otlp-worker.mjs')
const script = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)

/** A JSON body of one span and this many bytes. */
function body(length: number) {
  const bytes = new Uint8Array(length).fill(0x20)
  bytes.set(utf8(withSpan({})))
  return { blocks: [bytes], length }
}

it('a small body does not wait for a large one that came before it', async () => {
  pool = new InspectPool({ worker: built, logId: '' })
  // Both threads run.
  await Promise.all([pool.inspect(body(1_000), 'json', 'traces'), pool.inspect(body(1_000_000), 'json', 'traces')])
  const order: string[] = []
  const large = pool.inspect(body(40_000_000), 'json', 'traces').then(() => order.push('large'))
  const small = pool.inspect(body(1_000), 'json', 'traces').then(() => order.push('small'))
  await Promise.all([large, small])
  expect(order).toEqual(['small', 'large'])
})

it('gives the facts, and the body as content with its commitment', async () => {
  pool = new InspectPool({ worker: built, logId: '' })
  const { inspected, contents } = await pool.inspect(body(1_000), 'json', 'traces')
  expect(inspected).toMatchObject({ ok: true, count: 1 })
  expect(contents).toMatchObject([
    { name: 'body', keep: true, commitment: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) },
  ])
  expect(contents[0]?.bytes).toHaveLength(1_000)
})

it('a thread that fails costs its body only, and the next gets a new one', async () => {
  pool = new InspectPool({
    worker: script(`
      import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ encoding }) => {
        if (encoding === 'json') throw new Error('failed')
        parentPort.postMessage({ inspected: { ok: true }, contents: [] })
      })`),
    logId: '',
  })
  const answers = (['json', 'protobuf', 'json', 'protobuf'] as const).map((encoding) =>
    pool.inspect(body(1_000), encoding, 'traces').then(
      () => 'looked',
      (error: Error) => error.message,
    ),
  )
  expect(await Promise.all(answers)).toEqual(['failed', 'looked', 'failed', 'looked'])
})

it('bodies that wait when it closes are refused, and no new thread begins on them', async () => {
  pool = new InspectPool({
    worker: script("import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => { for (;;); })"),
    logId: '',
  })
  const answers = [1, 2].map(() =>
    pool.inspect(body(1_000), 'json', 'traces').then(
      () => 'looked',
      () => 'refused',
    ),
  )
  await pool.close()
  expect(await Promise.all(answers)).toEqual(['refused', 'refused'])
  await expect(pool.inspect(body(1_000), 'json', 'traces')).rejects.toThrow('closed')
})

it('a body that needs more memory than a thread has is refused as too large, not for now', async () => {
  pool = new InspectPool({
    worker: script(`
      import { parentPort } from 'node:worker_threads'
      parentPort.on('message', () => {
        const all = []
        for (;;) all.push(new Array(100_000).fill(0.5))
      })`),
    logId: '',
  })
  const { inspected } = await pool.inspect(body(1_000), 'json', 'traces')
  expect(inspected).toMatchObject({ ok: false, tooLarge: true })
})
