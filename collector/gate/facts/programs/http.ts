// curl, wget and their like: what leaves, what comes in, and where it lands.
import { holdsSecret } from '../secrets.ts'
import type { Parsed } from '../shell/options.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import { wrote } from '../shell/redirects.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { NOTHING, unknownOut } from '../shell/state.ts'
import { configuration, optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const httpReaders: Readers = {
  curl,
  wget,
  wget2: wget,
  aria2c: (cmd, shell) => download(cmd, shell, '-o -d -i -x -s -j --out --dir --input-file'),
  axel: (cmd, shell) => download(cmd, shell, '-o -n --output'),
  lynx: (cmd, shell) => download(cmd, shell, ''),
  w3m: (cmd, shell) => download(cmd, shell, ''),
  links: (cmd, shell) => download(cmd, shell, ''),
  elinks: (cmd, shell) => download(cmd, shell, ''),
  fetch: (cmd, shell) => download(cmd, shell, '-o'),
  http: httpie,
  https: httpie,
  xh: httpie,
  xhs: httpie,
  curlie: httpie,
  ftp: (cmd, shell) => download(cmd, shell, '-o'),
  tftp: (cmd, shell) => download(cmd, shell, ''),
}

const CURL_VALUES = names(
  '-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --user-agent --cookie --cookie-jar --data --data-raw --data-binary --data-urlencode --data-ascii --json --dump-header --referer --cert --key --cacert --capath --form --form-string --header --config --max-time --connect-timeout --output --output-dir --upload-file --user --proxy-user --write-out --proxy --request --range --url --retry --retry-delay --resolve --connect-to --interface --limit-rate --socks5 --socks5-hostname --unix-socket --abstract-unix-socket --oauth2-bearer --netrc-file --trace --trace-ascii --stderr --hostpubmd5 --doh-url --dns-servers --url-query --variable --aws-sigv4 --engine --ciphers --libcurl --preproxy --noproxy --pinnedpubkey --hsts --alt-svc --etag-save --etag-compare --time-cond --quote',
)

function curl(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: CURL_VALUES })
  cmd.run.flags = flagWords(parsed)
  const { sink } = shell
  for (const value of valuesOf(parsed, '-K', '--config')) {
    configuration(cmd, shell, value)
    sink.feed('config', 'interpreter', cmd.name)
  }
  for (const value of valuesOf(parsed, '--unix-socket', '--abstract-unix-socket')) {
    sink.read(value.text, cmd.name)
    sink.write(value.text, cmd.name)
  }
  for (const value of valuesOf(parsed, '--netrc-file', '--cert', '-E', '--key')) sink.read(value.text, cmd.name)
  // The address that is really spoken to.
  for (const value of valuesOf(parsed, '--resolve', '--connect-to')) {
    const [host] = /(?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-f:]+\]/i.exec(value.text) ?? []
    if (host !== undefined) sink.net(`http://${host}/`, cmd.name, { dir: 'in' })
  }
  const bodies = valuesOf(
    parsed,
    '-d',
    '--data',
    '--data-raw',
    '--data-binary',
    '--data-urlencode',
    '--data-ascii',
    '--json',
    '-F',
    '--form',
    '--form-string',
    '--url-query',
  )
  const uploads = valuesOf(parsed, '-T', '--upload-file')
  const raw = parsed.flags.some(({ name }) => name === '--data-raw' || name === '--form-string')
  let file = false
  for (const body of bodies) if (!raw) file = attached(cmd, shell, body) || file
  for (const upload of uploads) {
    if (upload.text === '-' || upload.text === '.') file = true
    else {
      sink.read(upload.text, cmd.name)
      file = true
    }
  }
  const headers = valuesOf(parsed, '-H', '--header', '-A', '-b', '-e', '-u', '--cookie', '--user')
  for (const header of headers) if (header.text.startsWith('@')) file = attached(cmd, shell, header) || file
  const verb = valuesOf(parsed, '-X', '--request')[0]?.text.toUpperCase() ?? 'GET'
  const sends = bodies.length > 0 || uploads.length > 0 || /^(POST|PUT|PATCH|DELETE)$/.test(verb)
  const urls = [...parsed.operands, ...valuesOf(parsed, '--url')]
  const stdin = bodies.some(({ text }) => /@-$/.test(text)) || uploads.some(({ text }) => text === '-')
  for (const url of urls)
    request(cmd, shell, url, { sends, file, fields: [...bodies, ...headers], headers, stdin: stdin ? cmd.input : null })
  const out = unknownOut('network')
  for (const option of [
    '-o',
    '--output',
    '-D',
    '--dump-header',
    '-c',
    '--cookie-jar',
    '--trace',
    '--trace-ascii',
    '--stderr',
    '--libcurl',
    '--hsts',
    '--alt-svc',
    '--etag-save',
  ]) {
    for (const value of valuesOf(parsed, option)) if (value.text !== '-') save(cmd, shell, folder(parsed, value), out)
  }
  if (hasFlag(parsed, '-O', '--remote-name', '--remote-name-all'))
    for (const url of urls) save(cmd, shell, folder(parsed, lastPart(url)), out)
  return hasFlag(parsed, '-o', '--output', '-O', '--remote-name') ? NOTHING : out
}

function folder(parsed: Parsed, file: Field): Field {
  const [base] = valuesOf(parsed, '--output-dir')
  return base === undefined ? file : withText(file, `${base.text}/${file.text}`)
}

function lastPart(url: Field): Field {
  return withText(
    url,
    url.text
      .replace(/[?#].*/, '')
      .split('/')
      .at(-1) || 'index.html',
  )
}

function save(cmd: Cmd, shell: Shell, file: Field, out: Out): void {
  shell.sink.write(file.text, cmd.name)
  wrote(shell, file.text, out)
}

/** `@file` and `name@file` in a request body read that file. */
function attached(cmd: Cmd, shell: Shell, body: Field): boolean {
  const match = /^(?:[^=@]*=)?[@<](.+?)(?:;.*)?$/.exec(body.text) ?? /^[\w.-]*@(.+)$/.exec(body.text)
  const path = match?.[1]
  if (path === undefined) return false
  if (path !== '-') shell.sink.read(path, cmd.name)
  return true
}

interface Request {
  sends: boolean
  file: boolean
  fields: Field[]
  headers: Field[]
  stdin: Out | null
}

/** One address: what goes to it. */
function request(cmd: Cmd, shell: Shell, url: Field, { sends, file, fields, headers, stdin }: Request): void {
  if (/^file:/i.test(url.text)) {
    shell.sink.read(url.text, cmd.name)
    return
  }
  const made = [url, ...fields].some(({ taints }) => taints.has('file'))
  const inBody = [url, ...fields.filter((field) => !headers.includes(field))].some(({ taints }) =>
    taints.has('secret_env'),
  )
  const secret =
    inBody || [url, ...fields].some(({ text }) => holdsSecret(text)) || stdin?.taints.has('secret_env') === true
  const fromPipe = stdin !== null && (stdin.text === null || stdin.taints.size > 0)
  const carries = secret ? 'secret' : file || made || fromPipe ? 'file' : sends ? 'body' : 'nothing'
  shell.sink.net(url.text, cmd.name, {
    dir: carries === 'nothing' ? 'in' : 'out',
    carries,
    computed: url.taints.has('command') || url.taints.has('file') || url.taints.has('secret_env'),
  })
}

function wget(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-O -o -P -i -a -e -U -t -T -w -Q -B -A -R -D -l -nc --output-document --output-file --directory-prefix --input-file --execute --post-data --post-file --body-data --body-file --method --header --user-agent --use-askpass --config --user --password --load-cookies --save-cookies --referer --tries --timeout',
    ),
  })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(parsed, '--use-askpass')) optionRuns(cmd, shell, value)
  for (const value of valuesOf(parsed, '--config')) configuration(cmd, shell, value)
  for (const value of valuesOf(parsed, '-e', '--execute'))
    if (/askpass|output|proxy|post_file|input/.test(value.text)) shell.sink.feed('option', 'shell', cmd.name)
  const files = valuesOf(parsed, '--post-file', '--body-file')
  for (const value of files) shell.sink.read(value.text, cmd.name)
  for (const value of valuesOf(parsed, '-o', '-a', '--output-file', '--save-cookies'))
    shell.sink.write(value.text, cmd.name)
  const bodies = valuesOf(parsed, '--post-data', '--body-data')
  const headers = valuesOf(parsed, '--header', '-U', '--user-agent')
  const out = unknownOut('network')
  const [target] = valuesOf(parsed, '-O', '--output-document')
  const [prefix] = valuesOf(parsed, '-P', '--directory-prefix')
  for (const url of parsed.operands) {
    request(cmd, shell, url, {
      sends: bodies.length > 0,
      file: files.length > 0,
      fields: [...bodies, ...headers],
      headers,
      stdin: null,
    })
    if (target === undefined && !hasFlag(parsed, '--spider'))
      save(
        cmd,
        shell,
        prefix === undefined ? lastPart(url) : withText(url, `${prefix.text}/${lastPart(url).text}`),
        out,
      )
  }
  if (target === undefined) return NOTHING
  if (target.text === '-') return out
  save(cmd, shell, target, out)
  return NOTHING
}

function download(cmd: Cmd, shell: Shell, valued: string): Out {
  const parsed = parseOptions(cmd.args, { valued: names(valued) })
  for (const url of parsed.operands)
    request(cmd, shell, url, { sends: false, file: false, fields: [], headers: [], stdin: null })
  const files = valuesOf(parsed, '-o', '--out', '--output')
  for (const value of files) save(cmd, shell, value, unknownOut('network'))
  if (files.length === 0 && /^(?:aria2c|axel)$/.test(cmd.name))
    for (const url of parsed.operands) save(cmd, shell, lastPart(url), unknownOut('network'))
  return unknownOut('network')
}

function httpie(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names('-o -a -A -p -s --output --auth --auth-type --print --style --session --proxy --timeout'),
  })
  const [first, ...rest] = parsed.operands
  const verb = first !== undefined && /^[A-Z]+$/.test(first.text)
  const url = verb ? rest[0] : first
  const items = verb ? rest.slice(1) : rest
  let file = false
  for (const item of items) file = attached(cmd, shell, withText(item, item.text.replace(/^[\w.-]+:?=?@/, '@'))) || file
  if (url !== undefined)
    request(cmd, shell, url, {
      sends: items.length > 0,
      file,
      fields: items,
      headers: [],
      stdin: cmd.input.taints.size > 0 ? cmd.input : null,
    })
  for (const value of valuesOf(parsed, '-o', '--output')) save(cmd, shell, value, unknownOut('network'))
  return unknownOut('network')
}
