// Copies hook and collector into <home>/bin/<version>, with absolute paths written into them, so that a cleaned npx cache, another
// Node version or a removed checkout breaks nothing.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { homePaths } from '../conventions/home.ts'
import { syncPath } from './settings/file.ts'
import { shellQuote } from './sh/quote.ts'
import { type HookSettings, renderShHook } from './sh/render.ts'

/** Bundles that are copied as they are. */
const BUNDLES = [
  'spanseal.mjs',
  'collector.cjs',
  'collector-code.cjs',
  'up.cjs',
  'forward-worker.mjs',
  'index-worker.mjs',
  'otlp-worker.mjs',
  'pass-worker.mjs',
  'index-direct.mjs',
  'hook.cjs',
] as const
/** Pieces of spanseal.mjs, which names them. */
const PIECE = /^spanseal-\w+\.mjs$/

/** The one package that can't be bundled; what it needs comes with it. */
const RUNTIME_PACKAGE = '@duckdb/node-api'

/** Where a curl of the system lies. PATH is not asked: a project can put anything there. */
const CURLS = [
  '/usr/bin/curl',
  '/bin/curl',
  '/usr/local/bin/curl',
  '/opt/homebrew/bin/curl',
  '/run/current-system/sw/bin/curl',
]

/** Milliseconds. `curl --version` does nothing but load its libraries. */
const PROBE_MS = 5_000

export interface StageOptions extends Omit<HookSettings, 'cli' | 'runtime'> {
  version: string
  /** Folder of the bundles and of the hook template. */
  sourceDir: string
  /** The Node binary to record; links are resolved. Default: the one that runs now. */
  runtime?: string
  /** curl to use; null for the Node hook. Default: the first usable one of the system. */
  curl?: string | null
}

export interface Staged {
  dir: string
  cli: string
  runtime: string
  kind: 'sh' | 'node'
  /** Command line of the hook, without agent and event. */
  command: string
}

/**
 * Stages one version. A version that is there already is brought up to date file by file, each in one step, so that a hook that runs
 * meanwhile finds either the old or the new file. Throws with the missing file's name, or what the file system throws.
 */
export function stageBin(options: StageOptions): Staged {
  const { home, version, sourceDir } = options
  const dir = `${homePaths(home).bin}/${version}`
  const runtime = realpathSync(options.runtime ?? process.execPath)
  const cli = `${dir}/spanseal.mjs`
  const curl = options.curl === undefined ? findCurl() : options.curl
  const settings: HookSettings = {
    home,
    userHome: options.userHome,
    hookSocket: options.hookSocket,
    runtime,
    cli,
    mode: options.mode,
    failMode: options.failMode,
    ...(options.deadlines === undefined ? {} : { deadlines: options.deadlines }),
  }
  const exists = existsSync(dir)
  const target = exists ? dir : `${homePaths(home).bin}/.${version}-${randomBytes(6).toString('hex')}`
  mkdirSync(target, { recursive: true, mode: 0o700 })
  try {
    // Before the file that needs them; those of another build stay for whoever runs it just now.
    for (const name of readdirSync(sourceDir).filter((file) => PIECE.test(file)))
      put(target, name, readSource(sourceDir, name), 0o600)
    for (const name of BUNDLES) put(target, name, readSource(sourceDir, name), name === 'spanseal.mjs' ? 0o700 : 0o600)
    put(target, 'hook.json', `${JSON.stringify(settings, null, 2)}\n`, 0o600)
    if (curl !== null) {
      const template = readSource(sourceDir, 'hook.sh').toString('utf8')
      put(target, 'hook.sh', renderShHook(template, { ...settings, curl }), 0o700)
    }
    stagePackages(target, sourceDir)
    syncPath(target)
    if (!exists) renameSync(target, dir)
    syncPath(dirname(dir))
  } catch (error) {
    if (!exists) rmSync(target, { recursive: true, force: true })
    throw error
  }
  const kind = curl === null ? 'node' : 'sh'
  return { dir, cli, runtime, kind, command: hookCommand(dir, runtime, kind) }
}

/** Command line of a staged hook, without agent and event. */
export function hookCommand(dir: string, runtime: string, kind: Staged['kind']): string {
  if (kind === 'sh') return shellQuote(`${dir}/hook.sh`)
  // Node reads NODE_OPTIONS before anything of ours runs.
  return `/usr/bin/env -i ${shellQuote(runtime)} ${shellQuote(`${dir}/hook.cjs`)}`
}

/** The system's first curl that can speak over a Unix socket, or null. */
export function findCurl(candidates: readonly string[] = CURLS): string | null {
  return candidates.find((path) => existsSync(path) && speaksUnixSockets(path)) ?? null
}

function speaksUnixSockets(curl: string): boolean {
  try {
    const version = execFileSync(curl, ['-q', '--version'], {
      encoding: 'utf8',
      env: {},
      timeout: PROBE_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /^Features:.*\bUnixSockets\b/m.test(version)
  } catch {
    // Not runnable is as good as absent.
    return false
  }
}

function readSource(sourceDir: string, name: string): Buffer {
  const path = join(sourceDir, name)
  if (!existsSync(path)) throw new Error(`${path} is missing; build the package first`)
  return readFileSync(path)
}

function put(dir: string, name: string, content: string | Uint8Array, mode: number): void {
  const temporary = join(dir, `.${name}-${randomBytes(6).toString('hex')}`)
  writeFileSync(temporary, content, { mode, flag: 'wx', flush: true })
  renameSync(temporary, join(dir, name))
}

/** Copies the packages that are needed at run time, unless the same version of one is there. */
function stagePackages(target: string, sourceDir: string): void {
  for (const [name, source] of packageTree(RUNTIME_PACKAGE, realpathSync(sourceDir))) {
    const to = join(target, 'node_modules', name)
    if (existsSync(to) && versionOf(to) === versionOf(source)) continue
    const temporary = `${to}-${randomBytes(6).toString('hex')}`
    copyFolder(source, temporary)
    rmSync(to, { recursive: true, force: true })
    renameSync(temporary, to)
  }
}

/** A package and everything it needs that is installed: name -> folder. Optional packages of other platforms are absent. */
function packageTree(name: string, from: string, found = new Map<string, string>()): Map<string, string> {
  const folder = findPackage(name, from)
  if (folder === undefined) throw new Error(`the package ${name} is not installed where Spanseal runs from (${from})`)
  found.set(name, folder)
  const { dependencies = {}, optionalDependencies = {} } = manifest(folder)
  for (const needed of Object.keys(dependencies)) if (!found.has(needed)) packageTree(needed, folder, found)
  for (const optional of Object.keys(optionalDependencies)) {
    if (!found.has(optional) && findPackage(optional, folder) !== undefined) packageTree(optional, folder, found)
  }
  return found
}

/** Node's own way: node_modules of each folder upwards. */
function findPackage(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
    if (at === dirname(at)) return undefined
  }
}

interface Manifest {
  version?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function versionOf(folder: string): string | undefined {
  return manifest(folder).version
}

/** Files and folders only: a link would point out of the home. Nested node_modules are copied by name, from the top. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of readdirSync(from)) {
    const [source, target] = [join(from, entry), join(to, entry)]
    const stat = lstatSync(source)
    if (stat.isDirectory() && entry !== 'node_modules') copyFolder(source, target)
    else if (stat.isFile()) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE)
      chmodSync(target, 0o600)
      // A later init takes a package of the same version for whole.
      syncPath(target)
    }
  }
  syncPath(to)
}
