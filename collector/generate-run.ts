// `npm run generate`: writes every generated file. Bundled and run by the build script, from the project's root.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generatedFiles } from './generate.ts'

for (const [path, text] of generatedFiles()) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
