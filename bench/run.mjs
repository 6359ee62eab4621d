// `npm run bench [suite...] [--quick | --full] [--out FILE]`: bundles the suites of this folder and runs them on the built files.
import { rmSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
// One folder a run: two runs at once must not overwrite each other. Inside the project, so that packages are found.
const outdir = `${root}.cache/bench-${process.pid}`
process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

await build({
  absWorkingDir: root,
  entryPoints: [
    { in: 'bench/main.ts', out: 'main' },
    { in: 'bench/child/send-spans.ts', out: 'send-spans' },
    { in: 'bench/child/decode-only.ts', out: 'decode-only' },
    { in: 'bench/child/sink.ts', out: 'sink' },
    { in: 'bench/child/steps.ts', out: 'steps' },
    { in: 'bench/child/forward.ts', out: 'forward' },
  ],
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // A suite that can't be loaded must not take the others with it.
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  logLevel: 'warning',
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  // undici is CommonJS: in a piece of its own its names would be lost.
  external: ['@duckdb/node-api', 'undici'],
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
})
const { main } = await import(pathToFileURL(`${outdir}/main.mjs`).href)
process.exitCode = await main(process.argv.slice(2), { root, children: outdir })
