// Builds the verifier's page: one HTML file that needs nothing else and may load nothing else.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { build } from 'esbuild'

const here = import.meta.dirname
/** Files of the verifier that a browser can't run, and what takes their place. */
const swapped = new Map(['crypto.ts', 'ed25519.ts'].map((name) => [resolve(here, '..', name), resolve(here, name)]))

const swap = {
  name: 'browser-crypto',
  setup(build) {
    build.onResolve({ filter: /\/(?:crypto|ed25519)\.ts$/ }, ({ path, importer }) => {
      const replacement = swapped.get(resolve(dirname(importer), path))
      return replacement === undefined ? undefined : { path: replacement }
    })
  },
}

/** Writes the page to `outfile`. Fails when anything of Node is left in it. */
export async function buildPage(outfile, version, plugins) {
  const { outputFiles } = await build({
    entryPoints: [resolve(here, 'main.ts')],
    bundle: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [...plugins, swap],
  })
  const script = outputFiles[0].text
  const style = readFileSync(resolve(here, 'style.css'), 'utf8')
  const source = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const parts = {
    CSP: policy,
    STYLE: `<style>${style}</style>`,
    VERSION: version,
    SCRIPT: `<script>${script}</script>`,
  }
  const page = readFileSync(resolve(here, 'page.html'), 'utf8')
  writeFileSync(
    outfile,
    page.replace(/<!--([A-Z]+)-->/g, (_, name) => parts[name]),
  )
}
