// Secrets by their look: token values inside text, and names of variables that usually hold one.

/** Prefixes that issuers give their tokens, long enough that prose does not hit them. */
const TOKENS = [
  /\bgh[pousr]_[A-Za-z0-9]{30,}/,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/,
  /\bglpat-[A-Za-z0-9_-]{20}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}/,
  /\b[rs]k_live_[A-Za-z0-9]{16,}/,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  /\bAIza[A-Za-z0-9_-]{35}/,
  /\bnpm_[A-Za-z0-9]{36}/,
  /\bpypi-[A-Za-z0-9_-]{32,}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
]

/** Characters of text looked at: URLs, queries and header values are short. */
const MAX_SCANNED_CHARS = 16_384

/** True when the text holds something that looks like a token, a private key or an AWS secret key. */
export function holdsSecret(text: string): boolean {
  const part = text.slice(0, MAX_SCANNED_CHARS)
  if (TOKENS.some((token) => token.test(part))) return true
  const words = part.match(/[A-Za-z0-9/+]{40,}/g) ?? []
  return words.some(
    (word) =>
      word.length === 40 && /[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word) && !/^[0-9a-f]+$/i.test(word),
  )
}

/** True for names such as AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN, DB_PASSWORD. */
export function isSecretName(name: string): boolean {
  return /(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|PRIVATE|PAT)(?:_|$)|(?:^|_)(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|AUTH|STRIPE|OPENAI|ANTHROPIC|MASTER)_?KEY(?:_|$)|^DATABASE_URL$/i.test(
    name,
  )
}
