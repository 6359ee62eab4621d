// Program text handed to an interpreter on the command line: what it could do, told from its names and strings. Not a parser.
import { UNKNOWN } from '../call.ts'
import { holdsSecret } from './secrets.ts'
import type { Shell } from './shell/state.ts'
import { deeper, NOTHING } from './shell/state.ts'

/** Characters. Longer program text is asked about rather than searched. */
const MAX_CODE_CHARS = 60_000

const EXECUTES =
  /\b(?:system|popen|Popen|subprocess|spawn\w*|execSync|execFile\w*|execv?p?e?\b|child_process|qx|shell_exec|passthru|proc_open|pcntl_exec|ProcessBuilder|Runtime\.getRuntime|NSTask|Deno\.(?:run|Command)|Bun\.spawn|os\.execute|io\.popen|do shell script|IO\.popen|Open3|Kernel\.|process\.binding|dlopen|ctypes|cffi|pty|shell-command|call-process|start-process|make-process)\b|\bBun\.\$|\.execute\s*\(\s*\)|\bexec\s+S/
const EVALUATES =
  /\b(?:eval|execfile|__import__|importlib|getattr|globals|__builtins__|Function|instance_eval|class_eval|loadstring)\s*\(|(?<![.\w])(?:exec|compile|load)\s*\(|\b(?:importlib|pickle|marshal|vm)\.\w+|\b(?:require|import)\s*\(\s*(?!\s|S\s*\))|\[\s*S\s*\+/
const DELETES =
  /\b(?:rmSync|rmdirSync|unlinkSync|unlink|rmdir|rmtree|removedirs|rm_rf|rm_r|remove_entry\w*|remove_dir\w*|remove_tree|delete-directory|delete-file|Deno\.remove\w*|os\.remove|os\.Remove\w*|fs\.rm|fs\.promises\.rm|fsp?\.rm|FileUtils\.rm\w*|File\.delete|Dir\.delete|Dir\.rmdir|shutil\.rmtree|\.unlink|rimraf|emptyDir\w*|removeSync|truncate\w*)\b|(?<![.\w])rm\s*\(|\.rm\s*\(/
const WRITES =
  /\b(?:writeFile\w*|appendFile\w*|createWriteStream|write_text|write_bytes|file_put_contents|fwrite|fputs|File\.write|IO\.write|File\.open|Deno\.writeTextFile\w*|Bun\.write|copyfile|copyFile\w*|copy2?|copytree|rename\w*|replace|symlink\w*|link\w*|chmod\w*|chown\w*|mkdir\w*|makedirs|move|write-region|spew|cp\w*)\s*\(|\bwrite-region\b/
const READS =
  /\b(?:open|fopen|readFile\w*|read_text|read_bytes|readlines?|read|slurp|File|Path|fs|createReadStream|file_get_contents|insert-file-contents|load|glob|readdir\w*)\b|<\s*S/
const NETWORK =
  /\b(?:fetch|urlopen|urlretrieve|urllib|requests|httpx|aiohttp|http|https|net|tls|dgram|socket|WebSocket|XMLHttpRequest|LWP|HTTP|Net::HTTP|open-uri|IO::Socket|fsockopen|curl_\w+|axios|got|TCPSocket|TcpClient|WebClient|smtplib|ftplib|telnetlib|paramiko)\b/
const ENVIRONMENT =
  /\bprocess\.env\b(?!\s*[.[])|\bos\.environ\b(?!\s*(?:\[|\.get))|%ENV\b|\bENV\b(?!\s*\[)(?=\s*(?:\.|\)|$|;))|\bDeno\.env\.toObject|\$ENV\b(?!\s*\{)|\benv::vars|\bgetenv\(\)|\bprintenv\b/

export type Language = 'python' | 'js' | 'ruby' | 'perl' | 'php' | 'lisp' | 'other'

interface Pieces {
  /** The code with each string replaced by `S`. */
  code: string
  strings: string[]
}

/** Notes what program text could do. Executes: its strings are read as shell text, too. */
export function readCode(shell: Shell, text: string, by: string, language: Language): void {
  const { sink } = shell
  if (text.length > MAX_CODE_CHARS) {
    sink.opaque('too_long', by)
    return
  }
  if (text.includes(UNKNOWN)) sink.feed('inline', 'interpreter', by)
  const { code, strings } = piecesOf(text, language)
  const named = strings.filter((string) => /^(?:node:)?(?:child_process|vm|os|subprocess|pty)$/.test(string)).join(' ')
  const runsStrings =
    language === 'perl' || language === 'ruby' || language === 'php' ? /`/.test(text) || /\bqx\b|%x/.test(code) : false
  const executes =
    EXECUTES.test(code) ||
    /child_process|subprocess|pty/.test(named) ||
    runsStrings ||
    /\brun\(\s*`/.test(text) ||
    (language === 'perl' && /\bexec\b|\|\s*S|\bopen\b.*S\s*\|/.test(code))
  const evaluates =
    EVALUATES.test(code) || ((language === 'perl' || language === 'ruby') && /\beval\s+[^{\s]/.test(code))
  const network = NETWORK.test(code) || strings.some((string) => /^https?:\/\//.test(string))
  if (executes || evaluates)
    sink.feed(evaluates && network ? 'network' : 'inline', executes ? 'shell' : 'interpreter', by)
  if (executes && /\bsocket|TCPSocket|fsockopen|net\.connect|IO::Socket/i.test(code)) sink.feed('network', 'shell', by)
  if (executes) for (const command of commandsIn(strings)) deeper(shell, () => shell.readText(shell, command, NOTHING))
  // A socket in the file system is spoken to by its path.
  if (/\b(?:AF_UNIX|UNIXSocket|createConnection|net\.connect|socketPath|IO::Socket::UNIX)\b/.test(code))
    for (const path of strings.filter(isPath)) sink.write(path, by)
  if (ENVIRONMENT.test(code)) sink.env('*', 'dump')
  const paths = strings.filter(isPath)
  if (DELETES.test(code)) for (const path of paths.length > 0 ? paths : [UNKNOWN]) sink.delete(path, by, true)
  const opens =
    /\bopen\b/i.test(code) && strings.some((string) => /^[rwaxbt+]{1,3}$/.test(string) && /[wax+]/.test(string))
  const redirects = language === 'perl' && /\bopen\b/.test(code) && strings.some((string) => /^\+?>/.test(string))
  if (WRITES.test(code) || opens || redirects) for (const path of paths) sink.write(path.replace(/^\+?>+\s*/, ''), by)
  if (READS.test(code) || WRITES.test(code)) for (const path of paths) sink.read(path, by)
  if (network)
    for (const string of strings)
      if (/^\w+:\/\//.test(string))
        sink.net(string, by, {
          dir: READS.test(code) || ENVIRONMENT.test(code) ? 'out' : 'in',
          carries: holdsSecret(string) ? 'secret' : 'body',
        })
}

/** Strings that may be commands: each alone, and all of them as one list of words. */
function commandsIn(strings: string[]): string[] {
  const words = strings.filter(
    (string) =>
      string !== '' && string.length < 4_096 && !/^(?:node:)?(?:child_process|fs|os|subprocess)$/.test(string),
  )
  const single = words.filter((string) => /\s/.test(string))
  return words.length > 1 && words.length < 24 ? [...single, words.join(' ')] : single
}

function isPath(text: string): boolean {
  return (
    text.length < 1_024 &&
    !/\s/.test(text) &&
    !/^[a-z]+:\/\//i.test(text) &&
    (/^\+?>{0,2}[~./]/.test(text) || text.includes('/') || /^[\w-]+\.\w{1,5}$/.test(text))
  )
}

/** Splits program text into strings and the rest; comments stay, they are only names. */
function piecesOf(text: string, language: Language): Pieces {
  const strings: string[] = []
  let code = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? ''
    const isQuote =
      char === '"' ||
      (char === "'" && language !== 'lisp') ||
      (char === '`' && language !== 'python' && language !== 'lisp')
    if (!isQuote) {
      code += char
      continue
    }
    const triple = language === 'python' && text.startsWith(char.repeat(3), i)
    const close = triple ? char.repeat(3) : char
    let end = i + close.length
    let value = ''
    while (end < text.length && !text.startsWith(close, end)) {
      if (text[end] === '\\') end++
      value += text[end++] ?? ''
    }
    // What a template puts in is code.
    if (char === '`') code += [...value.matchAll(/\$\{([^}]*)\}/g)].map((match) => ` ${match[1]} `).join('')
    strings.push(value)
    code += ' S '
    i = end + close.length - 1
  }
  return { code, strings }
}
