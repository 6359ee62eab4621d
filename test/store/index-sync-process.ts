// Run as a process of its own and killed at any moment: syncs the index of the log it is given, again and again from where it is.
import { openIndexDirect } from '../../collector/store/index/database.ts'

const [path = '', logDir = '', vaultDir = ''] = process.argv.slice(2)
const index = await openIndexDirect({ path, logDir, vaultDir })
process.stdout.write(`${index.reached.records} ${index.rebuilt ?? 'kept'}\n`)
if (process.argv[5] === 'stay') setInterval(() => undefined, 1000)
else await index.close()
