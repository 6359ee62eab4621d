// The index for a command when no collector runs. A bundle of its own (index-direct.mjs): DuckDB is only loaded where it is needed.
import type { HomePaths } from '../../conventions/home.ts'
import { importReaderOf } from '../import-reader.ts'
import { type IndexDatabase, openIndexDirect } from '../store/index/database.ts'

/** Opens the home's index and reads the log to its end. Rejects when another process has it or the log can't be read. */
export function openDirect(home: HomePaths): Promise<IndexDatabase> {
  return openIndexDirect({
    path: home.index,
    logDir: home.log,
    vaultDir: home.vault,
    readImport: importReaderOf(home.root),
  })
}
