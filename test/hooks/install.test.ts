// Installing into and out of settings files that people already have, compared byte by byte.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { build } from 'esbuild'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../../hooks/claude-code/adapter.ts'
import {
  claudeSettingsFile,
  type InstallOptions,
  installClaude,
  readInstalls,
  settingsProblem,
  uninstallClaude,
} from '../../hooks/install.ts'
import { addItem, addProperty, remove } from '../../hooks/settings/edit.ts'

let root: string
let options: InstallOptions
let file: string
beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/sps-it's "höme" `)
  const home = `${root}/.spanseal`
  const quoted = `'${home.replaceAll("'", "'\\''")}/bin/0.1.0/hook.sh'`
  const now = new Date('2026-11-30T12:00:00Z')
  options = { home, userHome: root, command: quoted, mode: 'enforce', failMode: 'closed', now }
  file = claudeSettingsFile(options)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (content: string | Uint8Array) => {
  mkdirSync(`${root}/.claude`, { recursive: true })
  writeFileSync(file, content)
}
const bytes = () => (existsSync(file) ? readFileSync(file) : null)
const text = () => readFileSync(file, 'utf8')
const settings = () => JSON.parse(text().replace(/^\ufeff/, ''))
const backups = () => readdirSync(`${root}/.claude`).filter((name) => name.includes('backup'))
/** The installer of another version, with its own command. */
const otherVersion = () => ({ ...options, command: options.command.replace('0.1.0', '0.0.9') })
const ok = (result: { ok: boolean }) => expect(result).toMatchObject({ ok: true })

/** Every character of the old text but white space is in the new one, in the same order: things were only put in between. */
function isWithin(old: string, now: string): boolean {
  let at = 0
  for (const char of old.replace(/[ \t\r\n]/g, '')) {
    at = now.indexOf(char, at) + 1
    if (at === 0) return false
  }
  return true
}

const FOREIGN = { type: 'command', command: 'npx other-tool hook', timeout: 5 }
const TABLE: Record<string, string | Uint8Array | null> = {
  'no file': null,
  'an empty object': '{}',
  'an empty file': '',
  'only white space': '\n  \n',
  'other settings': '{\n  "model": "opus",\n  "permissions": { "allow": ["Bash"] }\n}\n',
  'one line': '{"model":"opus","env":{"A":"1"}}',
  'four spaces, no line feed at the end': '{\n    "model": "opus"\n}',
  tabs: '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n',
  CRLF: '{\r\n  "model": "opus",\r\n  "env": {}\r\n}\r\n',
  'a byte order mark': '\ufeff{\n  "model": "opus"\n}\n',
  'foreign hooks': JSON.stringify(
    {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [FOREIGN] }], Notification: [{ hooks: [FOREIGN] }] },
      model: 'x',
    },
    null,
    2,
  ),
  'foreign hooks in odd formatting': `{ "hooks" : {"PreToolUse":[ {"hooks":[${JSON.stringify(FOREIGN)} ] }\n\n ]} ,"a":1 }`,
  'empty hooks': '{"hooks": {}}',
  'an empty event': '{"hooks": {"PreToolUse": [], "Stop": [ ]}}',
  'reasoning already decided': '{\n  "showThinkingSummaries": false\n}\n',
  'numbers and text that a parser would rewrite':
    '{"big": 12345678901234567890, "f": 1.0, "u": "\\u00e9\\/", "dup": {"a":1}}',
}

describe.each(Object.keys(TABLE))('a file with %s', (name) => {
  const before = TABLE[name] ?? null
  beforeEach(() => {
    if (before !== null) put(before)
  })

  it('gets our entries, keeps every other byte, and gets its bytes back', () => {
    const result = installClaude(options)
    expect(result).toMatchObject({ ok: true, changed: true, warnings: [] })
    if (before !== null) {
      expect(isWithin(String(before), text())).toBe(true)
      expect(text().startsWith('\ufeff')).toBe(String(before).startsWith('\ufeff'))
      expect(/[^\r]\n/.test(text())).toBe(!String(before).includes('\r\n'))
    }
    const after = settings()
    const old = before === null || String(before).trim() === '' ? {} : JSON.parse(String(before).replace(/^\ufeff/, ''))
    for (const key of Object.keys(old)) if (key !== 'hooks') expect(after[key]).toEqual(old[key])
    for (const [event, groups] of Object.entries(old.hooks ?? {})) {
      expect(after.hooks[event].slice(0, (groups as unknown[]).length)).toEqual(groups)
    }
    expect(after.showThinkingSummaries).toBe(old.showThinkingSummaries ?? true)
    for (const [event, rule] of Object.entries(claudeCode.events)) {
      expect(after.hooks[event].at(-1)).toEqual({
        hooks: [
          expect.objectContaining({
            type: 'command',
            command: `${options.command} claude-code ${event}`,
            timeout: rule.timeoutSeconds,
          }),
        ],
      })
    }
    expect(settingsProblem(text(), readInstalls(options.home)[0] ?? null)).toBe('none')

    if (before === null) expect(result).not.toHaveProperty('backup')
    else {
      expect(backups().length).toBe(1)
      expect(readFileSync(`${root}/.claude/${backups()[0]}`)).toEqual(Buffer.from(before))
    }
    ok(uninstallClaude(options)[0] ?? { ok: false })
    expect(bytes()).toEqual(before === null ? null : Buffer.from(before))
    expect(readInstalls(options.home)).toEqual([])
  })

  it('twice is the same bytes and one backup', () => {
    installClaude(options)
    const once = bytes()
    const state = readFileSync(`${options.home}/installs.json`)
    expect(installClaude(options)).toMatchObject({ ok: true, changed: false, diff: '' })
    expect(bytes()).toEqual(once)
    expect(readFileSync(`${options.home}/installs.json`)).toEqual(state)
    expect(backups().length).toBe(before === null ? 0 : 1)
  })

  it('an older version is replaced, and the bytes from before it come back', () => {
    installClaude(options)
    const wanted = bytes()
    uninstallClaude(options)
    installClaude(otherVersion())
    installClaude(options)
    expect(bytes()).toEqual(wanted)
    uninstallClaude(options)
    expect(bytes()).toEqual(before === null ? null : Buffer.from(before))
  })

  it('a dry run says it and does nothing', () => {
    const result = installClaude({ ...options, dryRun: true })
    expect(result.ok && result.diff).toContain('+')
    expect(result.ok && result.diff).toContain('claude-code PreToolUse')
    expect(bytes()).toEqual(before === null ? null : Buffer.from(before))
    expect(existsSync(options.home)).toBe(false)
    installClaude(options)
    const installed = bytes()
    const [undo] = uninstallClaude({ ...options, dryRun: true })
    expect(undo?.ok && undo.diff).toContain('-')
    expect(bytes()).toEqual(installed)
  })

  it('what the person changed after us stays when we leave', () => {
    installClaude(options)
    const changed = addProperty(addItem(text(), ['hooks', 'PreToolUse'], { hooks: [FOREIGN] }), [], 'later', 'added')
    writeFileSync(file, `${changed}// a comment, added by hand\n`)
    expect(uninstallClaude(options)[0]).toMatchObject({ ok: true, changed: true, backup: expect.anything() })
    expect(text()).toContain('// a comment, added by hand')
    expect(text()).not.toContain('.spanseal')
    const left = JSON.parse(
      text()
        .replace(/^\ufeff/, '')
        .replace(/\/\/.*/, ''),
    )
    const old = before === null || String(before).trim() === '' ? {} : JSON.parse(String(before).replace(/^\ufeff/, ''))
    const hooks = { ...old.hooks, PreToolUse: [...(old.hooks?.PreToolUse ?? []), { hooks: [FOREIGN] }] }
    expect(left).toEqual({ ...old, hooks, later: 'added' })
  })
})

describe('a file that cannot be edited is refused by name and left alone', () => {
  it.each([
    ['broken JSON', '{"model": '],
    ['a comment', '{\n  // mine\n  "model": "opus"\n}\n'],
    ['a trailing comma', '{"model": "opus",}'],
    ['a key twice', '{"hooks": {}, "hooks": {}}'],
    ['an event twice', '{"hooks": {"Stop": [], "Stop": []}}'],
    ['a list', '[]'],
    ['hooks that are no object', '{"hooks": []}'],
    ['an event that is no list', '{"hooks": {"Stop": {}}}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s', (_name, content) => {
    put(content)
    const result = installClaude(options)
    expect(result).toMatchObject({ ok: false, file })
    expect(!result.ok && result.message).toContain(file)
    expect(bytes()).toEqual(Buffer.from(content))
    expect(backups()).toEqual([])
    expect(existsSync(options.home)).toBe(false)
  })

  it('a symlink, a folder, a symlinked folder of a project', () => {
    mkdirSync(`${root}/.claude`)
    writeFileSync(`${root}/elsewhere.json`, '{}')
    symlinkSync(`${root}/elsewhere.json`, file)
    expect(installClaude(options)).toMatchObject({ ok: false, message: expect.stringContaining('symlink') })
    expect(uninstallClaude(options)).toMatchObject([{ ok: false, message: expect.stringContaining('symlink') }])
    expect(readFileSync(`${root}/elsewhere.json`, 'utf8')).toBe('{}')
    rmSync(file)
    mkdirSync(file)
    expect(installClaude(options)).toMatchObject({ ok: false, message: expect.stringContaining('not a plain file') })
    mkdirSync(`${root}/project`)
    mkdirSync(`${root}/target`)
    symlinkSync(`${root}/target`, `${root}/project/.claude`)
    expect(installClaude({ ...options, project: `${root}/project` })).toMatchObject({ ok: false })
    expect(readdirSync(`${root}/target`)).toEqual([])
  })

  it('a broken file is refused on the way out too', () => {
    installClaude(options)
    writeFileSync(file, `${text()}}`)
    expect(uninstallClaude(options)).toMatchObject([{ ok: false, message: expect.stringContaining('by hand') }])
    expect(readInstalls(options.home).length).toBe(1)
  })

  // Root may write anywhere, so the installer runs as another user here.
  it('a read-only file and a read-only folder', async () => {
    put('{}')
    const bundle = `${root}/install.mjs`
    await build({
      entryPoints: ['hooks/install.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
      outfile: bundle,
    })
    const script = `import { installClaude } from ${JSON.stringify(bundle)}
      const options = JSON.parse(process.argv[1]); options.now = new Date(options.now)
      console.log(JSON.stringify(installClaude(options)))`
    const asOther = () => {
      const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
      const out = execFileSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(options)], {
        cwd: '/',
        encoding: 'utf8',
        ...other,
      })
      return JSON.parse(out)
    }
    for (const path of [`${root}/.claude`, bundle]) chmodSync(path, 0o755)
    // Only the settings file stands in the way.
    chmodSync(root, 0o777)
    chmodSync(file, 0o444)
    chmodSync(`${root}/.claude`, 0o777)
    expect(asOther()).toMatchObject({ ok: false, file, message: expect.stringContaining('EACCES') })
    chmodSync(file, 0o666)
    chmodSync(`${root}/.claude`, 0o555)
    expect(asOther()).toMatchObject({ ok: false, file, message: expect.stringContaining('EACCES') })
    expect(text()).toBe('{}')
    chmodSync(`${root}/.claude`, 0o755)
  })
})

describe('what is registered', () => {
  it('enforce, fail closed: both gates block on every failure, a held call says where to answer', () => {
    installClaude(options)
    const { hooks } = settings()
    const handler = (event: string) => hooks[event][0].hooks[0]
    expect(Object.keys(hooks)).toEqual(Object.keys(claudeCode.events))
    expect(handler('PreToolUse')).toMatchObject({ timeout: 600, onFailure: 'block' })
    expect(handler('PreToolUse').statusMessage).toContain('spanseal approvals list')
    expect(handler('ConfigChange')).toMatchObject({ timeout: 60, onFailure: 'block' })
    expect(handler('SessionEnd').timeout).toBe(20)
    for (const event of Object.keys(hooks)) {
      expect(hooks[event][0]).not.toHaveProperty('matcher')
      expect('onFailure' in handler(event)).toBe(['PreToolUse', 'ConfigChange'].includes(event))
    }
  })

  it('enforce, fail open: nothing blocks on failure', () => {
    installClaude({ ...options, failMode: 'open' })
    expect(text()).not.toContain('onFailure')
  })

  it('observe: nothing blocks, nothing is shown, no event whose silence is an answer', () => {
    installClaude({ ...options, mode: 'observe' })
    expect(text()).not.toMatch(/onFailure|statusMessage|PermissionRequest/)
    expect(Object.keys(settings().hooks)).toContain('PreToolUse')
  })

  it('a mode can be changed, and undone to the beginning', () => {
    put('{"model":"opus"}')
    installClaude(options)
    installClaude({ ...options, mode: 'observe' })
    expect(text()).not.toContain('PermissionRequest')
    expect(readInstalls(options.home)).toMatchObject([{ mode: 'observe' }])
    uninstallClaude(options)
    expect(text()).toBe('{"model":"opus"}')
  })

  it('readable reasoning: only when asked, and a value changed by the person stays', () => {
    installClaude({ ...options, thinkingSummaries: false })
    expect(settings()).not.toHaveProperty('showThinkingSummaries')
    installClaude(options)
    writeFileSync(file, text().replace('"showThinkingSummaries": true', '"showThinkingSummaries": false'))
    uninstallClaude(options)
    expect(settings()).toEqual({ showThinkingSummaries: false })
  })

  it('the places: person, CLAUDE_CONFIG_DIR, project', () => {
    mkdirSync(`${root}/project`)
    const project = { ...options, project: `${root}/project` }
    const other = { ...options, configDir: `${root}/config` }
    for (const each of [options, other, project]) ok(installClaude(each))
    expect(readInstalls(options.home).map((install) => install.file)).toEqual([
      `${root}/.claude/settings.json`,
      `${root}/config/settings.json`,
      `${root}/project/.claude/settings.local.json`,
    ])
    expect(uninstallClaude(options).every((result) => result.ok && result.changed)).toBe(true)
    expect(existsSync(`${root}/project/.claude/settings.local.json`)).toBe(false)
  })

  it('modes of the file and of our state', () => {
    put('{}')
    chmodSync(file, 0o640)
    installClaude(options)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(statSync(`${options.home}/installs.json`).mode & 0o777).toBe(0o600)
  })

  it('says so when all hooks are switched off', () => {
    put('{"disableAllHooks": true}')
    expect(installClaude(options)).toMatchObject({ ok: true, warnings: [expect.stringContaining('disableAllHooks')] })
  })

  it('entries are found and undone even when our state is lost; another home’s entries stay', () => {
    const foreign = "'/other/home/bin/0.1.0/hook.sh' claude-code PreToolUse"
    put(JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: foreign }] }] } }))
    installClaude({ ...options, thinkingSummaries: false })
    rmSync(`${options.home}/installs.json`)
    expect(uninstallClaude(options)).toMatchObject([{ ok: true, changed: true }])
    expect(settings()).toEqual({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: foreign }] }] } })
  })

  it('a crash between state and file leaves nothing that cannot be undone', () => {
    put('{"model":"opus"}')
    installClaude(options)
    writeFileSync(file, '{"model":"opus"}')
    expect(uninstallClaude(options)).toMatchObject([{ ok: true, changed: false }])
    expect(text()).toBe('{"model":"opus"}')
    expect(readInstalls(options.home)).toEqual([])
  })
})

describe('settingsProblem', () => {
  it.each<[string, (now: string) => string | null, string]>([
    ['as installed', (now) => now, 'none'],
    ['other settings beside ours', (now) => addProperty(now, [], 'model', 'x'), 'none'],
    ['other hooks beside ours', (now) => addItem(now, ['hooks', 'Stop'], { hooks: [FOREIGN] }), 'none'],
    ['a byte order mark', (now) => `\ufeff${now}`, 'none'],
    ['the file is gone', () => null, 'hooks_missing'],
    ['an empty file', () => '', 'hooks_missing'],
    ['hooks are gone', (now) => remove(now, ['hooks']), 'hooks_missing'],
    ['one entry is gone', (now) => remove(now, ['hooks', 'PostToolUse']), 'hooks_missing'],
    ['hooks are overridden by a second key', (now) => now.replace(/\}\s*$/, ', "hooks": {}}'), 'hooks_missing'],
    ['hooks only lent by a prototype', (now) => `{"__proto__": ${now}}`, 'hooks_missing'],
    ['another command', (now) => now.replace('hook.sh', 'hook.sh.old'), 'hooks_missing'],
    ['a matcher', (now) => addProperty(now, ['hooks', 'PreToolUse', 0], 'matcher', 'Read'), 'hooks_changed'],
    ['a matcher for every tool', (now) => addProperty(now, ['hooks', 'PreToolUse', 0], 'matcher', '*'), 'none'],
    ['async', (now) => addProperty(now, ['hooks', 'PreToolUse', 0, 'hooks', 0], 'async', true), 'hooks_changed'],
    ['a shorter timeout', (now) => now.replace('"timeout": 600', '"timeout": 1'), 'hooks_changed'],
    ['no onFailure', (now) => now.replace('"onFailure": "block",', ''), 'hooks_changed'],
    ['all hooks off', (now) => addProperty(now, [], 'disableAllHooks', true), 'hooks_disabled'],
    ['all hooks explicitly on', (now) => addProperty(now, [], 'disableAllHooks', false), 'none'],
    ['a comment', (now) => `// x\n${now}`, 'unreadable'],
    ['broken', (now) => now.slice(0, -5), 'unreadable'],
    ['a list', () => '[]', 'unreadable'],
  ])('%s', (_name, change, problem) => {
    installClaude(options)
    const [install] = readInstalls(options.home)
    if (install === undefined) throw new Error('no install')
    expect(settingsProblem(change(text()), install)).toBe(problem)
  })

  it('in a file we are not in, only switching hooks off counts', () => {
    expect(settingsProblem('{}', null)).toBe('none')
    expect(settingsProblem(null, null)).toBe('none')
    expect(settingsProblem('{"disableAllHooks": true}', null)).toBe('hooks_disabled')
    expect(settingsProblem('{', null)).toBe('unreadable')
  })
})

describe('edits', () => {
  it('a comment keeps its place when something is added or removed', () => {
    const before = '{\n  // first\n  "a": 1, // one\n  "b": 2 // two\n  // last\n}\n'
    const added = addProperty(before, [], 'c', [3])
    expect(added).toBe('{\n  // first\n  "a": 1, // one\n  "b": 2, // two\n  // last\n  "c": [\n    3\n  ]\n}\n')
    expect(remove(added, ['c'])).toBe(before)
    expect(remove(before, ['a'])).toBe('{\n  // first\n   // one\n  "b": 2 // two\n  // last\n}\n')
    expect(addProperty('{"a":1,}', [], 'b', 2)).toBe('{"a":1,\n  "b": 2\n}')
  })

  it('add and remove mean what they say, in whatever formatting', () => {
    const indent = fc.constantFrom(undefined, 1, 2, '\t', 8)
    const key = fc.string({ maxLength: 4 }).filter((name) => name !== '__proto__')
    const value = fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.array(fc.integer(), { maxLength: 2 }))
    fc.assert(
      fc.property(
        fc.dictionary(key, value, { noNullPrototype: true }),
        indent,
        key,
        value,
        (object, space, name, more) => {
          fc.pre(!Object.hasOwn(object, name))
          const before = JSON.stringify(object, null, space)
          const added = addProperty(before, [], name, more)
          expect(JSON.parse(added)).toEqual({ ...object, [name]: more })
          expect(JSON.parse(remove(added, [name]))).toEqual(object)
          for (const old of Object.keys(object)) {
            const { [old]: _gone, ...rest } = { ...object, [name]: more }
            expect(JSON.parse(remove(added, [old]))).toEqual(rest)
          }
        },
      ),
    )
  })
})
