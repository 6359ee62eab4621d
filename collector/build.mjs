// Bundles what is installed: one file per process, so that a hook or collector starts without a module tree.
// `node collector/build.mjs generate` writes the generated files instead.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

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
}

if (process.argv[2] === 'generate') {
  await build({ ...esm, entryPoints: ['collector/generate-run.ts'], outfile: 'dist/generate.mjs' })
  execFileSync(process.execPath, ['dist/generate.mjs'], { stdio: 'inherit' })
  rmSync('dist/generate.mjs')
} else {
  mkdirSync('dist', { recursive: true })
  const entries = {
    spanseal: 'collector/cli/main.ts',
    collector: 'collector/main.ts',
    'index-worker': 'collector/index-worker.ts',
    'index-direct': 'collector/cli/index-direct.ts',
  }
  const present = Object.entries(entries).filter(([, path]) => existsSync(path))
  await build({
    ...esm,
    entryPoints: present.map(([out, path]) => ({ in: path, out })),
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
  })
  if (existsSync('dist/spanseal.mjs')) chmodSync('dist/spanseal.mjs', 0o755)
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
}
