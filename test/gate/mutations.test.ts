// An attack in other clothes stays an attack: quoting, wrapping, chaining, variables never turn it into "allow".
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bash, corpus, stopped } from './support.ts'

const ATTACKS = corpus().flatMap(({ tool, input, cwd, family, expect: wanted }) => {
  const { command, ...others } = input as { command?: unknown }
  return tool === 'Bash' &&
    Object.keys(others).length === 0 &&
    // Broken syntax may become whole, and harmless, inside other text.
    family !== 'unparsable' &&
    wanted !== 'allow' &&
    typeof command === 'string' &&
    command.trim() !== '' &&
    command.length < 2_000
    ? [{ command, cwd }]
    : []
})

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Around the whole text. Each keeps what the text does. */
const AROUND: ((text: string) => string)[] = [
  (text) => `true && ${text}`,
  (text) => `ls -la; ${text}`,
  (text) => `${text}\nls`,
  (text) => `false ||\n${text}`,
  (text) => `{ ${text}\n}`,
  (text) => `(${text}\n)`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `for i in 1 2; do ${text}\ndone`,
  (text) => `bash -c ${quoted(text)}`,
  (text) => `sh -ec ${quoted(text)}`,
  (text) => `eval ${quoted(text)}`,
  (text) => `env bash -c ${quoted(text)}`,
  (text) => `timeout 5 bash -c ${quoted(text)}`,
  (text) => `nohup bash -c ${quoted(text)} &`,
  (text) => `echo ${quoted(text)} | sh`,
  (text) => `bash <<'XX'\n${text}\nXX`,
  (text) => `bash <<< ${quoted(text)}`,
  (text) => `echo "$(${text}\n)"`,
  (text) => `CMD=${quoted(text)}; eval "$CMD"`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `trap ${quoted(text)} EXIT`,
  (text) => `find . -maxdepth 0 -exec sh -c ${quoted(text)} \\;`,
  (text) => `true | { ${text}\n} | cat`,
  (text) => `x=1 y=2 sh -c ${quoted(text)} 2>&1`,
]

const mutation = fc.array(fc.constantFrom(...AROUND), { minLength: 1, maxLength: 3 })

it('never allows an attack that is wrapped', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ATTACKS), mutation, ({ command, cwd }, layers) => {
      const text = layers.reduce((inner, wrap) => wrap(inner), command)
      expect(stopped(bash(text, { cwd })), text).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

/** Plain commands whose words may be quoted in other ways. */
const PLAIN = [
  ['rm', '-rf', '/home/dev/work'],
  ['rm', '-rf', '/'],
  ['git', 'push', '--force', 'origin', 'main'],
  ['cat', '/home/dev/.ssh/id_rsa'],
  ['cp', 'x', '/home/dev/.claude/settings.json'],
  ['sudo', 'id'],
  ['chmod', '-R', '777', '/'],
  ['find', '/home/dev', '-delete'],
  ['terraform', 'destroy'],
  ['spanseal', 'approvals', 'approve', 'a'],
]

const QUOTE: ((word: string) => string)[] = [
  (word) => word,
  (word) => `"${word}"`,
  (word) => `'${word}'`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `"${word.slice(0, 2)}"${word.slice(2)}`,
  (word) => `\\${word}`,
  (word) => `$'${[...word].map((char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}'`,
  (word) => `\${UNSET:-${word}}`,
  (word) => `$(printf %s ${word})`,
  (word) => `"$(echo ${word})"`,
]
const WRAP = [
  '',
  'env ',
  'env A=1 ',
  'nice -n 5 ',
  'timeout 9 ',
  'nohup ',
  'command ',
  'exec ',
  'time ',
  'stdbuf -oL ',
  'setsid ',
  'xargs ',
  'busybox ',
  'A=1 ',
  '! ',
]
const BLANK = [' ', '  ', '\t', ' \\\n ']

it('never allows a dangerous command whose words are quoted, wrapped or spaced differently', () => {
  const quotes = fc.array(fc.constantFrom(...QUOTE), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(
      fc.constantFrom(...PLAIN),
      quotes,
      fc.constantFrom(...WRAP),
      fc.constantFrom(...BLANK),
      (words, how, wrap, blank) => {
        const text = wrap + words.map((word, i) => (how[i] ?? String)(word)).join(blank)
        expect(stopped(bash(text)), text).toBe(true)
      },
    ),
    { numRuns: 3_000 },
  )
})

it('never lets a harmless neighbour loosen a decision', () => {
  const order = ['allow', 'flag', 'ask', 'deny']
  const benign = ['ls', 'git status', 'npm test', 'echo hi', 'cat README.md']
  fc.assert(
    fc.property(fc.constantFrom(...ATTACKS), fc.constantFrom(...benign), ({ command, cwd }, other) => {
      const alone = order.indexOf(bash(command, { cwd }).decision)
      expect(order.indexOf(bash(`${other}\n${command}`, { cwd }).decision), command).toBeGreaterThanOrEqual(alone)
    }),
    { numRuns: 600 },
  )
})
