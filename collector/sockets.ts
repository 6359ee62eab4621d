// Where a home's sockets are. `init` writes the hook's into the installed hook, long before a collector makes it.
import { type HomePaths, socketPaths } from '../conventions/home.ts'
import { homeMark } from '../hooks/home-mark.ts'

/** Not TMPDIR: the shell of a person, a hook and the collector it starts each have another one. */
const SHARED = '/tmp'

/** Socket paths of a home, and their folder: in the home, or, where that is too long for a socket, in a folder named after it. */
export function homeSockets(home: HomePaths): { hook: string; admin: string; dir: string } {
  return socketPaths(home, `${SHARED}/spanseal-${process.getuid?.() ?? 0}-${homeMark(home.root)}`)
}
