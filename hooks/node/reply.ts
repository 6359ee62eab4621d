// Reads one whole HTTP/1.1 reply, strictly: a reply that is cut, padded or of unknown length is no reply.

/** Bytes of status line and headers. The collector sends a few hundred. */
const MAX_HEAD_BYTES = 16_384

/** Bytes of the whole reply. An answer is a few paragraphs. */
const MAX_REPLY_BYTES = 1_048_576

export type Reply = { state: 'more' } | { state: 'bad' } | { state: 'done'; status: number; body: string }

const MORE: Reply = { state: 'more' }
const BAD: Reply = { state: 'bad' }
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What the bytes received so far amount to. Exactly one framing header must say how long the body is (RFC 9112 section 6). */
export function readReply(bytes: Buffer): Reply {
  if (bytes.length > MAX_REPLY_BYTES) return BAD
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return bytes.length > MAX_HEAD_BYTES ? BAD : MORE
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = /^HTTP\/1\.1 ([1-5]\d\d)(?: |$)/.exec(first)?.[1]
  if (status === undefined) return BAD
  const lengths = headerValues(lines, 'content-length')
  const codings = headerValues(lines, 'transfer-encoding')
  if (lengths.length + codings.length !== 1) return BAD
  const rest = bytes.subarray(headEnd + 4)
  const body = codings.length === 1 ? chunkedBody(rest, codings[0]) : sizedBody(rest, lengths[0])
  if (!Buffer.isBuffer(body)) return body
  try {
    return { state: 'done', status: Number(status), body: UTF8.decode(body) }
  } catch {
    return BAD
  }
}

function headerValues(lines: string[], name: string): string[] {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return line.slice(0, colon).toLowerCase() === name ? [line.slice(colon + 1).trim()] : []
  })
}

function sizedBody(rest: Buffer, length: string | undefined): Buffer | Reply {
  if (length === undefined || !/^\d{1,8}$/.test(length)) return BAD
  const wanted = Number(length)
  if (rest.length > wanted) return BAD
  return rest.length === wanted ? rest : MORE
}

function chunkedBody(rest: Buffer, coding: string | undefined): Buffer | Reply {
  if (coding?.toLowerCase() !== 'chunked') return BAD
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return MORE
    const digits = /^([0-9a-fA-F]{1,6})(?:;.*)?$/.exec(rest.toString('latin1', at, lineEnd))?.[1]
    if (digits === undefined) return BAD
    const size = Number.parseInt(digits, 16)
    const end = lineEnd + 2 + size
    if (rest.length < end + 2) return MORE
    if (rest.toString('latin1', end, end + 2) !== '\r\n') return BAD
    if (size === 0) return rest.length === end + 2 ? Buffer.concat(parts) : BAD
    parts.push(rest.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
