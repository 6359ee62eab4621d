// Stops the collector and waits until it is gone.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HomePaths } from '../../conventions/home.ts'
import { isRunning, lockHolder } from '../lock.ts'
import { askOk, NotRunning, statusOf } from './admin-client.ts'
import { CliError } from './exit.ts'

/** Milliseconds between looks whether it is gone. */
const POLL_MS = 25
/** Milliseconds for a process to end after its work has. */
const END_MS = 5_000
/** Milliseconds for it to finish: it sends what is left and closes the index. */
const GONE_MS = 30_000

/** Process id of the collector that was stopped; null when none ran. Throws CliError when one does not go. */
export async function stopCollector(home: HomePaths): Promise<number | null> {
  const deadline = Date.now() + GONE_MS
  let stopped: number | null = null
  let asked: number | undefined
  for (;;) {
    const status = await statusOf(home)
    if (status !== null && status.pid !== asked) {
      asked = status.pid
      await askToStop(home)
    }
    // One that is starting has the lock, too.
    const holder = lockHolder(home.lock)
    if (holder === null && status === null) return stopped === null ? null : gone(stopped)
    stopped = holder ?? stopped
    if (Date.now() > deadline) throw new CliError(stuck(home, stopped))
    await sleep(POLL_MS)
  }
}

/** A process that has given its lock back has nothing more to do, and takes a moment to end. */
async function gone(pid: number): Promise<number> {
  for (let waited = 0; isRunning(pid) && waited < END_MS; waited += POLL_MS) await sleep(POLL_MS)
  return pid
}

async function askToStop(home: HomePaths): Promise<void> {
  try {
    await askOk(home, 'POST', '/stop')
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error
  }
}

function stuck(home: HomePaths, pid: number | null): string {
  return `the collector${pid === null ? '' : ` (process ${pid})`} has not stopped within ${GONE_MS / 1000} s; see ${home.startLog}`
}
