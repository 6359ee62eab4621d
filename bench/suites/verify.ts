// What verifying costs, against the least it could: hashing each record once, and checking signatures one after the other.
import { hash, verify } from 'node:crypto'
import { readFrames } from '../../collector/store/segments.ts'
import { ed25519KeyOfSpki } from '../../collector/verify/ed25519.ts'
import { verifyHome } from '../../collector/verify/index.ts'
import { RecordKeys } from '../../collector/verify/keys.ts'
import { Frontier, leafHash } from '../../collector/verify/merkle.ts'
import { bodyOf, readRecord } from '../../collector/verify/read-record.ts'
import { decodeLogPayload, type SignedRecord } from '../../conventions/frame.ts'
import { homePaths } from '../../conventions/home.ts'
import { LOG_START } from '../../conventions/log.ts'
import { preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'
import { fillHome } from '../home.ts'
import type { Bench } from '../main.ts'
import { removeFolder, temporaryFolder } from '../process.ts'
import { median, medianRatio } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rounds: 1, calls: 50 },
  quick: { rounds: 3, calls: 800 },
  normal: { rounds: 7, calls: 2_000 },
  full: { rounds: 15, calls: 50_000 },
} as const

/** Signatures under way at once, as the verifier has them. */
const AT_ONCE = 256
/** Passes over all records in one measurement of hashing, which is short. */
const PASSES = 3

export async function run({ size }: Bench): Promise<Finding[]> {
  const { rounds, calls } = SIZES[size]
  const home = temporaryFolder()
  try {
    await fillHome(home, calls)
    const signed = readFrames(homePaths(home).log, LOG_START, Number.POSITIVE_INFINITY).map(({ payload }) => {
      const record = decodeLogPayload(payload)
      if (record === null) throw new Error('a frame holds no record')
      return record
    })
    return [...hashing(signed, rounds), await signatures(signed, rounds), await whole(home, signed.length, rounds)]
  } finally {
    removeFolder(home)
  }
}

function hashing(signed: SignedRecord[], rounds: number): Finding[] {
  const records = signed.map(({ record }) => record)
  const bound: number[] = []
  const tree: number[] = []
  const roots: number[] = []
  for (let round = -2; round < rounds; round++) {
    const one = {
      bound: cpuOf(() => {
        for (const record of records) hash('sha256', record, 'hex')
      }),
      tree: cpuOf(() => {
        const frontier = new Frontier()
        for (const record of records) frontier.append(leafHash(record))
        frontier.root()
      }),
      roots: cpuOf(() => {
        const frontier = new Frontier()
        for (const record of records) {
          frontier.append(leafHash(record))
          frontier.root()
        }
      }),
    }
    if (round < 0) continue
    bound.push(one.bound)
    tree.push(one.tree)
    roots.push(one.roots)
  }
  const rate = (costs: number[]) => `${Math.round((records.length * PASSES) / median(costs)).toLocaleString('en')}/s`
  const times = `${rounds} x ${(records.length * PASSES).toLocaleString('en')}`
  return [
    {
      id: 'verify.tree',
      value: medianRatio(bound, tree),
      rounds: times,
      shown: `${rate(tree)}; SHA-256 alone ${rate(bound)}`,
    },
    { id: 'verify.roots', value: medianRatio(bound, roots), rounds: times, shown: rate(roots) },
  ]
}

/** Seconds of CPU of `work`, several times over. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  for (let pass = 0; pass < PASSES; pass++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

async function signatures(signed: SignedRecord[], rounds: number): Promise<Finding> {
  const first = readRecord(signed[0]?.record ?? new Uint8Array(0)).envelope
  const opened = first === null ? null : bodyOf(first, 'log.opened')
  const key = ed25519KeyOfSpki(Buffer.from(opened?.keys[0]?.spki ?? '', 'base64'))
  if (key === null) throw new Error('the log declares no key')
  const keys = new RecordKeys(first, [])
  const alone: number[] = []
  const together: number[] = []
  for (let round = 0; round < rounds; round++) {
    let began = performance.now()
    for (const { record, signature } of signed) {
      if (!verify(null, preAuthEncoding(RECORD_TYPE, record), key.object, signature)) throw new Error('a bad signature')
    }
    alone.push(performance.now() - began)
    began = performance.now()
    for (let from = 0; from < signed.length; from += AT_ONCE) {
      const checked = await Promise.all(
        signed
          .slice(from, from + AT_ONCE)
          .map(({ kid, record, signature }) => keys.check(Buffer.from(kid).toString('hex'), record, signature)),
      )
      if (!checked.every(({ ok }) => ok)) throw new Error('a bad signature')
    }
    together.push(performance.now() - began)
  }
  const shown = `${median(together).toFixed(0)} ms; one thread ${median(alone).toFixed(0)} ms`
  return {
    id: 'verify.signatures',
    value: medianRatio(together, alone),
    rounds: `${rounds} x ${signed.length.toLocaleString('en')}`,
    shown,
  }
}

async function whole(root: string, records: number, rounds: number): Promise<Finding> {
  const wall: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    const began = performance.now()
    const report = await verifyHome({ root })
    wall.push((performance.now() - began) / 1000)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1e6)
    if (report.findings.some(({ severity }) => severity === 'broken')) throw new Error('the home does not verify')
  }
  const shown = `${Math.round(records / median(cpu)).toLocaleString('en')} records per CPU-second: records, signatures, chain, tree, decisions, content`
  return {
    id: 'verify.home',
    value: records / median(wall),
    rounds: `${rounds} x ${records.toLocaleString('en')}`,
    shown,
  }
}
