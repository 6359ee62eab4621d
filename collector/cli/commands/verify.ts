// `spanseal verify`
import { copyFileSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HomePaths } from '../../../conventions/home.ts'
import { lockHolder } from '../../lock.ts'
import { type Report, renderReport, type VerifyOptions, verifyBundle, verifyHome } from '../../verify/index.ts'
import { ask } from '../admin-client.ts'
import { copiesOf } from '../against.ts'
import { bundleOfRun } from '../bundle-of-run.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_USAGE, messageOf } from '../exit.ts'
import { print, printJson, say } from '../output.ts'
import { readGiven, trustLines } from '../trust-lines.ts'

export async function run(context: Context): Promise<number> {
  const { home, options } = context
  if (flag(options, 'printTrust')) {
    print(trustLines(home, new Date()))
    return 0
  }
  const page = textOption(options, 'html')
  if (page !== undefined) {
    writePage(page)
    return 0
  }
  const report = await verify(context)
  if (report.subject === 'home') await tellCollector(context, report)
  if (flag(options, 'json')) printJson(report)
  else print(renderReport(report))
  return report.exit
}

/** Verifies a DuckDB file by itself. A bundle of its own: DuckDB is only loaded where it is needed. */
async function verifyIndexFile(home: HomePaths, path: string, rules: VerifyOptions): Promise<Report> {
  if (!existsSync(path)) throw new CliError(`there is no file ${path}`, EXIT_USAGE)
  // DuckDB lets one process in: the collector must not find its own file taken.
  if (path === home.index && lockHolder(home.lock) !== null) {
    throw new CliError(`the collector has ${path} open; run: spanseal down, or verify a copy of the file`, EXIT_USAGE)
  }
  const bundle = new URL('./verify-index.mjs', import.meta.url).href
  const { verifyIndex } = (await import(bundle)) as typeof import('../../verify/index-file.ts')
  return verifyIndex({ path, ...rules })
}

/** Writes the page that verifies bundles in a browser. */
function writePage(path: string): void {
  try {
    copyFileSync(new URL('./verify.html', import.meta.url), path)
  } catch (error) {
    throw new CliError(`${path} can't be written: ${messageOf(error)}`)
  }
  say(`${path}: open it in a browser and drop a bundle and a trust file into it. It needs no network and may use none.`)
}

async function verify(context: Context): Promise<Report> {
  const { home, options, args } = context
  const trustFile = textOption(options, 'trust')
  const checkpointFile = textOption(options, 'checkpoint')
  const rules = {
    strict: flag(options, 'strict'),
    ...(trustFile === undefined ? {} : { trust: readGiven('trust', trustFile) }),
    ...(checkpointFile === undefined ? {} : { seen: [readGiven('checkpoint', checkpointFile)] }),
  }
  const { index } = options
  const [bundle] = args
  const run = textOption(options, 'run')
  const against = textOption(options, 'against') !== undefined
  if (against && [bundle, run, index].some((what) => what !== undefined))
    throw new CliError('--against compares all of the home: no bundle, no --run and no --index', EXIT_USAGE)
  if ([bundle, run, index].filter((what) => what !== undefined).length > 1)
    throw new CliError('a bundle, --run or --index, only one of them', EXIT_USAGE)
  if (index !== undefined) return verifyIndexFile(home, typeof index === 'string' ? resolve(index) : home.index, rules)
  if (bundle !== undefined) {
    if (!existsSync(bundle)) throw new CliError(`there is no file ${bundle}`, EXIT_USAGE)
    return verifyBundle({ path: bundle }, rules)
  }
  if (run === undefined) {
    const copies = against ? { copies: await copiesOf(context, 'against') } : {}
    return verifyHome({ root: home.root, ...rules, ...copies })
  }
  const { lines } = await bundleOfRun(context, run)
  return verifyBundle({ text: [...lines].join('') }, rules)
}

/** A running collector shows in its metrics when its home was verified last, and what came of it. */
async function tellCollector({ home }: Context, { time, status, findings }: Report): Promise<void> {
  const whole = status === 'intact' || status === 'self_consistent'
  const said = whole && findings.some(({ severity }) => severity === 'enforcement') ? 'disobeyed' : status
  // Nothing about the verification depends on it: without a collector there is nobody to tell.
  await ask(home, 'POST', '/verified', { time, status: said }).catch(() => {})
}
