// The verifier's page as a reviewer opens it: written out by the command, opened from a file in a real Chromium, bundles dropped in.
// It gives the command's report word by word, and nothing leaves it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TempUser } from '../../support/cli.ts'

const GOLDEN = resolve('test/fixtures/golden')
const NEGATIVE = join(GOLDEN, 'negative')
/** What it takes to start Debian's Chromium as root and without a network of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let base: string
let user: TempUser
let browser: Browser
let page: Page
let requests: string[]
let complaints: string[]

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'spanseal-page-'))
  user = new TempUser()
  const made = await user.run(['verify', '--html', join(base, 'verify.html')])
  if (made.status !== 0) throw new Error(made.stderr)
  const executablePath = process.env.SPANSEAL_TEST_CHROMIUM ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: FLAGS })
})
afterAll(async () => {
  await browser.close()
  await user.remove()
  rmSync(base, { recursive: true, force: true })
})

beforeEach(async () => {
  requests = []
  complaints = []
  const context = await browser.newContext()
  page = await context.newPage()
  context.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(pathToFileURL(join(base, 'verify.html')).href)
  return () => context.close()
})

/** Chooses the files and reads what the page says. */
async function verify(
  bundle: string,
  trust?: string,
  checkpoint?: string,
): Promise<{ verdict: string; report: string }> {
  if (trust !== undefined) await page.setInputFiles('#trust', trust)
  if (checkpoint !== undefined) await page.setInputFiles('#checkpoint', checkpoint)
  await page.setInputFiles('#bundle', bundle)
  return read()
}

async function read(): Promise<{ verdict: string; report: string }> {
  await page.waitForSelector('#verdict[data-status]:not([data-status=none])')
  return { verdict: (await page.textContent('#verdict')) ?? '', report: (await page.textContent('#report')) ?? '' }
}

/** Nothing was asked for but the page itself, and nobody complained. */
function expectQuiet(): void {
  expect(requests).toEqual([pathToFileURL(join(base, 'verify.html')).href])
  expect(complaints).toEqual([])
}

const reportOf = (name: string) => readFileSync(`${name}.report.txt`, 'utf8')

describe('a good bundle', () => {
  it.each([false, true])('is INTACT with its trust file, gzipped: %s', async (gzipped) => {
    const bundle = join(base, gzipped ? 'run.gz' : 'run.jsonl')
    const bytes = readFileSync(join(GOLDEN, 'run.evidence.jsonl'))
    writeFileSync(bundle, gzipped ? gzipSync(bytes) : bytes)
    const { verdict, report } = await verify(bundle, join(GOLDEN, 'trust'))
    expect(verdict).toBe('INTACT')
    expect(report).toBe(reportOf(join(GOLDEN, 'run')))
    expectQuiet()
  })

  it('is only self-consistent without one, and is looked at again when one comes', async () => {
    expect((await verify(join(GOLDEN, 'run.evidence.jsonl'))).verdict).toBe('SELF-CONSISTENT ONLY')
    await page.setInputFiles('#trust', join(GOLDEN, 'trust'))
    await page.waitForSelector('#verdict[data-status=intact]')
    expectQuiet()
  })

  it('can be dropped with its trust file: each is known by what is in it', async () => {
    const files = ['run.evidence.jsonl', 'trust'].map((name) => ({
      name,
      text: readFileSync(join(GOLDEN, name), 'utf8'),
    }))
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      for (const { name, text } of ${JSON.stringify(files)}) data.items.add(new File([text], name))
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    })()`)
    expect((await read()).verdict).toBe('INTACT')
    expectQuiet()
  })
})

describe('a negative bundle', () => {
  it.each(readdirSync(NEGATIVE).filter((name) => /\.evidence\.jsonl(\.gz)?$/.test(name)))('%s', async (name) => {
    const beside = (ending: string) => join(NEGATIVE, name.replace(/\.evidence.*/, ending))
    const trust = existsSync(beside('.trust')) ? beside('.trust') : join(GOLDEN, 'trust')
    const checkpoint = existsSync(beside('.checkpoint')) ? beside('.checkpoint') : undefined
    const expected = JSON.parse(readFileSync(beside('.report.json'), 'utf8'))
    const { verdict, report } = await verify(join(NEGATIVE, name), trust, checkpoint)
    expect(report).toBe(reportOf(beside('')))
    expect(verdict).toBe(
      expected.exit === 1 ? 'BROKEN' : expected.exit === 3 ? 'INTACT, but a decision was not obeyed' : 'INTACT',
    )
    expectQuiet()
  })
})

describe('what is no bundle', () => {
  it.each<[string, string | Uint8Array]>([
    ['an empty file', ''],
    ['text', 'hello\n'],
    ['markup', '{"kind":"bundle","v":1}\n<img src=x onerror=alert(1)>\n'],
    ['half a gzip file', gzipSync('x'.repeat(10_000)).subarray(0, 20)],
    ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 256))],
  ])('is unusable and said so: %s', async (_, content) => {
    const path = join(base, 'no-bundle')
    writeFileSync(path, content)
    const { verdict, report } = await verify(path)
    expect(verdict).toBe('UNUSABLE')
    expect(report).toMatch(/^Unusable {5}/)
    expectQuiet()
  })

  it('a trust file that can not be read is told by its line', async () => {
    const path = join(base, 'no-trust')
    writeFileSync(path, 'genesis zz\n')
    const { verdict, report } = await verify(join(GOLDEN, 'run.evidence.jsonl'), path)
    expect(verdict).toBe('UNUSABLE')
    expect(report).toContain('trust file, line 1')
  })
})

describe('the network', () => {
  let server: Server
  let reached = 0
  beforeAll(async () => {
    server = createServer((_request, response) => {
      reached++
      response.end('ok')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => void server.close())

  it('is not to be had for any script in the page', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const attempts = await page.evaluate(`(async () => {
      const url = ${JSON.stringify(url)}
      const load = (element) => new Promise((done) => {
        element.onload = () => done('loaded')
        element.onerror = () => done('refused')
        document.body.append(element)
      })
      const image = Object.assign(new Image(), { src: url })
      const script = Object.assign(document.createElement('script'), { src: url })
      let socket = 'refused'
      try { new WebSocket(url.replace('http', 'ws')); socket = 'made' } catch {}
      return [
        await fetch(url).then(() => 'loaded', () => 'refused'),
        await load(image),
        await load(script),
        navigator.sendBeacon(url, 'x') ? 'queued' : 'refused',
        await new Promise((done) => {
          const request = new XMLHttpRequest()
          request.onload = () => done('loaded')
          request.onerror = () => done('refused')
          try { request.open('GET', url); request.send() } catch { done('refused') }
        }),
        (() => { try { return String(new Function('return 1')()) } catch { return 'refused' } })(),
      ]
    })()`)
    expect(attempts).toEqual(['refused', 'refused', 'refused', expect.any(String), 'refused', 'refused'])
    await page.waitForTimeout(300)
    expect(reached).toBe(0)
  })
})
