// The page a reviewer drops a bundle into: the same checks and the same words as `spanseal verify FILE`, without a network.
import { config } from 'zod'
import { verifyBundleBytes } from '../bundle.ts'
import { renderReport } from '../render.ts'
import type { Report } from '../report.ts'

// The page forbids making code of text; zod would try.
config({ jitless: true })

const GZIP = [0x1f, 0x8b]
const WORDS: Readonly<Record<Report['status'], string>> = {
  intact: 'INTACT',
  self_consistent: 'SELF-CONSISTENT ONLY',
  broken: 'BROKEN',
  unusable: 'UNUSABLE',
}

interface Chosen {
  bundle: File | null
  trust: File | null
  checkpoint: File | null
}

const chosen: Chosen = { bundle: null, trust: null, checkpoint: null }
/** Grows with each choice: an answer to an older one is not shown. */
let turn = 0

function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`)
  return found
}

const drop = byId('drop', HTMLElement)
const verdict = byId('verdict', HTMLParagraphElement)
const output = byId('report', HTMLPreElement)

for (const name of ['bundle', 'trust', 'checkpoint'] as const) {
  const input = byId(name, HTMLInputElement)
  input.addEventListener('change', () => {
    chosen[name] = input.files?.[0] ?? null
    show()
  })
}
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', type === 'dragenter' || type === 'dragover')
    if (type === 'drop') take([...(event.dataTransfer?.files ?? [])]).then(show, failed)
  })
}

/** Dropped files say themselves what they are. */
async function take(files: File[]): Promise<void> {
  for (const file of files) {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer())
    const text = isGzip(head) ? '{' : await file.slice(0, 4_096).text()
    if (text.startsWith('{')) chosen.bundle = file
    else if (text.includes('\n— ')) chosen.checkpoint = file
    else chosen.trust = file
  }
}

function show(): void {
  const mine = ++turn
  byId('pins', HTMLSpanElement).textContent =
    chosen.trust === null ? 'Without one the best answer is SELF-CONSISTENT ONLY.' : `Pinned by ${chosen.trust.name}.`
  if (chosen.bundle === null) return
  answer('Verifying …', 'none', '')
  verify(chosen.bundle, chosen.trust, chosen.checkpoint).then((report) => {
    if (mine !== turn) return
    const enforcement = report.exit === 3 ? ', but a decision was not obeyed' : ''
    answer(`${WORDS[report.status]}${enforcement}`, report.status, renderReport(report))
  }, failed)
}

async function verify(bundle: File, trust: File | null, checkpoint: File | null): Promise<Report> {
  return verifyBundleBytes(chunksOf(bundle), {
    ...(trust === null ? {} : { trust: await trust.text() }),
    ...(checkpoint === null ? {} : { seen: [await checkpoint.text()] }),
  })
}

async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const stream: ReadableStream<Uint8Array> = isGzip(head)
    ? file.stream().pipeThrough(new DecompressionStream('gzip'))
    : file.stream()
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

function isGzip(head: Uint8Array): boolean {
  return GZIP.every((byte, i) => head[i] === byte)
}

function answer(words: string, status: Report['status'] | 'none', report: string): void {
  verdict.textContent = words
  verdict.dataset.status = status
  output.textContent = report
}

function failed(error: unknown): void {
  answer('The verifier itself failed; this says nothing about the bundle.', 'unusable', String(error))
}
