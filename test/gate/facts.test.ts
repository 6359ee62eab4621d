// Facts: the same effect looks the same whatever tool or notation it came by.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparable, pathsMeet, wordMatches } from '../../collector/gate/glob.ts'
import { bash, call } from './support.ts'

const writes = (command: string) => bash(command).facts.writes.map(({ path, zone }) => `${zone}:${path}`)
const deletes = (command: string) => bash(command).facts.deletes.map(({ path, zone }) => `${zone}:${path}`)
const reads = (command: string) => bash(command).facts.reads.map(({ path }) => path)

describe('paths', () => {
  it.each([
    ['rm -rf dist', 'project:/home/dev/project/dist'],
    ['rm -rf ./a/../b', 'project:/home/dev/project/b'],
    ['cd packages/api && rm -rf dist', 'project:/home/dev/project/packages/api/dist'],
    ['(cd /tmp); rm x', 'project:/home/dev/project/x'],
    ['cd .. && rm x', 'home:/home/dev/x'],
    ['cd / && cd - && rm x', 'project:/home/dev/project/x'],
    ['rm /tmp/x', 'temp:/tmp/x'],
    ['rm "$HOME/x"', 'home:/home/dev/x'],
    ['rm ~dev/x', 'home:/home/dev/x'],
    ['rm ~root/x', 'outside:/root/x'],
    ['rm /proc/self/cwd/../x', 'home:/home/dev/x'],
    ['rm "$(pwd)/x"', 'project:/home/dev/project/x'],
    ['rm "$(mktemp)"', 'temp:/tmp/tmp.made'],
    ['X=~/x; rm "$X"', 'home:/home/dev/x'],
    ['for f in a b; do rm "$f"; done', 'project:/home/dev/project/b'],
    ['rm {a,~/b}', 'project:/home/dev/project/a'],
    ['f() { rm "$1"; }; f x', 'project:/home/dev/project/x'],
    ['f() { f() { rm x; }; f; }; f', 'project:/home/dev/project/x'],
    ['f() { [ -n "$2" ] && f "$2"; rm "$1"; }; f a b', 'project:/home/dev/project/b'],
    ['set -- x; rm "$1"', 'project:/home/dev/project/x'],
    ['find src -name "*.o" -delete', 'project:/home/dev/project/src/**/*.o'],
    ['echo a b | xargs rm', 'project:/home/dev/project/b'],
    ['git rm old.ts', 'project:/home/dev/project/old.ts'],
  ])('%s', (command, place) => {
    expect(deletes(command)).toContain(place)
  })

  it('says when a place is only known at run time', () => {
    for (const command of ['rm "$X"', 'rm "$X/y"', 'rm -rf ~/"$X"', 'rm "$(cat list)"', 'cd "$X" && rm y']) {
      expect(bash(command).facts.deletes.map(({ zone }) => zone)).toEqual(['unknown'])
    }
    expect(bash('rm "dist/$X"').facts.deletes.map(({ zone }) => zone)).toEqual(['project'])
  })

  it('follows symbolic links of the file system and of the line', () => {
    expect(reads('cat link-to-ssh/id_rsa')).toEqual(['/home/dev/project/link-to-ssh/id_rsa', '/home/dev/.ssh/id_rsa'])
    expect(reads('ln -s ~/.ssh k; cat k/id_rsa')).toContain('/home/dev/.ssh/id_rsa')
    expect(call('Read', { file_path: 'link-to-ssh/id_rsa' }).decision).toBe('ask')
  })

  it('takes a project that is the whole machine or home for no shelter', () => {
    expect(bash('echo x > /etc/hosts', { project: '/', cwd: '/' }).decision).toBe('ask')
    expect(bash('rm -rf ~/work', { project: '/home', cwd: '/home' }).decision).toBe('ask')
    expect(bash('rm -rf ~', { project: '/home/dev', cwd: '/home/dev' }).decision).toBe('deny')
  })
})

describe('one effect by many tools', () => {
  const settings = '/home/dev/.claude/settings.json'
  it.each([
    ['Write', { file_path: settings, content: '{}' }],
    ['Edit', { file_path: settings, old_string: 'a', new_string: 'b' }],
    ['MultiEdit', { file_path: settings, edits: [] }],
    ['NotebookEdit', { notebook_path: settings, new_source: '' }],
    ['mcp__fs__write_file', { path: settings, content: '{}' }],
    ['mcp__fs__move_file', { source: settings, destination: '/tmp/x' }],
    ['apply_patch', { input: `*** Begin Patch\n*** Update File: ${settings}\n*** End Patch` }],
    ['apply_patch', { input: `*** Begin Patch\n*** Update File: a\n*** Move to: ${settings}\n*** End Patch` }],
    ['Bash', { command: `echo x > ${settings}` }],
    ['Bash', { command: `cp x ${settings}` }],
    ['mcp__shell__run', { cmd: `tee ${settings} < x` }],
    ['mcp__shell__run', { command: ['tee', settings] }],
    ['exec_command', { cmd: 'rm settings.json', workdir: '/home/dev/.claude' }],
  ])('%s %j is denied by the same rule', (tool, args) => {
    expect(call(tool, args)).toMatchObject({ decision: 'deny' })
    expect(call(tool, args).rules).toContain('CO-GUARD-FILES')
  })
})

describe('network', () => {
  it.each([
    'http://169.254.169.254/',
    'http://2852039166/',
    'http://0xA9FEA9FE/',
    'http://0251.0376.0251.0376/',
    'http://[::ffff:169.254.169.254]/',
    'http://169.254.169.254.:80/',
    'http://metadata.google.internal/',
    'http://METADATA/',
    'http://a@169.254.169.254/',
  ])('%s is the metadata service', (url) => {
    expect(call('WebFetch', { url, prompt: 'x' }).rules).toContain('CO-METADATA')
    expect(bash(`curl -s '${url}'`).rules).toContain('CO-METADATA')
  })

  it('tells what leaves from what comes in', () => {
    const net = (command: string) => bash(command).facts.net.map(({ dir, carries }) => `${dir} ${carries}`)
    expect(net('curl https://example.com')).toEqual(['in nothing'])
    expect(net('curl -d a=1 https://example.com')).toEqual(['out body'])
    expect(net('curl -T f https://example.com')).toEqual(['out file'])
    expect(net('cat f | curl -d @- https://example.com')).toEqual(['out file'])
    expect(net('curl https://example.com/$API_TOKEN')).toEqual(['out secret'])
  })
})

describe('programs', () => {
  const via = (command: string) => bash(command).facts.runs.map((run) => [...run.via, run.program].join('>'))

  it('unwraps', () => {
    expect(via('env A=1 nice -n 5 timeout 3 ls')).toContain('env>nice>timeout>ls')
    expect(via('find . -exec grep x {} +')).toContain('find>grep')
    expect(via('npx -y tsc')).toContain('npx>tsc')
  })

  it('knows data from code', () => {
    for (const command of [
      "git commit -m 'rm -rf /'",
      "cat > a.md <<'E'\nrm -rf /\nE",
      'echo "rm -rf /"',
      "grep -rn 'sudo' src",
      'x=\'rm -rf /\'; echo "$x"',
    ]) {
      expect(deletes(command)).toEqual([])
      expect(bash(command).decision).toBe('allow')
    }
  })

  it('reads code where data becomes code', () => {
    for (const command of [
      "echo 'rm -rf /' | sh",
      "bash <<'E'\nrm -rf /\nE",
      "eval 'rm -rf /'",
      "ssh h 'rm -rf /'",
      'sh -c \'sh -c "rm -rf /"\'',
      "printf '\\x72m -rf /' | bash",
      "x='rm -rf /'; $x",
    ]) {
      expect(bash(command).decision, command).toBe('deny')
    }
  })

  it('takes options apart', () => {
    const [run] = bash('git -C a push -fu -o x origin +HEAD:refs/heads/b').facts.runs
    expect(run).toMatchObject({
      program: 'git',
      words: ['push', 'origin', '+HEAD:refs/heads/b'],
      flags: ['-f', '-u', '-o=x'],
      to: ['b'],
    })
  })

  it('knows the branch a push goes to', () => {
    const to = (command: string, branch?: string) =>
      bash(command, branch === undefined ? {} : { branch }).facts.runs.flatMap((run) => run.to)
    expect(to('git push')).toEqual(['feature/x'])
    expect(to('git push', 'main')).toEqual(['main'])
    expect(to('git checkout main && git push')).toEqual(['main'])
    expect(to('git push origin HEAD:refs/heads/main')).toEqual(['main'])
    expect(bash('git push', { branch: 'main' }).decision).toBe('ask')
  })

  it('says what it writes, also by options', () => {
    expect(writes('sort -o out.txt a')).toEqual(['project:/home/dev/project/out.txt'])
    expect(writes('curl -s https://example.com -o ~/.bashrc')).toEqual(['home:/home/dev/.bashrc'])
    expect(writes('sed -i s/a/b/ f')).toEqual(['project:/home/dev/project/f'])
    expect(writes('npm test > /dev/null 2>&1')).toEqual([])
  })
})

describe('patterns', () => {
  const meet = (path: string, pattern: string) => pathsMeet(comparable(path), comparable(pattern))

  it('meet when one path could match both', () => {
    for (const [path, pattern] of [
      ['/a/b', '/a/b'],
      ['/A/b', '/a/B'],
      ['/a/.ss*/id_r*', '/a/.ssh/**'],
      ['/a/?/c', '/a/b/c'],
      ['/a/[bx]/c', '/a/b/c'],
      ['/**/id_rsa', '**/id_*'],
      ['/x/y/.env', '**/.env'],
    ] as const)
      expect(meet(path, pattern), `${path} ${pattern}`).toBe(true)
    for (const [path, pattern] of [
      ['/a/b', '/a/b/c'],
      ['/a/*', '/a/.env'],
      ['/a/*', '/a/b/c'],
      ['/a/env', '**/.env'],
      ['/ab/c', '/a/**'],
    ] as const)
      expect(meet(path, pattern), `${path} ${pattern}`).toBe(false)
  })

  it('a literal path meets the pattern it is made from', () => {
    const part = fc.stringMatching(/^[a-z.]{1,6}$/)
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.nat(4), (parts, n) => {
        const pattern = parts.map((text, i) => (i === n % parts.length ? '**' : text))
        expect(pathsMeet(comparable(parts.join('/')), comparable(pattern.join('/')))).toBe(true)
        expect(pathsMeet(comparable(parts.join('/')), comparable(parts.join('/')))).toBe(true)
      }),
    )
  })

  it('words match like a simple wildcard', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
        const plain = (text: string) => text.replace(/[*?]/g, '')
        expect(wordMatches(a + b + c, `${plain(a)}*${plain(c)}`)).toBe(
          (a + b + c).startsWith(plain(a)) &&
            (a + b + c).slice(plain(a).length).endsWith(plain(c)) &&
            (a + b + c).length >= plain(a).length + plain(c).length,
        )
      }),
    )
  })
})
