#!/usr/bin/env node
// The `spanseal` command. A hook that found no collector starts one with a fixed line and waits for it: for that, one file is loaded
// that holds what starts a collector, and nothing else.

const [flag, root, ...words] = process.argv.slice(2)
if (flag === '--home' && root?.startsWith('/') && words.join(' ') === 'up --from-hook') {
  // No import here, not of Node's own either: it would be a file more to load.
  process.getBuiltinModule('node:module').createRequire(import.meta.url)('./up.cjs')
} else {
  const { runCommandLine } = await import('./command-line.ts')
  await runCommandLine()
}
