// Bundles what is installed: one file per process, so that a hook or collector starts without a module tree. The command line alone is
// cut into pieces, because each command needs little of it and a hook may wait for one.
// `node collector/build.mjs generate` writes the generated files instead.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname } from 'node:path'
import { build } from 'esbuild'
import { buildPage } from './verify/html/build.mjs'

/** zod's error messages in every language but English: 360 KB that each start would parse, and nothing asks for. */
const noLocales = {
  name: 'no-locales',
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js'",
      resolveDir: dirname(path),
    }))
  },
}

/**
 * Node's own modules where the module that needs them is loaded, not when the file is: a command loads only its own. An `import` in
 * a bundle is done first, whichever command runs, and that of node:http alone takes a third of an empty Node's start.
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^[a-z_]+(:|\/|$)/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    )
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
  define: { SPANSEAL_VERSION: JSON.stringify(version) },
}
const esm = {
  ...common,
  format: 'esm',
  // CommonJS packages inside an ESM bundle still call require.
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  // Native: its .node file can't be bundled.
  external: ['@duckdb/node-api'],
  // Its main file is UMD, whose inner requires can't be followed.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  plugins: [noLocales],
  // Less to read at each start. Names stay, for the stack of an error.
  minifySyntax: true,
  minifyWhitespace: true,
}
/**
 * A script is loaded faster than a module, and what V8 made of one can be kept. It has no import at run time and no import.meta; Node's
 * own modules are loaded where they are needed as it is.
 */
const script = {
  ...esm,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
  define: { ...common.define, 'import.meta.url': '__url' },
}

if (process.argv[2] === 'generate') {
  await build({ ...esm, entryPoints: ['collector/generate-run.ts'], outfile: 'dist/generate.mjs' })
  execFileSync(process.execPath, ['dist/generate.mjs'], { stdio: 'inherit' })
  rmSync('dist/generate.mjs')
} else {
  rmSync('dist', { recursive: true, force: true })
  mkdirSync('dist')
  await buildCollector()
  const entries = {
    'forward-worker': 'collector/forward-worker.ts',
    'index-worker': 'collector/index-worker.ts',
    'otlp-worker': 'collector/otlp-worker.ts',
    'pass-worker': 'collector/pass-worker.ts',
    'index-direct': 'collector/cli/index-direct.ts',
    'verify-index': 'collector/verify/index-file.ts',
  }
  for (const [out, path] of Object.entries(entries)) {
    await build({ ...esm, entryPoints: [path], outfile: `dist/${out}.mjs` })
  }
  await buildCommandLine()
  await buildPage('dist/verify.html', version, [noLocales])
  // A template: `init` fills in the paths of the home.
  if (existsSync('hooks/sh/hook.sh')) copyFileSync('hooks/sh/hook.sh', 'dist/hook.sh')
  if (existsSync('hooks/node/hook.ts')) {
    await build({
      ...common,
      format: 'cjs',
      minify: true,
      entryPoints: ['hooks/node/hook.ts'],
      outfile: 'dist/hook.cjs',
    })
  }
  await buildSdk()
}

/** `spanseal/sdk`: one file for Node alone, and its types. */
async function buildSdk() {
  await build({ ...common, format: 'esm', entryPoints: ['hooks/sdk/index.ts'], outfile: 'dist/sdk.mjs' })
  // Named files take nothing from tsconfig.json; what the types need of it is said here.
  const language = '--ignoreConfig --strict --target es2023 --module nodenext --types node --allowImportingTsExtensions'
  const output = '--declaration --emitDeclarationOnly --rootDir hooks/sdk --outDir dist/sdk'
  const options = `${language} --skipLibCheck ${output}`.split(' ')
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', 'hooks/sdk/index.ts', ...options], {
    stdio: 'inherit',
  })
  // No type of it is in the other's.
  rmSync('dist/sdk/request.d.ts')
}

/**
 * `collector.cjs`, which is started, and `collector-code.cjs`, which it runs: a script, because only of scripts can be kept what V8 made
 * of them.
 */
async function buildCollector() {
  await build({
    ...common,
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    entryPoints: ['collector/start.ts'],
    outfile: 'dist/collector.cjs',
  })
  await build({
    ...script,
    entryPoints: ['collector/main.ts'],
    outfile: 'dist/collector-code.cjs',
  })
  // It is read byte for character; esbuild leaves what stands in a regular expression as it is.
  const code = readFileSync('dist/collector-code.cjs', 'utf8')
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  rmSync('dist/collector-code.cache', { force: true })
  writeFileSync('dist/collector-code.cjs', code.replace(/[^\0-\x7f]/g, escaped))
}

/**
 * `spanseal.mjs` and its pieces, `spanseal-<hash>.mjs`, which lie beside it so that both find the other files, and `up.cjs`, the one
 * command that somebody waits for.
 */
async function buildCommandLine() {
  const { metafile } = await build({
    ...esm,
    plugins: [noLocales, lazyBuiltins],
    entryPoints: { spanseal: 'collector/cli/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'spanseal-[hash]',
    metafile: true,
  })
  chmodSync('dist/spanseal.mjs', 0o755)
  await build({
    ...script,
    entryPoints: ['collector/cli/up-for-hook.ts'],
    outfile: 'dist/up.cjs',
  })
  const made = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
  for (const name of readdirSync('dist'))
    if (/^spanseal-\w+\.mjs$/.test(name) && !made.has(name)) rmSync(`dist/${name}`)
}
