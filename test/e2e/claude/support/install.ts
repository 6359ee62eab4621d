// The real Claude Code, one pinned version, fetched by npm on first use into the git-ignored cache.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

export const CLAUDE_VERSION = '2.1.332'

const CACHE = resolve('.cache/agents')
const FOLDER = `${CACHE}/claude-code-${CLAUDE_VERSION}`
/** Milliseconds. About 100 MB come over the network. */
const INSTALL_MS = 240_000

/**
 * Path of the agent's binary. The package only copies it out of the one for the platform, in a script that npm may block, so the
 * platform's package is run directly. Throws when it is not there and can't be fetched: without it nothing here is tested.
 */
export async function claudeBinary(): Promise<string> {
  const name = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`
  const inside = `node_modules/${name}/claude`
  if (existsSync(`${FOLDER}/${inside}`)) return `${FOLDER}/${inside}`
  mkdirSync(CACHE, { recursive: true })
  // Beside its place and moved there when whole: a run that was interrupted, or another at the same time, leaves nothing half.
  const fresh = mkdtempSync(`${CACHE}/.claude-code-`)
  try {
    const wanted = `@anthropic-ai/claude-code@${CLAUDE_VERSION}`
    const flags = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--fetch-retries=1']
    await promisify(execFile)('npm', ['install', '--prefix', fresh, ...flags, wanted], { timeout: INSTALL_MS })
    if (!existsSync(`${fresh}/${inside}`)) throw new Error(`${wanted} came without ${name}`)
    try {
      renameSync(fresh, FOLDER)
    } catch (error) {
      if (!existsSync(`${FOLDER}/${inside}`)) throw error
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `These tests run the real Claude Code ${CLAUDE_VERSION}, which npm could not fetch into ${FOLDER}. ` +
        `They need the npm registry once; they are not skipped without it.\n${why}`,
    )
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return `${FOLDER}/${inside}`
}
