// The instrumented libraries, at the versions of their own lock file, fetched by npm on first use into the git-ignored cache.
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const HERE = 'test/e2e/libraries'
const CACHE = resolve('.cache/libraries')
const PROGRAMS = ['vercel-ai.mjs', 'langchain.mjs']
/** Milliseconds. About 150 MB unpacked. */
const INSTALL_MS = 240_000

/** Folder with the libraries and the programs that use them. Throws when they are not there and can't be fetched. */
export async function liveLibraries(): Promise<string> {
  const lock = readFileSync(`${HERE}/package-lock.json`, 'utf8')
  const folder = `${CACHE}/${hash('sha256', lock, 'hex').slice(0, 12)}`
  if (!existsSync(`${folder}/node_modules`)) await install(folder)
  // The programs are this checkout's, whichever filled the cache.
  for (const name of PROGRAMS) copyFileSync(`${HERE}/${name}`, `${folder}/${name}`)
  return folder
}

async function install(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const fresh = mkdtempSync(`${CACHE}/.fresh-`)
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(`${HERE}/${name}`, `${fresh}/${name}`)
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
      `These tests run real instrumented libraries, which npm could not fetch into ${folder}. ` +
        `They need the npm registry once; they are not skipped without it.\n${why}`,
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
