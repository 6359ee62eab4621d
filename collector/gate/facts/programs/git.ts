// git: what a push changes, options and settings that run programs, files taken from the history.

import type { Parsed } from '../shell/options.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { deeper, NO_TAINTS, NOTHING, plain, unknownOut } from '../shell/state.ts'
import { configuration, optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const gitReaders: Readers = { git, hub: git, 'git-push': git, yadm: git }

const GLOBAL = names(
  '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source --list-cmds',
)

/** Settings whose value git runs, or that load other settings. */
const RUNS =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass|alternaterefscommand|worktree|attributesfile|excludesfile\.run)|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|gpg\.program|gpg\..*\.program|credential\.(?:.*\.)?helper|alias\..*|pager\..*|(?:difftool|mergetool|browser|man|guitool|instaweb)\..*(?:cmd|path|browser)|interactive\.difffilter|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|url\..*\.(?:insteadof|pushinsteadof)|protocol\.(?:.*\.)?allow|include\.path|includeif\..*|init\.templatedir|submodule\..*\.update|sendemail\..*|trailer\..*\.(?:cmd|command)|hook\..*|tar\..*\.command|receive\..*|http\.(?:.*\.)?(?:proxy|sslverify|extraheader)|ssh\.variant|uploadarchive\..*|maintenance\..*)$/i

const HARMLESS_VALUE =
  /^(?:|cat|less(?: -\w+)?|true|false|always|never|auto|:|vi|vim|nano|code --wait|ssh|store|cache|osxkeychain|manager(?:-core)?|libsecret|input|no|yes|0|1|delta)$/

/** Options after the sub-command that take a value; enough to find operands. */
const VALUED: Record<string, string> = {
  commit:
    '-m -F -C -c -t --message --file --author --date --fixup --squash --reuse-message --reedit-message --template --trailer --cleanup',
  tag: '-m -F -u -n --message --file --local-user --sort --format',
  merge: '-m -F -s -X --message --strategy --strategy-option',
  stash: '-m --message',
  notes: '-m -F -C -c --message --file --ref',
  push: '-o --push-option --repo --receive-pack --exec --signed',
  log: '-n -S -G -L --grep --author --since --until --format --pretty --max-count --date --output',
  diff: '-S -G -U --unified --output --diff-filter',
  show: '--format --pretty --output',
  clone:
    '-b -o -u -c -j --branch --origin --upload-pack --depth --config --template --reference --separate-git-dir --filter',
  fetch: '-j --upload-pack --depth --filter -o',
  pull: '-s -X --upload-pack --depth -o',
  'ls-remote': '--upload-pack --exec -o --sort',
  rebase: '-x --exec -s -X --onto --strategy',
  checkout: '-b -B --orphan --conflict',
  switch: '-c -C --orphan --conflict',
  branch: '-u --set-upstream-to --sort --format --contains --merged',
  grep: '-e -f -m -A -B -C --max-depth',
  config: '--file -f --blob --default --type',
  'format-patch': '-o --output-directory',
  archive: '-o --output --format --prefix --remote --exec',
  worktree: '-b -B --reason',
  remote: '-t -m',
  restore: '-s --source --pathspec-from-file',
  reset: '--pathspec-from-file',
  clean: '-e --exclude',
  submodule: '-b --reference --depth',
  difftool: '-x --extcmd -t --tool',
  bundle: '',
  'filter-branch':
    '--index-filter --tree-filter --msg-filter --env-filter --parent-filter --commit-filter --tag-name-filter --setup -d',
}

function git(cmd: Cmd, shell: Shell): Out {
  const outer = parseOptions(cmd.args, { valued: GLOBAL, stopAtOperand: true })
  for (const value of valuesOf(outer, '-c')) setting(cmd, shell, value.text)
  for (const value of valuesOf(outer, '--config-env'))
    if (RUNS.test(value.text.split('=')[0] ?? '')) shell.sink.feed('option', 'shell', cmd.name)
  for (const value of valuesOf(outer, '--exec-path')) configuration(cmd, shell, value)
  if (hasFlag(outer, '-p', '--paginate')) shell.sink.feed('option', 'shell', cmd.name)
  const [sub, ...rest] = outer.operands
  if (sub === undefined) return unknownOut('command')
  const folder = valuesOf(outer, '-C').map(({ text }) => text)
  const parsed = parseOptions(rest, { valued: names(VALUED[sub.text] ?? '') })
  cmd.run.words = [sub.text, ...parsed.operands.map(({ text }) => text)]
  cmd.run.flags = flagWords(parsed)
  programOptions(cmd, shell, sub.text, parsed)
  subCommand(cmd, shell, sub.text, parsed, folder)
  if (sub.text === 'ls-files' || (sub.text === 'diff' && hasFlag(parsed, '--name-only')))
    return { text: null, taints: NO_TAINTS, fields: [{ ...plain('.'), tree: true }] }
  if (sub.text === 'archive' && valuesOf(parsed, '--remote').length > 0) return unknownOut('network')
  return unknownOut('command', 'file')
}

function setting(cmd: Cmd, shell: Shell, text: string): void {
  const equals = text.indexOf('=')
  const name = equals < 0 ? text : text.slice(0, equals)
  const value = equals < 0 ? '' : text.slice(equals + 1)
  if (name.toLowerCase() === 'core.hookspath') {
    shell.sink.env('core.hooksPath', 'hook_off')
    return
  }
  if (!RUNS.test(name) || HARMLESS_VALUE.test(value.trim())) return
  shell.sink.feed('option', 'shell', cmd.name)
  deeper(shell, () => shell.readText(shell, value.replace(/^!/, ''), NOTHING))
}

/** Options that hand text to a program, whatever the sub-command. */
function programOptions(cmd: Cmd, shell: Shell, sub: string, parsed: Parsed): void {
  const isShort = (name: string) =>
    (sub === 'rebase' && name === '-x') || (sub === 'clone' && name === '-u') || (sub === 'difftool' && name === '-x')
  for (const { name, value } of parsed.flags) {
    if (
      /^--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager)$/.test(name) ||
      /^--\w+-filter$|^--setup$/.test(name) ||
      isShort(name)
    ) {
      const text = value ?? plain('')
      if (sub === 'rebase' || name.endsWith('-filter')) deeper(shell, () => shell.readText(shell, text.text, NOTHING))
      else optionRuns(cmd, shell, text)
    }
    if (name.startsWith('-O') && sub === 'grep') shell.sink.feed('option', 'shell', cmd.name)
    if (name === '--ext-diff' || (name === '--textconv' && sub !== 'grep')) shell.sink.feed('option', 'shell', cmd.name)
    if (/^(?:--output|--output-directory)$/.test(name) || (name === '-o' && /^(?:archive|format-patch)$/.test(sub)))
      shell.sink.write(value?.text ?? '', cmd.name)
    if (name === '--template' && value !== null && /^(?:init|clone)$/.test(sub)) configuration(cmd, shell, value)
    if ((name === '-c' || name === '--config') && sub === 'clone' && value !== null) setting(cmd, shell, value.text)
  }
  for (const { text } of parsed.operands) if (/^ext::/.test(text)) shell.sink.feed('option', 'shell', cmd.name)
}

function subCommand(cmd: Cmd, shell: Shell, sub: string, parsed: Parsed, folder: string[]): void {
  const [first, second] = parsed.operands
  const at = (text: string) => [...folder, text].join('/')
  switch (sub) {
    case 'push':
      push(cmd, shell, parsed)
      return
    case 'config':
      config(cmd, shell, parsed)
      return
    case 'remote':
      if (/^(?:add|set-url)$/.test(first?.text ?? '') && second !== undefined) shell.remotes.add(second.text)
      return
    case 'checkout':
    case 'switch': {
      const made =
        valuesOf(parsed, '-b', '-B', '-c', '-C', '--orphan')[0] ?? (parsed.rest.length === 0 ? first : undefined)
      if (made !== undefined && parsed.operands.length <= 2) shell.scope.branch = made.text
      return
    }
    case 'bisect':
      if (first?.text === 'run') inner(cmd, shell, cmd.args.slice(cmd.args.indexOf(first) + 1))
      return
    case 'submodule':
      if (first?.text === 'foreach') inner(cmd, shell, parsed.operands.slice(1))
      return
    case 'show':
    case 'diff':
    case 'blame':
    case 'log':
    case 'cat-file':
    case 'grep':
    case 'annotate':
    case 'archive':
      for (const { text } of sub === 'grep' ? parsed.operands.slice(1) : parsed.operands)
        shell.sink.read(at(text.replace(/^[^/:]*:(?=.)/, '')), cmd.name)
      return
    case 'add':
    case 'stage':
      for (const { text } of parsed.operands) shell.sink.read(at(text), cmd.name)
      return
    case 'rm':
      if (!hasFlag(parsed, '--cached', '-n', '--dry-run'))
        for (const { text } of parsed.operands) if (text !== '.') shell.sink.delete(at(text), cmd.name)
      return
    case 'fetch':
    case 'pull':
    case 'clone':
    case 'ls-remote':
      if (first !== undefined && /:\/\/|^[^/]+@[^/]+:/.test(first.text))
        shell.sink.net(first.text, cmd.name, { computed: first.taints.size > 0 })
      if (sub === 'clone' && second !== undefined) shell.sink.write(second.text, 'git-clone')
  }
}

function inner(cmd: Cmd, shell: Shell, words: Field[]): void {
  const [only] = words
  if (words.length === 1 && only !== undefined) deeper(shell, () => shell.readText(shell, only.text, NOTHING))
  else shell.runFields(shell, words, NOTHING, [...cmd.via, cmd.name])
}

/** Branches a push changes; one `*` stands for all. */
function push(cmd: Cmd, shell: Shell, parsed: Parsed): void {
  const [remote, ...refs] = parsed.operands
  const repository = valuesOf(parsed, '--repo')[0] ?? remote
  const to = cmd.run.to
  if (hasFlag(parsed, '--all', '--mirror', '--branches', '--prune')) to.push('*')
  if (refs.length === 0 && !hasFlag(parsed, '--tags', '--all', '--mirror', '--branches'))
    to.push(shell.scope.branch ?? 'HEAD')
  for (const { text } of refs) {
    const spec = text.replace(/^\+/, '')
    const target = spec.slice(spec.lastIndexOf(':') + 1).replace(/^refs\/heads\//, '')
    to.push(target === 'HEAD' || target === '@' || target === '' ? (shell.scope.branch ?? 'HEAD') : target)
  }
  if (repository === undefined) {
    if (shell.remotes.size > 0) shell.sink.net('https://git-remote/', cmd.name, { dir: 'out', carries: 'file' })
    return
  }
  const { text } = repository
  const onTheLine = /:\/\/|^[^/]+@[^/]+:|^[./~]/.test(text) || shell.remotes.has(text)
  if (onTheLine)
    shell.sink.net(text.includes('://') ? text : `ssh://${text.replace(/:.*/, '')}`, cmd.name, {
      dir: 'out',
      carries: 'file',
      computed: repository.taints.size > 0,
    })
}

function config(cmd: Cmd, shell: Shell, parsed: Parsed): void {
  const words = parsed.operands.map(({ text }) => text)
  const verbs = /^(?:get|set|list|unset|edit|rename-section|remove-section)$/
  const verb = verbs.test(words[0] ?? '') ? words.shift() : undefined
  const reads =
    verb === 'get' ||
    verb === 'list' ||
    hasFlag(parsed, '--get', '--get-all', '--get-regexp', '--list', '-l', '--get-urlmatch', '--show-origin')
  const [name, value] = words
  if (
    reads ||
    name === undefined ||
    (value === undefined &&
      verb === undefined &&
      !parsed.flags.some((flag) => /^--(?:unset|add|replace-all|edit)/.test(flag.name)))
  )
    return
  if (hasFlag(parsed, '--global')) shell.sink.write(`${shell.home}/.gitconfig`, cmd.name)
  if (hasFlag(parsed, '--system')) shell.sink.write('/etc/gitconfig', cmd.name)
  for (const file of valuesOf(parsed, '--file', '-f')) shell.sink.write(file.text, cmd.name)
  if (/^(?:core\.hookspath)$/i.test(name)) shell.sink.env('core.hooksPath', 'hook_off')
  if (value !== undefined && RUNS.test(name)) {
    if (!HARMLESS_VALUE.test(value.trim())) optionRuns(cmd, shell, withText(undefined, value))
  }
}
