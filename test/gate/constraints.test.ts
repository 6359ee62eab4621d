// Live constraints: what a prompt forbids, and the calls that break it.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beyondScope, broken, statedIn } from '../../collector/gate/constraints/index.ts'
import { clausesOf } from '../../collector/gate/constraints/text.ts'
import type { Constraint } from '../../conventions/constraint.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { SENTENCES } from './constraint-sentences.ts'
import { bash, call, WORLD } from './support.ts'

interface Case {
  id: string
  tier: 'core' | 'extended'
  prompt: string
  earlier?: string[]
  constraints: { kind: string; target: string | null }[]
  calls: { tool: string; input: Json; held: boolean; flag?: boolean }[]
}

const CASES = readFileSync(new URL('../fixtures/policy/constraints.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
const CORE = CASES.filter(({ tier }) => tier === 'core')

const list = (constraints: readonly { kind: string; target: string | null }[]) =>
  constraints.map(({ kind, target }) => `${kind}:${target}`).sort()

function judged(constraints: readonly Constraint[], tool: string, args: Json) {
  const asked = { ...WORLD, tool, args }
  const { facts } = call(tool, args)
  const held = broken(constraints, asked, facts)
  return { held: held.length > 0, flag: held.length === 0 && beyondScope(constraints, asked, facts) }
}

describe('prompts', () => {
  it.each(CORE)('$id: $prompt', ({ prompt, constraints }) => {
    expect(list(statedIn(prompt).constraints)).toEqual(list(constraints))
  })

  it.each(SENTENCES)('%s', (prompt, forbids) => {
    expect(list(statedIn(prompt).constraints)).toEqual(
      forbids.split(' ').filter(Boolean).length === 0 ? [] : parse(forbids),
    )
  })

  it('propose to end what an earlier one forbade, and state nothing by that', () => {
    expect(statedIn('Looks good, you can push now.')).toEqual({
      constraints: [],
      lifts: [{ kind: 'no-push', target: null }],
    })
    expect(statedIn('ok go ahead and edit billing.py too').lifts).toEqual([{ kind: 'no-modify', target: 'billing.py' }])
  })

  it('say nothing where they quote, whatever is quoted', () => {
    for (const [prompt] of SENTENCES.filter(([text, forbids]) => forbids !== '' && !/["'`]/.test(text))) {
      for (const around of [
        `The log says "${prompt}" again.`,
        `> ${prompt}\nwhat is that`,
        `\`\`\`\n${prompt}\n\`\`\`\nexplain`,
      ]) {
        expect(statedIn(around).constraints, around).toEqual([])
      }
    }
  })

  it('are read at the end of a long prompt, too, but not in a fence that began in what was passed over', () => {
    const log = 'GET /index 200 in 3 ms\n'.repeat(2_000)
    const push = [{ kind: 'no-push', target: null }]
    expect(statedIn(`${log}\nFix this. Don't push.`).constraints).toEqual(push)
    expect(statedIn(`Don't push.\n${log}`).constraints).toEqual(push)
    expect(statedIn(`\`\`\`\n${log}\nDon't push.\n\`\`\`\nWhat is that?`).constraints).toEqual([])
    // What is left of a clause is no instruction.
    const rest = "don't push, nor tell. "
    const padding = 'x'.repeat(10_000 - rest.length)
    expect(statedIn(`${log}The users often ${rest}${padding}`).constraints).toEqual([])
  })

  it('never throw, never take long, and state a bounded number', () => {
    const piece = fc.constantFrom(
      ...SENTENCES.map(([text]) => text),
      "don't",
      'touch',
      '`',
      "'",
      '"',
      '```',
      'a.ts',
      ', ',
      '\n',
      ' or ',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece, { maxLength: 60 }).map((all) => all.join(' ')),
        ),
        (text) => {
          expect(Array.isArray(statedIn(text).constraints)).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
    // Reading a clause takes the square of its words.
    expect(Math.max(...clausesOf('and '.repeat(5_000)).map(({ words }) => words.length))).toBeLessThanOrEqual(200)
    expect(list(statedIn(`${'word '.repeat(1_000)}but don't push`).constraints)).toEqual(['no-push:null'])
    // Quadratic reading of any of these would take minutes.
    for (const bomb of [
      "'a ",
      '`a ',
      '"a ',
      "don't touch ",
      'a.ts ',
      '/',
      '*',
      'never ',
      'without touching a.ts, ',
      '( ',
      '> \n',
    ])
      statedIn(bomb.repeat(2_000_000 / bomb.length))
  })
})

function parse(forbids: string): string[] {
  // A target may hold blanks: "no-run:npm publish".
  return forbids.split(/ (?=[a-z-]+:)/).sort()
}

describe('calls', () => {
  it.each(CORE)('$id: $prompt', ({ prompt, earlier, calls }) => {
    const constraints = [...(earlier ?? []), prompt].flatMap((text) => statedIn(text).constraints)
    for (const { tool, input, held, flag } of calls)
      expect(judged(constraints, tool, input), JSON.stringify(input)).toEqual({ held, flag: flag === true })
  })

  const table: [kind: Constraint['kind'], target: string | null, held: string[], free: string[]][] = [
    [
      'no-modify',
      'billing.py',
      [
        'mv billing.py b.py',
        'cp x billing.py',
        'git restore billing.py',
        'git reset --hard',
        'rm -rf .',
        'tee src/BILLING.py < x',
        'sed -i s/a/b/ "$F"',
        "sh -c 'echo > billing.py'",
        'git merge x',
        'git pull',
        'git stash',
        'git stash pop',
        'git cherry-pick abc',
        'git am a.patch',
        'patch -p1 < a.diff',
        'tar -xf a.tar',
        'unzip a.zip',
        'rsync -a ../other/ .',
        'cp -r ../other/. .',
      ],
      [
        'cat billing.py',
        'cp billing.py x.py',
        'git add billing.py',
        'echo billing.py',
        'touch billing.pyc',
        'git stash list',
        'git fetch',
        'patch -p1 --dry-run < a.diff',
        'tar -tf a.tar',
        'tar -czf /tmp/a.tgz src',
        'tar -xf a.tar -C /tmp/x',
        'unzip -l a.zip',
        'cp -r src lib',
        'git log billing.py',
      ],
    ],
    ['no-modify', 'src/legacy/**', ['rm -rf src', 'touch src/legacy/a/b.ts'], ['touch src/new.ts', 'rm -rf src/new']],
    ['no-modify', '.github/', ['mkdir .github/x', 'rm -r .github'], ['touch .gitignore']],
    ['no-modify', 'package.json', ['npm install left-pad', 'npm pkg set a=b'], ['npm test', 'npm ci']],
    [
      'read-only',
      null,
      ['git commit -m x', 'npm install', 'git checkout main', 'touch a', 'git branch x'],
      ['git status', 'git branch', 'ls', 'touch /tmp/x', 'npm test'],
    ],
    [
      'no-push',
      null,
      [
        'git push',
        'gh pr create',
        'cd x && git push',
        "bash -c 'git push'",
        'git -C . push',
        'git subtree push --prefix a origin b',
      ],
      ['git commit -m "git push"', 'git fetch', 'gh pr view 1'],
    ],
    [
      'no-commit',
      null,
      ['git commit', 'git cherry-pick abc', 'git merge x'],
      ['git status', 'git add .', 'git merge --abort'],
    ],
    [
      'no-network',
      null,
      ['curl https://a.b', 'npm install x', 'git pull', 'ssh h', 'gh pr list', 'docker pull x'],
      ['curl http://localhost:3000', 'git log', 'npm test', 'docker ps'],
    ],
    [
      'no-install',
      null,
      [
        'npm i x',
        'pip install x',
        'python3 -m pip install x',
        'cargo add x',
        'apt-get install x',
        'brew install x',
        'go get x',
      ],
      ['npm ci', 'npm install', 'cargo build', 'npm run install-hooks'],
    ],
    ['no-run', 'terraform apply', ['terraform apply', 'terraform -chdir=x apply'], ['terraform plan']],
    ['no-run', 'tests', ['npm test', 'pytest -q', 'npx vitest'], ['npm run build']],
    ['no-run', 'migrations', ['npx prisma migrate dev', 'rails db:migrate'], ['ls migrations']],
    ['no-delete', null, ['rm a', 'git rm a', 'git clean -fd', 'find . -delete', 'mv a b'], ['rm /tmp/x', 'touch a']],
    ['no-delete', 'data/', ['rm -rf data', 'rm data/a'], ['rm -rf dist']],
    ['no-read', '.env', ['cat .env', 'head app/.env', 'grep x .env'], ['cat .env.example', 'git add .env']],
  ]
  it.each(table)('%s %s', (kind, target, held, free) => {
    const constraints = [{ kind, target }]
    for (const command of held) expect(judged(constraints, 'Bash', { command }).held, command).toBe(true)
    for (const command of free) expect(judged(constraints, 'Bash', { command }).held, command).toBe(false)
  })

  it('of a tool that is known by its name only are held where the name says a change', () => {
    const held = (tool: string, kind: Constraint['kind']) => judged([{ kind, target: null }], tool, { x: 1 }).held
    expect(held('mcp__github__push_files', 'no-push')).toBe(true)
    expect(held('mcp__github__create_pull_request', 'no-push')).toBe(true)
    expect(held('mcp__tracker__delete_issue', 'read-only')).toBe(true)
    expect(held('mcp__tracker__get_issue', 'read-only')).toBe(false)
  })

  it('that are held are not marked as beyond a scope, too', () => {
    const constraints: Constraint[] = [
      { kind: 'scope', target: 'invoice.py' },
      { kind: 'no-modify', target: 'billing.py' },
    ]
    const rules = (file: string) =>
      call('Edit', { file_path: file, old_string: 'a', new_string: 'b' }, { constraints }).rules
    expect(rules('/home/dev/project/billing.py')).toEqual(['SP-CONSTRAINT'])
    expect(rules('/home/dev/project/tax.py')).toEqual(['SP-SCOPE'])
  })

  it('are found by their effect and not by their text', () => {
    const { facts } = bash("printf '%s' 'git push'")
    expect(broken([{ kind: 'no-push', target: null }], { ...WORLD, tool: 'Bash', args: {} }, facts)).toEqual([])
  })
})
