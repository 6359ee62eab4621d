// Secrets are cut out of content before anything is committed to or kept. Patterns are linear: no nested repeats. A pattern is tried
// only on text that holds its anchor, without which it can't match: nearly all text holds none.
import { type Anchor, anchorsOf, assignment, either, found, literal } from './anchors.ts'

interface Kind {
  name: string
  /** The secret is the first capture group, or the whole match. */
  pattern: RegExp
  anchor: Anchor
}

/** A token begins here: after no word character, or after an escape as in JSON text (`\n`). Also keeps matching linear. */
const START = String.raw`(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf]))`
/** A token of which `head` is the fixed beginning. It is found first: looking back at every character costs thirty times as much. */
const token = (head: string, rest: string) => `${head}(?<=${START}${head})${rest}`
/** What may stand between a name and its value: quotes, blanks, one `:` or `=`. */
const ASSIGN = String.raw`["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,3}`

/** `d`: where the secret lies inside the match, since the same text may stand elsewhere in it. */
const kind = (name: string, anchor: Anchor, source: string, flags = ''): Kind => ({
  name,
  anchor,
  pattern: new RegExp(source, `dg${flags}`),
})

/** Heads of three kinds, looked for together. */
const HEADS = found(/gh[pousr]_|glpat-|npm_/)
/** A value is assigned to a name that ends in one of these. */
const ASSIGNED = assignment(/PASSW|SECRET|TOKEN|KEY|CREDENTIAL/i)

/** In the order they are cut out. */
export const KINDS: readonly Kind[] = [
  kind('aws_access_key', either(literal('AKIA'), literal('ASIA')), token('(?:AKIA|ASIA)', '[0-9A-Z]{16}(?![0-9A-Z])')),
  kind('aws_secret_key', ASSIGNED, `aws_?secret_?(?:access_?)?key${ASSIGN}([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])`, 'i'),
  kind(
    'github_token',
    either(HEADS, literal('b_pat_')),
    `${token('gh[pousr]_', '[A-Za-z0-9]{20,255}')}|${token('github_pat_', '[A-Za-z0-9_]{20,255}')}`,
  ),
  kind('gitlab_token', HEADS, token('glpat-', '[A-Za-z0-9_-]{20,64}')),
  kind('anthropic_key', literal('k-ant-'), token('sk-ant-', '[A-Za-z0-9_-]{20,200}')),
  kind('openai_key', literal('k-'), token('sk-', '(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,200}')),
  kind('google_key', literal('AIza'), token('AIza', '[0-9A-Za-z_-]{35}')),
  kind('slack_token', literal('xox'), token('xox[abeoprs]-', '[A-Za-z0-9-]{10,200}')),
  kind('stripe_key', either(literal('k_liv'), literal('k_tes')), token('[rs]k_(?:live|test)_', '[A-Za-z0-9]{16,200}')),
  kind('npm_token', HEADS, token('npm_', '[A-Za-z0-9]{36}(?![A-Za-z0-9])')),
  kind(
    'jwt',
    literal('yJ'),
    token('eyJ', String.raw`[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}`),
  ),
  kind(
    'bearer_token',
    found(/(?:bearer|basic)\s/i),
    token('(?:bearer|basic)', String.raw`\s{1,4}([A-Za-z0-9._~+/=-]{12,4000})`),
    'i',
  ),
  kind('url_password', literal('://'), String.raw`:\/\/[^\s:/@"'\\]{0,100}:([^\s/@"'\\]{3,200})@`),
  kind(
    'assigned_secret',
    ASSIGNED,
    String.raw`(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)[A-Z0-9_]{0,20}${ASSIGN}([^\s"'\\;&|,){}$<>]{6,400})`,
    'i',
  ),
]

const PEM_BEGIN = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/g
/** Of its first line, the part that begins with a rare character. */
const PEM_ANCHOR = 'BEGIN '
const PEM_END = '-----END '
/** Characters cut after a key's first line when its last line is missing: the longest keys in use are shorter. */
const MAX_PEM_CHARS = 16_384

/** Kinds of secrets that are cut out. */
export const SECRET_KINDS: readonly string[] = ['private_key', ...KINDS.map(({ name }) => name)]

/** The text with each secret replaced by `[redacted:<kind>]`, and how many there were. */
export function redactText(text: string): { text: string; found: number } {
  return replaceSecrets(text, (_secret, name) => `[redacted:${name}]`)
}

/**
 * The bytes with each secret overwritten by `*` of the same length, so that length-prefixed encodings (protobuf) still decode.
 * Returns the same object when nothing was found.
 */
export function maskBytes(bytes: Uint8Array): { bytes: Uint8Array; found: number } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const masked = replaceSecrets(text, (secret) => '*'.repeat(secret.length))
  return masked.found === 0 ? { bytes, found: 0 } : { bytes: Buffer.from(masked.text, 'latin1'), found: masked.found }
}

function replaceSecrets(text: string, by: (secret: string, name: string) => string): { text: string; found: number } {
  let found = 0
  let out = replaceKeys(text, (secret) => {
    found++
    return by(secret, 'private_key')
  })
  let holds = anchorsOf(out)
  for (const { name, pattern, anchor } of KINDS) {
    if (!holds(anchor)) continue
    const before = out
    out = replaceMatches(out, pattern, (secret) => {
      if (secret.startsWith('[redacted:') || /^\*+$/.test(secret)) return secret
      found++
      return by(secret, name)
    })
    if (out !== before) holds = anchorsOf(out)
  }
  return { text: out, found }
}

/** Replaces the first group of each match, or the whole match. */
function replaceMatches(text: string, pattern: RegExp, by: (secret: string) => string): string {
  let out = ''
  let from = 0
  for (const { indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.[1] ?? indices?.[0] ?? [from, from]
    out += text.slice(from, start) + by(text.slice(start, end))
    from = end
  }
  return out + text.slice(from)
}

/** Private keys in PEM: everything between their first and last line, also when the last line is missing. */
function replaceKeys(text: string, by: (secret: string) => string): string {
  if (!text.includes(PEM_ANCHOR)) return text
  let out = ''
  let from = 0
  PEM_BEGIN.lastIndex = 0
  for (let begin = PEM_BEGIN.exec(text); begin !== null; begin = PEM_BEGIN.exec(text)) {
    const start = begin.index + begin[0].length
    const end = text.slice(start, start + MAX_PEM_CHARS).indexOf(PEM_END)
    const stop = end === -1 ? Math.min(text.length, start + MAX_PEM_CHARS) : start + end
    out += text.slice(from, start) + by(text.slice(start, stop))
    from = stop
    PEM_BEGIN.lastIndex = stop
  }
  return out + text.slice(from)
}
