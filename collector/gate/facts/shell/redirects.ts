// Redirections: files read and written, here-documents as input, /dev/tcp as network, open descriptors.
import type { Redirection } from 'unbash'
import { absolute } from '../paths.ts'
import type { Out, Shell, Taint } from './state.ts'
import { mix, NO_TAINTS, unknownOut } from './state.ts'
import type { RunScript } from './words.ts'
import { expandSingle } from './words.ts'

const TCP = /^\/dev\/(?:tcp|udp)\/([^/]*)\/([^/]*)$/

export interface Streams {
  input: Out
  /** Gives a command's output to the files it is redirected into; returns what is left for the pipe. */
  finish(out: Out): Out
}

/** Applies redirections in order. */
export function redirect(shell: Shell, redirects: readonly Redirection[], input: Out, run: RunScript): Streams {
  let stdin = input
  const files: string[] = []
  let captured = false
  let overNetwork = false
  for (const item of redirects) {
    if (item.type === 'HereString') {
      const field = item.target === undefined ? null : expandSingle(shell, item.target, run)
      stdin = field === null ? unknownOut() : { text: `${field.text}\n`, taints: field.taints, fields: null }
      continue
    }
    if (item.type === 'HereDoc') {
      stdin = hereDocument(shell, item, run)
      continue
    }
    if (item.target === undefined) continue
    const target = expandSingle(shell, item.target, run)
    const fd = item.descriptor?.type === 'FileDescriptor' ? item.descriptor.value : null
    const number = /^\d+$|^-$/.test(target.text)
    if ((item.operator === '<&' || item.operator === '>&') && number) {
      // `0>&1` after a connection: the shell's commands come from it.
      if (overNetwork && (fd === 0 || item.operator === '<&')) stdin = unknownOut('network')
      else if (item.operator === '<&' && target.text !== '-')
        stdin = unknownOut(...(shell.fds.get(Number(target.text)) ?? NO_TAINTS))
      continue
    }
    const tcp = TCP.exec(target.text)
    if (tcp !== null) {
      const carries = item.operator === '<' ? 'nothing' : 'body'
      shell.sink.net(`tcp://${tcp[1]}:${tcp[2]}`, 'shell', {
        dir: item.operator === '<' ? 'in' : 'out',
        carries,
        computed: target.taints.size > 0,
      })
      overNetwork = true
      if (fd !== null) shell.fds.set(fd, new Set<Taint>(['network']))
      if (item.operator === '<' || item.operator === '<>') stdin = unknownOut('network')
      continue
    }
    if (item.operator === '<') {
      shell.sink.read(target.text, 'shell')
      stdin = target.stream ?? fileContent(shell, target.text)
      continue
    }
    if (target.stream !== undefined) continue
    shell.sink.write(target.text, 'shell')
    if (item.operator === '<>') continue
    if (fd === null || fd === 1) captured = true
    files.push(target.text)
  }
  return {
    input: stdin,
    finish: (out) => {
      for (const file of files) wrote(shell, file, out)
      if (captured && out.taints.has('environ')) shell.sink.env('*', 'dump')
      return captured ? { text: '', taints: NO_TAINTS, fields: null } : out
    },
  }
}

function hereDocument(shell: Shell, item: Extract<Redirection, { type: 'HereDoc' }>, run: RunScript): Out {
  const strip = (text: string) => (item.operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
  const { body } = item
  // Bash takes the end of the text for the end of the document and only warns.
  if (item.closing === undefined) {
    shell.sink.facts.parse = 'partial'
    shell.sink.opaque('syntax', 'shell')
  }
  if (item.delimiter?.quoted === true || body.parts === undefined)
    return { text: strip(body.text), taints: NO_TAINTS, fields: null }
  // An unquoted body is expanded like text in double quotes; only its parts matter, and each part is one field.
  const fields = body.parts.map((part) => {
    if (part.type === 'Literal') return { text: part.value, taints: NO_TAINTS }
    const word = {
      type: 'Word' as const,
      text: part.text,
      value: part.text,
      pos: part.pos,
      end: part.end,
      parts: [part],
    }
    return expandSingle(shell, word, run)
  })
  return {
    text: strip(fields.map(({ text }) => text).join('')),
    taints: mix(...fields.map(({ taints }) => taints)),
    fields: null,
  }
}

/** What reading a file gives: what this line wrote into it, or unknown content. */
export function fileContent(shell: Shell, path: string): Out {
  const written = shell.written.get(key(shell, path))
  if (written === undefined) return unknownOut('file')
  const taint: Taint = written.from === 'written' ? 'file' : written.from
  return { text: written.text, taints: new Set([taint]), fields: null }
}

/** Remembers that this line wrote a file, and from what. */
export function wrote(shell: Shell, path: string, out: Out): void {
  const from = out.taints.has('network') ? 'network' : out.taints.has('decoded') ? 'decoded' : 'written'
  shell.written.set(key(shell, path), { from, text: out.text })
}

/** The name under which a written file is remembered. */
export function key(shell: Shell, path: string): string {
  return absolute(path, shell.places()) ?? path
}
