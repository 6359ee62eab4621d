// Secrets are cut out of content before anything is committed to or kept. Patterns are linear: no nested repeats.

interface Kind {
  name: string
  /** The secret is the first capture group, or the whole match. */
  pattern: RegExp
}

const KINDS: readonly Kind[] = [
  {
    name: 'private_key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\rn:,.-]{1,20000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
  },
  { name: 'aws_access_key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  {
    name: 'aws_secret_key',
    pattern:
      /\baws_?secret_?(?:access_?)?key["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,3}([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/gi,
  },
  { name: 'github_token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})\b/g },
  { name: 'gitlab_token', pattern: /\bglpat-[A-Za-z0-9_-]{20,64}/g },
  { name: 'anthropic_key', pattern: /\bsk-ant-[A-Za-z0-9_-]{20,200}/g },
  { name: 'openai_key', pattern: /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,200}/g },
  { name: 'google_key', pattern: /\bAIza[0-9A-Za-z_-]{35}/g },
  { name: 'slack_token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,200}/g },
  { name: 'stripe_key', pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,200}/g },
  { name: 'npm_token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}/g },
  {
    name: 'bearer_token',
    pattern:
      /\b(?:authorization["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,3})?(?:bearer|basic)\s{1,4}([A-Za-z0-9._~+/=-]{12,4000})/gi,
  },
  { name: 'url_password', pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'\\]{0,100}:([^\s/@"'\\]{3,200})@/gi },
  {
    name: 'assigned_secret',
    pattern:
      /\b[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)[A-Z0-9_]{0,20}["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,3}([^\s"'\\;&|,){}$<>]{6,400})/gi,
  },
]

/** Kinds of secrets that are cut out. */
export const SECRET_KINDS: readonly string[] = KINDS.map(({ name }) => name)

/** The text with each secret replaced by `[redacted:<kind>]`, and how many there were. */
export function redactText(text: string): { text: string; found: number } {
  let found = 0
  let out = text
  for (const { name, pattern } of KINDS) {
    out = out.replace(pattern, (match: string, group: unknown) => {
      const secret = typeof group === 'string' ? group : match
      if (secret.startsWith('[redacted:')) return match
      found++
      return match.replace(secret, () => `[redacted:${name}]`)
    })
  }
  return { text: out, found }
}

/**
 * The bytes with each secret overwritten by `*` of the same length, so that length-prefixed encodings (protobuf) still decode.
 * Returns the same object when nothing was found.
 */
export function maskBytes(bytes: Uint8Array): { bytes: Uint8Array; found: number } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  let found = 0
  let out = text
  for (const { pattern } of KINDS) {
    out = out.replace(pattern, (match: string, group: unknown) => {
      const secret = typeof group === 'string' ? group : match
      if (/^\**$/.test(secret)) return match
      found++
      return match.replace(secret, () => '*'.repeat(secret.length))
    })
  }
  return found === 0 ? { bytes, found } : { bytes: Buffer.from(out, 'latin1'), found }
}
