// Opens a home's log for writing: keys, recovery, live state, writer, checkpoints. The one place where store, sign and record meet.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync } from 'node:fs'
import { toBase64 } from '../conventions/bytes.ts'
import { readConstraints } from '../conventions/constraint.ts'
import { TIERS } from '../conventions/decision.ts'
import type { VaultEntry } from '../conventions/frame.ts'
import type { HomePaths } from '../conventions/home.ts'
import type { LogEntry, Position } from '../conventions/log.ts'
import type { AnyRecord, Written } from '../conventions/record.ts'
import { TILE_WIDTH } from '../conventions/tiles.ts'
import { Checkpoints } from './checkpoints.ts'
import { KeyRotation } from './key-rotation.ts'
import type { Context } from './record/context.ts'
import { Ids } from './record/ids.ts'
import { State } from './record/state.ts'
import { signCheckpoint, verifierKey } from './sign/checkpoint.ts'
import { type Keys, openKeys, openRecordKey, type RecordKey } from './sign/keys.ts'
import { commit, commitment } from './sign/signer.ts'
import { leafHash, Tree } from './sign/tree.ts'
import { CheckpointFile } from './store/checkpoint-file.ts'
import { writeNewFile } from './store/files.ts'
import { LogReader } from './store/log-files.ts'
import { RecoveryError, recover } from './store/recover.ts'
import { SegmentWriter } from './store/segment-writer.ts'
import { listSegments } from './store/segments.ts'
import { Tiles } from './store/tiles.ts'
import { Writer } from './store/writer.ts'

/** Checkpoint origins and key names begin with this; the log id follows. */
const ORIGIN_PREFIX = 'spanseal.log/'

/** Records that are worth a checkpoint at once. */
const CHECKPOINTED: ReadonlySet<AnyRecord['type']> = new Set(['log.opened', 'run.closed'])

export interface OpenLog {
  logId: string
  genesis: string
  logKey: string
  state: State
  writer: Writer
  context: Context
  reader: LogReader
  checkpoints: Checkpoints
  rotation: KeyRotation
  /** Bytes that were cut behind the last whole record when the log was opened. */
  cut: number
  /** Where the next record goes; all before it is durable. */
  durableEnd(): Position
  /** Content goes to a new vault segment from here on; resolves to the number of the first one that may still be written to. */
  sealVault(): Promise<number>
  close(): Promise<void>
}

export interface OpenLogOptions {
  home: HomePaths
  /** Milliseconds since 1970. */
  now: () => number
  /** Sees every record, with the live state it led to: at the start those of the log, then each new one. */
  onRecord?: (record: AnyRecord, state: State) => void
  /** Milliseconds that a group of records, or of content, took to get to the disk. */
  onSync?: (file: 'log' | 'vault', ms: number) => void
  /** Sees the durable end after each sync. */
  onDurable: () => void
  /** Something beside the log could not be written; it is tried again. */
  onFault: (error: unknown) => void
}

/** Throws KeyError, RecoveryError or a system error; each message says what to do. */
export function openLog({ home, now, onRecord, onSync, onDurable, onFault }: OpenLogOptions): OpenLog {
  openHome(home)
  const isNew = listSegments(home.log).length === 0
  const keys = openKeys(home, isNew, writeNewFile)
  const state = new State(new Ids(keys.idSecret))
  const tree = new Tree()
  const tiles = new Tiles(home.log)
  const fillTiles = () => {
    try {
      tiles.fill(tree.size)
    } catch (error) {
      onFault(error)
    }
  }
  let first: LogEntry | undefined
  let last: LogEntry | undefined
  // The reader has hashed the bytes already.
  const takeIn = (entry: LogEntry) => {
    const leaf = Buffer.from(entry.leaf, 'base64')
    tree.append(leaf)
    tiles.add(entry.bytes, leaf)
    if (tree.size % TILE_WIDTH === 0) fillTiles()
  }
  const onEntry = (entry: LogEntry, contents: VaultEntry[]) => {
    if (last !== undefined) takeIn(last)
    first ??= entry
    last = entry
    const kept = contents.filter(({ head }) => head.erased === undefined)
    const salts = new Map(kept.map(({ head }) => [head.name, Buffer.from(head.salt, 'hex')]))
    const text = (name: string) => {
      const found = kept.find(({ head }) => head.name === name)
      return found === undefined ? undefined : Buffer.from(found.content).toString('utf8')
    }
    state.apply({ ...entry, salts }, { project: text('cwd'), constraints: readConstraints(text('constraints') ?? '') })
    onRecord?.(entry.record, state)
  }
  const recovered = recover(home, onEntry, () => {
    if (last === undefined) return
    refuseOtherHistory(last, tree)
    takeIn(last)
  })
  const recoveredHead = { size: tree.size, root: tree.root() }
  const logId = first?.record.log.id ?? randomBytes(16).toString('hex')
  const origin = `${ORIGIN_PREFIX}${logId}`
  const log = new SegmentWriter(home.log, recovered.logEnd, true, (ms) => onSync?.('log', ms))
  const vault = new SegmentWriter(home.vault, recovered.vaultEnd, false, (ms) => onSync?.('vault', ms))
  const file = new CheckpointFile(home)
  const checkpoints = new Checkpoints({
    sign: (size, root) => signCheckpoint(origin, size, root, keys.log, keys.logPublic),
    file,
    newest: file.newest(),
    publish: (size) => tiles.publish(size),
    onFault,
  })
  const recordKey = openRecordKey(home, state.keys.at(-1)?.kid)
  const rotation = new KeyRotation({ home, key: recordKey, state, writer: () => writer, onFault })
  let checkpointDue = false
  let durableEnd = recovered.logEnd
  const writer = new Writer({
    logId,
    log,
    vault,
    signing: {
      signer: () => rotation.signer,
      leaf: leafHash,
      commit,
    },
    head: tree,
    now,
    lastTime: state.lastTime,
    runHead: (run) => state.runHead(run),
    onRecord: (written) => {
      tiles.add(written.bytes, Buffer.from(written.leaf, 'base64'))
      if (CHECKPOINTED.has(written.record.type)) checkpointDue = true
      state.apply(written)
      onRecord?.(written.record, state)
    },
    onDurable: (end, head) => {
      durableEnd = end
      checkpoints.onDurable(head, checkpointDue)
      checkpointDue = false
      onDurable()
    },
  })
  const genesis = first?.leaf ?? openRecord(writer, keys, recordKey, origin).leaf
  rotation.finish()
  // A log whose first checkpoint was lost with the power gets one now.
  checkpoints.onDurable(recoveredHead, checkpoints.newest === undefined)
  return {
    logId,
    genesis,
    logKey: verifierKey(origin, keys.logPublic),
    state,
    writer,
    context: { append: (draft) => writer.append(draft), state, ids: new Ids(keys.idSecret), commitment },
    reader: new LogReader(home.log, () => durableEnd),
    checkpoints,
    rotation,
    cut: recovered.cut,
    durableEnd: () => durableEnd,
    sealVault: () => vault.seal(),
    close: async () => {
      await writer.durable()
      checkpoints.stop()
      await log.close()
      await vault.close()
    },
  }
}

/**
 * The newest record signed the root over all before it: were any of them another, that root would be, too. So one look is enough;
 * a root for each record would take most of a start.
 */
function refuseOtherHistory({ record }: LogEntry, before: Tree): void {
  if (record.log.root === toBase64(before.root())) return
  throw new RecoveryError(`record ${record.log.seq} does not follow from the records before it. Run: spanseal verify`)
}

/** Record 0: what the log is and who signs it. Its leaf is what a verifier pins. */
function openRecord(writer: Writer, keys: Keys, recordKey: RecordKey, origin: string): Written {
  return writer.append({
    type: 'log.opened',
    source: { kind: 'collector' },
    body: {
      format: 1,
      origin,
      log_key: verifierKey(origin, keys.logPublic),
      keys: [{ kid: recordKey.kid, spki: toBase64(recordKey.spki), tiers: [...TIERS] }],
    },
  })
}

/** The home must be a real folder that only its owner can enter: keys and content lie in it. */
function openHome(home: HomePaths): void {
  if (!existsSync(home.root)) {
    mkdirSync(home.root, { recursive: true, mode: 0o700 })
    chmodSync(home.root, 0o700)
  }
  const stat = lstatSync(home.root)
  if (stat.isSymbolicLink() || !stat.isDirectory())
    throw new RecoveryError(`${home.root} is not a folder of its own (a link or a file). Move it away.`)
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid)
    throw new RecoveryError(`${home.root} belongs to user ${stat.uid}, not to ${uid} who runs the collector.`)
  if ((stat.mode & 0o077) !== 0) {
    throw new RecoveryError(
      `${home.root} has mode ${(stat.mode & 0o777).toString(8)}, so others could look inside. Run: chmod 700 '${home.root}'`,
    )
  }
}
