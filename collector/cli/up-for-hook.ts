// up.cjs, which spanseal.mjs runs for `--home <absolute folder> up --from-hook`: one script, because somebody waits for it.
import { resolve } from 'node:path'
import { homePaths } from '../../conventions/home.ts'
import { endWith } from './exit.ts'
import { ensureForHook } from './start-collector.ts'

ensureForHook(homePaths(resolve(process.argv[3] ?? ''))).catch(endWith)
