// Reading and replacing somebody else's settings file: never through a symlink, never half, never without a copy of the old one.
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

export type SettingsFile =
  | { ok: true; file: string; bytes: Uint8Array | null; mode: number }
  | { ok: false; file: string; message: string }

/** Permissions of a settings file we create: it may come to hold secrets. */
const NEW_FILE_MODE = 0o600

/** The file's bytes (null: there is none) or why it can't be edited. `folderToo`: its folder must not be a symlink either. */
export function readSettings(file: string, folderToo: boolean): SettingsFile {
  const refuse = (why: string): SettingsFile => ({ ok: false, file, message: `${file} ${why}` })
  try {
    if (folderToo && lstatSync(dirname(file), { throwIfNoEntry: false })?.isSymbolicLink()) {
      return { ok: false, file, message: `${dirname(file)} is a symlink; a project could point it anywhere` }
    }
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return { ok: true, file, bytes: null, mode: NEW_FILE_MODE }
    if (stat.isSymbolicLink()) return refuse('is a symlink; edit the file it points to, or replace it by a plain file')
    if (!stat.isFile()) return refuse('is not a plain file')
    accessSync(file, constants.R_OK | constants.W_OK)
    accessSync(dirname(file), constants.W_OK)
    return { ok: true, file, bytes: readFileSync(file), mode: stat.mode & 0o777 }
  } catch (error) {
    return refuse(`can't be edited: ${messageOf(error)}`)
  }
}

/** Copies the old bytes to a new file beside it and returns its path. Throws what the file system throws. */
export function backUp(file: string, bytes: Uint8Array, mode: number, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const backup = `${file}.spanseal-backup-${time}-${randomBytes(3).toString('hex')}`
  writeFileSync(backup, bytes, { mode, flag: 'wx', flush: true })
  syncPath(dirname(file))
  return backup
}

/** Replaces the file in one step. Throws what the file system throws, and then leaves the old file as it was. */
export function replaceFile(file: string, bytes: Uint8Array, mode: number): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = join(dirname(file), `.${basename(file)}.spanseal-${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(temporary, bytes, { mode, flag: 'wx', flush: true })
    renameSync(temporary, file)
    syncPath(dirname(file))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Makes a file's bytes, or the names in a folder, durable: an agent must not start without hooks after a power cut. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
