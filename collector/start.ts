// The file a collector is started with: runs collector-code.cjs beside it, with what V8 made of that file at an earlier start. To compile
// a megabyte takes a new process longer than to open a log; Node 20 keeps nothing of it by itself.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { Script } from 'node:vm'

const CODE = `${__dirname}/collector-code.cjs`
/** Lies where the code lies: whoever can write the one can write the other. */
const KEPT = `${__dirname}/collector-code.cache`
/** Bytes of the SHA-256 in front of what is kept. */
const HASH_BYTES = 32
/** Milliseconds until it is kept: by then a start is over, and all that it needed is compiled. */
const KEEP_AFTER_MS = 2_000

const code = readFileSync(CODE)
const known = readKept()
const script = new Script(Module.wrap(code.toString('latin1')), {
  filename: CODE,
  ...(known === undefined ? {} : { cachedData: known }),
})
script.runInThisContext()(module.exports, createRequire(CODE), module, CODE, __dirname)
// V8 takes nothing of another version of itself, or that was made under other flags.
if (known === undefined || script.cachedDataRejected === true) setTimeout(keep, KEEP_AFTER_MS).unref()

/** V8 itself looks only at the length of the code, and dies of a damaged byte: the hash is over the code and all that is kept of it. */
function hashOf(kept: Uint8Array): Buffer {
  return createHash('sha256').update(code).update(kept).digest()
}

function readKept(): Buffer | undefined {
  try {
    const file = readFileSync(KEPT)
    const kept = file.subarray(HASH_BYTES)
    return hashOf(kept).equals(file.subarray(0, HASH_BYTES)) ? kept : undefined
  } catch {
    // Nothing is kept yet, or it is not ours to read: the code is compiled, as it would be anyway.
    return undefined
  }
}

function keep(): void {
  const temporary = `${KEPT}-${randomBytes(6).toString('hex')}`
  try {
    const kept = script.createCachedData()
    writeFileSync(temporary, Buffer.concat([hashOf(kept), kept]), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, KEPT)
  } catch {
    // A folder that is not ours to write, or a full disk: each start compiles the code, and nothing else is different.
    rmSync(temporary, { force: true })
  }
}
