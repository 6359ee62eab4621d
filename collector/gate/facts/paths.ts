// Paths: written text to an absolute normal path, the zone it lies in, what it covers, and where symbolic links lead.
import type { Covers, Zone } from '../call.ts'
import { UNKNOWN } from '../call.ts'
import { comparable, pathsMeet, segments } from '../glob.ts'

/** What a path is seen from. `cwd` is null once it is only known at run time. */
export interface Places {
  home: string
  project: string
  cwd: string | null
  oldCwd: string | null
  realpath?: ((path: string) => string | null) | undefined
  /** Links made earlier on the same line: link path to target path. */
  links: ReadonlyMap<string, string>
}

export interface Place {
  path: string
  zone: Zone
  covers?: Covers
}

const TEMP = [
  '/tmp',
  '/var/tmp',
  '/private/tmp',
  '/private/var/tmp',
  '/var/folders',
  '/private/var/folders',
  '/dev/shm',
]

/** Folders whose loss is the loss of the machine. */
const SYSTEM = [
  ...'/bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /mnt /media'.split(
    ' ',
  ),
  ...'/usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/lib /var/log'.split(' '),
  ...'/Applications /Library /System /Users /Volumes /private /private/etc /private/var'.split(' '),
  ...'/c: /c:/windows /c:/users'.split(' '),
].map(comparable)

/** A path nobody can know before the call runs; what is known of its end stays, for rules that look for a name anywhere. */
function unknownPlace(text: string): Place {
  const end: string[] = []
  for (const part of segments(text)) {
    if (part === '..') end.pop()
    else if (part !== '.') end.push(part)
  }
  return { path: `/${[UNKNOWN, ...end].join('/')}`, zone: 'unknown' }
}

/** Not files: writing or reading them touches nothing. */
export function isSink(path: string): boolean {
  return (
    path.startsWith('/dev/') &&
    /^\/dev\/(null|zero|full|stdin|stdout|stderr|tty|random|urandom|fd\/\d+|pts\/\d+)$/.test(path)
  )
}

/** The places a written path may mean: as written, and where links lead when that is elsewhere. */
export function placesOf(text: string, from: Places): Place[] {
  const path = absolute(text, from)
  if (path === null) return [unknownPlace(text)]
  const place = placeOf(path, from)
  const real = followLinks(path, from)
  return real === null || real === path ? [place] : [place, placeOf(real, from)]
}

/** Absolute normal path of written text, or null when that depends on the run. */
export function absolute(text: string, from: Places): string | null {
  if (text === '' || text.startsWith(UNKNOWN)) return null
  let path = text.startsWith('file://') ? decode(text.slice('file://'.length).replace(/^localhost/, '')) : text
  if (/^[A-Za-z]:[\\/]/.test(path)) path = `/${path.replaceAll('\\', '/')}`
  if (path.startsWith('~')) path = expandTilde(path, from)
  if (!path.startsWith('/')) {
    if (from.cwd === null) return null
    path = `${from.cwd}/${path}`
  }
  return normal(path, from)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function expandTilde(path: string, from: Places): string {
  const slash = path.indexOf('/')
  const user = slash < 0 ? path.slice(1) : path.slice(1, slash)
  const rest = slash < 0 ? '' : path.slice(slash)
  if (user === '' || user === from.home.slice(from.home.lastIndexOf('/') + 1)) return from.home + rest
  if (user === '+') return `${from.cwd ?? UNKNOWN}${rest}`
  if (user === '-') return `${from.oldCwd ?? UNKNOWN}${rest}`
  return user === 'root' ? `/root${rest}` : `${from.home.slice(0, from.home.lastIndexOf('/'))}/${user}${rest}`
}

function normal(path: string, from: Places): string | null {
  let out: string[] = []
  for (const part of segments(path)) {
    if (part === '.') continue
    if (part === '..') {
      if (out.at(-1)?.includes(UNKNOWN)) return null
      out.pop()
      continue
    }
    out.push(part)
    const last = out[2]
    if (out.length === 3 && out[0] === 'proc' && (last === 'cwd' || last === 'root')) {
      if (last === 'cwd' && from.cwd === null) return null
      out = last === 'cwd' ? segments(from.cwd ?? '') : []
    }
  }
  return `/${out.join('/')}`
}

function within(path: string, folder: string): boolean {
  return folder !== '' && (path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`))
}

function placeOf(path: string, from: Places): Place {
  const parts = segments(path)
  const unknown = parts.findIndex((part) => part.includes(UNKNOWN))
  const known = unknown < 0 ? parts : parts.slice(0, unknown)
  const top = trimWild(known)
  const covers = coversOf(top, from)
  // Below a folder that covers a lot, an unknown name may be anything in it.
  if (unknown >= 0 && covers !== undefined)
    return { path, zone: 'unknown', ...(unknown === parts.length - 1 ? { covers } : {}) }
  const zone = zoneOf(unknown < 0 ? path : `/${known.join('/')}`, from)
  return covers === undefined || unknown >= 0 ? { path, zone } : { path, zone, covers }
}

function trimWild(parts: readonly string[]): string[] {
  let end = parts.length
  while (end > 0 && /^[*?.]+$|^\[[^\]]*\]\*?$/.test(parts[end - 1] ?? '')) end--
  return parts.slice(0, end)
}

function coversOf(top: readonly string[], from: Places): Covers | undefined {
  const path = `/${top.join('/')}`
  const parts = comparable(path)
  if (top.length === 0) return 'system'
  if (SYSTEM.some((folder) => folder.length === parts.length && pathsMeet(parts, folder))) return 'system'
  if (from.home !== path && within(from.home, path)) return 'system'
  if (pathsMeet(parts, comparable(from.home))) return 'home'
  return pathsMeet(parts, comparable(from.project)) || within(from.project, path) ? 'project' : undefined
}

function zoneOf(path: string, from: Places): Zone {
  const real = from.realpath?.(from.project)
  // A "project" that holds the whole machine protects nothing: then only the other zones count.
  const narrow = from.project !== '/' && (from.project === from.home || !within(from.home, from.project))
  if (narrow && within(path, from.project)) return 'project'
  if (narrow && typeof real === 'string' && real !== '/' && within(path, real)) return 'project'
  if (TEMP.some((folder) => within(path, folder))) return 'temp'
  return within(path, from.home) ? 'home' : 'outside'
}

/** Path with the links of this line and of the file system followed; null when it holds wildcards or nothing is there. */
function followLinks(path: string, from: Places): string | null {
  for (const [link, target] of from.links) {
    if (within(path, link)) return target + path.slice(link.length)
  }
  const { realpath } = from
  if (realpath === undefined || path.includes(UNKNOWN)) return null
  const parts = segments(path)
  for (let end = parts.length; end > 0; end--) {
    const head = `/${parts.slice(0, end).join('/')}`
    if (/[*?[]/.test(head)) continue
    const real = realpath(head)
    if (real !== null) return [real === '/' ? '' : real, ...parts.slice(end)].join('/') || '/'
  }
  return null
}
