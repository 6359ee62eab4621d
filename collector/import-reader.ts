// How the index reads what others sent: judged by the home's policy, and with the records of configured peers kept. Both as the home's
// files are at this call; after a reload it is asked for again.
import { homePaths } from '../conventions/home.ts'
import { readConfig } from './config.ts'
import { judgeOf } from './judge.ts'
import { type Peers, peersOf, verifiedRecord } from './peers.ts'
import { readImport } from './receive/otlp/import.ts'
import type { ImportReader } from './store/index/import-row.ts'

/** Reads the home's policy and configuration. Where one can't be used, nothing is judged, or no peer is known. */
export function importReaderOf(root: string): ImportReader {
  const judge = judgeOf(root)
  const peers = peersIn(root)
  // Without peers nothing is looked for: there may be millions of items.
  const lookers = { judge, ...(peers.size > 0 && { foreign: (read: ReadAttribute) => verifiedRecord(peers, read) }) }
  return (body, encoding, signal, logId) => readImport(body, encoding, signal, logId, lookers)
}

type ReadAttribute = (key: string) => unknown

function peersIn(root: string): Peers {
  const read = readConfig(homePaths(root).config)
  return read.ok ? peersOf(read.config.peers) : new Map()
}
