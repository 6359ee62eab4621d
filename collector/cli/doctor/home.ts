// The doctor looks at the home: whose it is, who else can look inside, and whether there is room.
import { lstatSync, readdirSync, statfsSync } from 'node:fs'
import type { HomePaths } from '../../../conventions/home.ts'
import { shellQuote } from '../../../hooks/sh/quote.ts'
import { messageOf } from '../exit.ts'
import { trustLines } from '../trust-lines.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Bytes of free disk: below the first it may end within a day of work, below the second within minutes. */
const LOW_DISK_BYTES = 1024 ** 3
const FULL_DISK_BYTES = 64 * 1024 ** 2

/** Permission bits of group and others: none of them may be set. */
const FOREIGN_BITS = 0o077

/** Home, keys, log and disk. Only the first when there is no home. */
export function checkHome(home: HomePaths): Check[] {
  const folder = checkFolder(home)
  if (folder.status === 'fail') return [folder]
  return [folder, checkKeys(home), checkLog(home), checkDisk(home)]
}

function checkFolder({ root }: HomePaths): Check {
  const id = 'home.folder'
  const stat = lstatSync(root, { throwIfNoEntry: false })
  if (stat === undefined) return fail(id, `${root} does not exist`, 'spanseal init')
  if (!stat.isDirectory())
    return fail(id, `${root} is not a folder of its own (a link or a file)`, `move it away, then: spanseal init`)
  if (!isOurs(stat.uid))
    return fail(id, `${root} belongs to another user (${stat.uid})`, 'use a home of your own: --home FOLDER')
  if ((stat.mode & FOREIGN_BITS) !== 0) {
    return fail(id, `others can look into ${root} (mode ${octal(stat.mode)})`, `chmod 700 ${shellQuote(root)}`)
  }
  return ok(id, `${root}, mode ${octal(stat.mode)}`)
}

function checkKeys({ keys }: HomePaths): Check {
  const id = 'home.keys'
  try {
    const loose = readdirSync(keys).filter((name) => {
      const stat = lstatSync(`${keys}/${name}`)
      return !stat.isFile() || !isOurs(stat.uid) || (stat.mode & FOREIGN_BITS) !== 0
    })
    if (loose.length === 0) return ok(id, 'only their owner can read the keys')
    return fail(
      id,
      `others may reach ${loose.join(', ')} in ${keys}`,
      `chmod 600 ${shellQuote(keys)}/*; if others had them, begin a new home`,
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return warn(id, 'there are no keys yet', 'spanseal up')
    return fail(id, `the keys can't be looked at: ${messageOf(error)}`, `chmod 700 ${shellQuote(keys)}`)
  }
}

function checkLog(home: HomePaths): Check {
  try {
    trustLines(home, new Date())
    return ok('log.readable', `the log in ${home.log} can be read`)
  } catch (error) {
    return fail('log.readable', messageOf(error), 'spanseal verify')
  }
}

function checkDisk({ root }: HomePaths): Check {
  const id = 'disk.space'
  const { bavail, bsize } = statfsSync(root)
  const free = bavail * bsize
  const detail = `${Math.floor(free / 1024 ** 2)} MiB free`
  if (free < FULL_DISK_BYTES)
    return fail(id, detail, 'make room: without it nothing can be recorded, so nothing may run')
  if (free < LOW_DISK_BYTES) return warn(id, detail, 'make room before it runs out')
  return ok(id, detail)
}

function isOurs(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8)
}
