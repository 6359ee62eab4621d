// The index for a command when no collector runs. A bundle of its own (index-direct.mjs): DuckDB is only loaded where it is needed.
import type { HomePaths } from '../../conventions/home.ts'
import { PriceTable } from '../../conventions/prices.ts'
import { readConfig } from '../config.ts'
import { importReaderOf } from '../import-reader.ts'
import { type IndexDatabase, openIndexDirect } from '../store/index/database.ts'

/** Opens the home's index and reads the log to its end. Rejects when another process has it, or the log or the config can't be read. */
export async function openDirect(home: HomePaths): Promise<IndexDatabase> {
  const read = readConfig(home.config)
  if (!read.ok) throw new Error(`${home.config} can't be used, and it may hold prices:\n  ${read.errors.join('\n  ')}`)
  return openIndexDirect({
    path: home.index,
    logDir: home.log,
    vaultDir: home.vault,
    prices: new PriceTable(read.config.prices),
    readImport: importReaderOf(home.root),
  })
}
