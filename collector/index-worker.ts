// Entry of the index worker thread: DuckDB runs here, away from the thread that answers the gate.
import { parentPort, workerData } from 'node:worker_threads'
import { readImport } from './receive/otlp/import.ts'
import type { WorkerSettings } from './store/index/messages.ts'
import { IndexServer } from './store/index/server.ts'

if (parentPort === null) throw new Error('the index worker runs as a worker thread only')
new IndexServer(parentPort, { ...(workerData as WorkerSettings), readImport })
