// Bundles an entry as the build does, beside a link to the installed packages, so that a thread or a process of its own can run it.
import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { build } from 'esbuild'

/** Path of the bundled file; the folder is the caller's to remove. */
export async function bundle(entry: string): Promise<{ dir: string; file: string }> {
  const dir = mkdtempSync(`${tmpdir()}/spanseal-bundle-`)
  symlinkSync(`${process.cwd()}/node_modules`, `${dir}/node_modules`)
  const file = `${dir}/entry.mjs`
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: ['@duckdb/node-api'],
    logLevel: 'error',
    banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  })
  return { dir, file }
}
