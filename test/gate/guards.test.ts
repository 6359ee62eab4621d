// Text that is made to break a reader: decided, never allowed, never a crash.
import { describe, expect, it } from 'vitest'
import { bash, call, stopped } from './support.ts'

const BOMBS: Record<string, string> = {
  'process substitutions': '<('.repeat(32_500),
  arithmetic: '$(('.repeat(21_600),
  'here-documents': 'cat <<A '.repeat(8_100),
  substitutions: '$('.repeat(300),
  'substitutions in quotes': '"$('.repeat(300),
  backticks: '`echo '.repeat(500),
  braces: '{'.repeat(400),
  parentheses: '('.repeat(400),
  'if if if': 'if '.repeat(3_000),
  'under the size limit': '$('.repeat(100),
  'nested shells': nested(12),
  'five megabytes': `echo ${'a'.repeat(5_000_000)}`,
  '100,000 commands': 'true;'.repeat(100_000),
  'doubling variable': `x=aaaaaaaa;${'x=$x$x;'.repeat(60)} $x`,
  'doubling replacement': `x=aaaa;${'x=$'.concat('{x//a/aaaa};').repeat(40)} $x`,
  'loops in loops': `${'for a in 1 2 3 4 5 6 7 8 9; do '.repeat(9)} : ;${' done;'.repeat(9)}`,
  'function calls': `a(){ ${'b;'.repeat(30)} }; b(){ ${'c;'.repeat(30)} }; c(){ ${'d;'.repeat(30)} }; d(){ ${'e;'.repeat(30)} }; e(){ rm x; }; a`,
  'half a surrogate pair': 'echo \ud800',
}

function nested(depth: number): string {
  let text = 'true'
  for (let i = 0; i < depth; i++) text = `eval ${JSON.stringify(text)}`
  return text
}

describe('parser bombs', () => {
  it.each(Object.entries(BOMBS))('%s', (_, text) => {
    const { decision, rules } = bash(text)
    expect(['ask', 'deny']).toContain(decision)
    expect(rules.some((id) => id.startsWith('SP-'))).toBe(true)
  })
})

describe('sizes', () => {
  it('denies more than 64 KiB', () => {
    expect(bash(`echo ${'ä'.repeat(33_000)}`).decision).toBe('deny')
    expect(bash(`echo ${'a'.repeat(60_000)}`).decision).toBe('ask')
  })

  it('asks about more than 10,000 characters and reads what is shorter', () => {
    expect(bash(`echo ${'a'.repeat(10_000)}`).rules).toContain('SP-UNREADABLE')
    expect(bash(`echo ${'a'.repeat(9_000)}`).decision).toBe('allow')
  })

  it('has no cap on the number of commands', () => {
    expect(bash(`${':;'.repeat(4_000)} rm -rf ~`).decision).toBe('deny')
    expect(bash(`${':;'.repeat(4_000)} ls`).decision).toBe('allow')
  })

  it('counts no parentheses of quoted text', () => {
    const code = 'f(a(b(c)));\n'.repeat(200)
    expect(bash(`cat > src/a.ts <<'EOF'\n${code}EOF`).decision).toBe('allow')
    expect(bash(`node -e '${'(1);'.repeat(300)}'`).decision).toBe('allow')
  })
})

describe('hidden characters', () => {
  it.each([
    'echo \u202e; ls',
    'ls\u200b',
    'rm\u00a0-rf\u00a0x',
    'rm \uff0drf x',
    'echo a\u0000b',
    'ls \r',
    'echo \u{e0072}',
    'echo \u{f0000}',
    'echo ok\u2028ls',
  ])('%j asks', (text) => {
    expect(bash(text).rules).toContain('SP-UNREADABLE')
  })

  it.each(['git commit -m "修复 🐛"', 'echo "a\u00a0b"', 'echo "👩\u200d💻"', 'cat "docs/Übersicht – 2026.md"'])(
    '%j is ordinary text',
    (text) => {
      expect(bash(text).decision).toBe('allow')
    },
  )

  it('still denies what it reads beside them', () => {
    expect(bash('rm -rf / # \u200b').decision).toBe('deny')
  })
})

it('runs deny rules on what was read before an error', () => {
  expect(bash('rm -rf ~\nif then fi').decision).toBe('deny')
  expect(bash('echo hi &&').decision).toBe('ask')
})

it('decides when the file system throws', () => {
  const realpath = () => {
    throw new Error('gone')
  }
  expect(stopped(bash('cat x', { realpath }))).toBe(true)
})

it('asks about arguments that are no object and calls that name nothing', () => {
  for (const command of ['', '  ']) expect(bash(command).decision).toBe('ask')
})

it('asks about a tool with more values than it looks at', () => {
  const paths = Array.from({ length: 300_000 }, (_, i) => `src/${i}.ts`)
  expect(call('mcp__fs__read_files', { paths }).rules).toContain('SP-UNREADABLE')
  expect(call('mcp__fs__read_files', { paths: paths.slice(0, 100) }).decision).toBe('flag')
})
