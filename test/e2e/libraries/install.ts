// Packages that tests run and Spanseal does not use, at the versions of their own lock files: fetched by npm on first use into the
// git-ignored cache.
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const CACHE = resolve('.cache/libraries')
/** Milliseconds. The largest are about 150 MB unpacked. */
const INSTALL_MS = 240_000

/**
 * Folder with the packages that `from` locks, and its programs that use them. Throws when they are not there and can't be
 * fetched.
 */
export async function fetched(from: string, programs: string[]): Promise<string> {
  const lock = readFileSync(`${from}/package-lock.json`, 'utf8')
  const folder = `${CACHE}/${hash('sha256', lock, 'hex').slice(0, 12)}`
  if (!existsSync(`${folder}/node_modules`)) await install(from, folder)
  // The programs are this checkout's, whichever filled the cache.
  for (const name of programs) copyFileSync(`${from}/${name}`, `${folder}/${name}`)
  return folder
}

async function install(from: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const fresh = mkdtempSync(`${CACHE}/.fresh-`)
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(`${from}/${name}`, `${fresh}/${name}`)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1']
    await promisify(execFile)('npm', ['ci', '--prefix', fresh, ...flags], { timeout: INSTALL_MS, cwd: fresh })
    try {
      renameSync(fresh, folder)
    } catch (error) {
      if (!existsSync(`${folder}/node_modules`)) throw error
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `These tests run packages of others, which npm could not fetch into ${folder}. ` +
        `They need the npm registry once; they are not skipped without it.\n${why}`,
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
