// Wires the watcher to a home: which agents' sessions to watch, what the log knows of them, where reports go.
import { homedir } from 'node:os'
import type { HomePaths } from '../conventions/home.ts'
import { adapters } from '../hooks/index.ts'
import { readInstalls } from '../hooks/install.ts'
import type { OpenLog } from './open-log.ts'
import type { Pipeline } from './pipeline.ts'
import { watchedSession } from './record/ungated.ts'
import { type Watched, Watcher } from './watch/watcher.ts'

export interface WatchOptions {
  home: HomePaths
  /** The user's home folder, where it is not that of the process. */
  userHome?: string | undefined
  opened: Pick<OpenLog, 'context'>
  pipeline: Pick<Pipeline, 'ungated'>
  /** Milliseconds since 1970. */
  now: () => number
  /** Milliseconds that only ever grow. */
  clock?: () => number
}

/** A watcher, not started yet. It watches only the agents whose hooks are installed: of the others no hook is expected to speak. */
export function openWatcher({ home, userHome = homedir(), opened, pipeline, now, clock }: WatchOptions): Watcher {
  return new Watcher({
    watched: () => watchedIn(home, userHome),
    session: (agent, session) => watchedSession(opened.context, agent, session),
    report: (calls) => pipeline.ungated(calls),
    now,
    ...(clock === undefined ? {} : { clock }),
  })
}

/** Throws when installs.json can't be read; the watcher counts that, and watches on as before. */
function watchedIn(home: HomePaths, userHome: string): Watched[] {
  return readInstalls(home.root).flatMap(({ agent, file }) => {
    const adapter = adapters.get(agent)
    return adapter === undefined ? [] : [{ adapter, folder: adapter.sessionFolder(file, userHome) }]
  })
}
