// `npm run generate`: writes every generated file. Bundled and run by the build script, from the project's root.
import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generate.ts'

for (const [path, text] of generatedFiles()) writeFileSync(path, text)
