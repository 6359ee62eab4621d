// Secrets of every kind are cut out of plain text and of JSON text, and masking keeps lengths.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskBytes, redactText, SECRET_KINDS } from '../../collector/record/redact.ts'

const EXAMPLES: Record<string, string> = {
  private_key: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  aws_access_key: 'AKIAQ3EGRTTPLANTED77',
  aws_secret_key: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY42',
  github_token: `ghp_${'a1B2'.repeat(9)}`,
  gitlab_token: 'glpat-abcdefghij0123456789',
  anthropic_key: `sk-ant-api03-${'x9'.repeat(15)}`,
  openai_key: `sk-proj-${'y8'.repeat(15)}`,
  google_key: `AIza${'Z7a'.repeat(11)}bc`,
  slack_token: 'xoxb-123456789012-abcdefabcdef',
  stripe_key: 'sk_live_abcdefghij0123456789',
  npm_token: `npm_${'q1'.repeat(18)}`,
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJlc2ln',
  bearer_token: 'abcdefghijklmnop.0123456789',
  url_password: 's3cretpass',
  assigned_secret: 'hunter2hunter2',
}
const AROUND: Record<string, (secret: string) => string> = {
  private_key: (secret) => `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
  aws_secret_key: (secret) => `aws_secret_access_key = ${secret}`,
  bearer_token: (secret) => `Authorization: Bearer ${secret}`,
  url_password: (secret) => `postgres://app:${secret}@db.internal/x`,
  assigned_secret: (secret) => `DB_PASSWORD=${secret}`,
}

describe.each(SECRET_KINDS)('%s', (kind) => {
  const secret = EXAMPLES[kind] ?? ''
  const text = AROUND[kind]?.(secret) ?? secret
  it.each([
    ['alone', text],
    ['after a line', `first line\n${text}\nlast line`],
    ['inside JSON text', JSON.stringify({ command: `echo one\n${text}\necho two` })],
    ['inside JSON inside JSON', JSON.stringify(JSON.stringify({ a: `x\n${text}` }))],
    ['in quotes', `x="${text}"`],
  ])('is cut out %s', (_where, input) => {
    expect(secret.length).toBeGreaterThan(5)
    expect(redactText(input).text).not.toContain(secret)
    expect(redactText(input).found).toBeGreaterThan(0)
    const masked = maskBytes(Buffer.from(input))
    expect(Buffer.from(masked.bytes).toString()).not.toContain(secret)
    expect(masked.bytes.length).toBe(Buffer.byteLength(input))
  })
})

it('leaves ordinary text alone', () => {
  for (const text of [
    'git commit -m "rotate tokens"',
    'the password is asked at start',
    'https://example.com:8080/x@y',
    'ask-me-anything-about-the-project',
    '{"a":1}',
  ]) {
    expect(redactText(text)).toEqual({ text, found: 0 })
  }
})

it.each([
  ['postgres://postgres:postgres@db/x', '://postgres:postgres@'],
  ['https://abcd:abc@host/', ':abc@'],
  ['TOKEN_ABC123=ABC123', '=ABC123'],
])('cuts the secret of %s, not the same text before it', (text, secret) => {
  expect(redactText(text).text).not.toContain(secret)
  expect(Buffer.from(maskBytes(Buffer.from(text)).bytes).toString()).not.toContain(secret)
})

it('cuts a key whose end is missing', () => {
  expect(redactText('-----BEGIN PRIVATE KEY-----\nMIIEsecretsecret').text).not.toContain('MIIEsecret')
})

it('finds nothing twice: redacting again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...Object.values(EXAMPLES)))), (parts) => {
      const once = redactText(parts.join(' ')).text
      expect(redactText(once).text).toBe(once)
    }),
  )
})

it('gets through megabytes of hostile input: a pattern that looks back over everything would not come to an end here', () => {
  for (const piece of [
    '-----BEGIN PRIVATE KEY-----',
    'eyJ',
    '-eyJ',
    'eyJaaaaaaaa.',
    'sk-',
    'PASSWORD=',
    'https://',
    'bearer ',
    'xoxb-',
  ]) {
    const text = piece.repeat(Math.ceil(3_000_000 / piece.length))
    expect(redactText(text).text.length, piece).toBeGreaterThan(0)
  }
})
