// Run as a process of its own and killed at any moment: indexes the log it is given, from where the index stands.
//   all   everything at once, then ends    stay   the same, then keeps the file open
//   step  record by record, so that a kill falls into or between two transactions
import { IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import { readFrames } from '../../collector/store/segments.ts'

const [path = '', logDir = '', vaultDir = '', how = 'all'] = process.argv.slice(2)
const options = { path, logDir, vaultDir }
if (how === 'step') {
  const index = await IndexDatabase.open(options)
  for (const [i, { next }] of readFrames(logDir, index.reached.position, 1e9).entries()) {
    await index.sync(next)
    if (i === 0) process.stdout.write('started\n')
  }
} else {
  const index = await openIndexDirect(options)
  process.stdout.write('started\n')
  if (how === 'stay') setInterval(() => undefined, 1000)
  else await index.close()
}
