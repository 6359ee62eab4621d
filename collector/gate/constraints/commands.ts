// What programs do that their paths don't show: version control, package managers, and tools of servers that are known by name only.
import type { Facts, Run } from '../call.ts'

/** git subcommands that change nothing in the project; every other one counts as a change. */
const GIT_READS = new Set(
  'status log diff show blame grep describe shortlog reflog ls-files ls-tree ls-remote rev-parse rev-list cat-file count-objects config remote fetch help version whatchanged name-rev merge-base for-each-ref check-ignore check-attr verify-commit verify-tag archive bundle difftool var'.split(
    ' ',
  ),
)
/** git subcommands that only list without further words. */
const GIT_LISTS = new Set(['branch', 'tag', 'stash', 'worktree', 'notes', 'submodule'])
const GIT_COMMITS = new Set(['commit', 'am', 'cherry-pick', 'revert', 'merge', 'rebase', 'commit-tree', 'citool'])
const GIT_NETWORK = new Set(['push', 'fetch', 'pull', 'clone', 'ls-remote', 'send-email', 'svn', 'lfs'])
/** git subcommands that can change any file of the project. */
const GIT_TREE = new Set(
  'apply am clean read-tree checkout-index filter-branch filter-repo merge pull cherry-pick revert rebase'.split(' '),
)

/** Whether `git stash` here takes changes out of the project's files or puts some back. */
const stashes = ({ words }: Run) =>
  words[0] === 'stash' && !/^(?:list|show|drop|clear|create|store)$/.test(words[1] ?? '')

const subOf = (run: Run) => run.words[0] ?? ''

function git(run: Run): string | null {
  return run.program === 'git' ? subOf(run) : null
}

export function commits(facts: Facts): boolean {
  return (
    facts.runs.some((run) => {
      const sub = git(run)
      if (sub !== null)
        return GIT_COMMITS.has(sub) && !run.flags.includes('--abort') && !run.flags.includes('--no-commit')
      if (run.program === 'hg' || run.program === 'svn' || run.program === 'jj')
        return /^(?:commit|ci|new|describe|squash)$/.test(subOf(run))
      return run.program === 'gh' && subOf(run) === 'pr' && run.words[1] === 'merge'
    }) || named(facts, /commit|push_files|create_or_update_file|merge_pull/)
  )
}

export function pushes(facts: Facts): boolean {
  return (
    facts.runs.some((run) => {
      const sub = git(run)
      if (sub !== null)
        return (
          sub === 'push' ||
          sub === 'send-pack' ||
          sub === 'http-push' ||
          (sub === 'svn' && run.words[1] === 'dcommit') ||
          ((sub === 'lfs' || sub === 'subtree') && run.words[1] === 'push')
        )
      if (run.program === 'gh' || run.program === 'glab' || run.program === 'hub')
        return (
          opensRequest(run) ||
          (/^(?:release|repo)$/.test(subOf(run)) && /^(?:create|upload|sync)$/.test(run.words[1] ?? ''))
        )
      if (run.program === 'jj') return subOf(run) === 'git' && run.words[1] === 'push'
      return (
        (run.program === 'hg' && subOf(run) === 'push') || (run.program === 'svn' && /^(?:commit|ci)$/.test(subOf(run)))
      )
    }) || named(facts, /push|create_pull_request|create_merge_request|create_or_update_file|merge_pull/)
  )
}

/** Whether a run opens or merges a pull request. */
export function opensRequest(run: Run): boolean {
  if (run.program === 'gh' || run.program === 'glab')
    return /^(?:pr|mr)$/.test(subOf(run)) && /^(?:create|new|merge|reopen|ready)$/.test(run.words[1] ?? '')
  return run.program === 'hub' && subOf(run) === 'pull-request'
}

/** Managers, the subcommands that add a package, and whether one without a package's name adds only what is written down already. */
const MANAGERS: Record<string, RegExp> = {
  npm: /^(?:install|i|add|in|isntall|link)$/,
  pnpm: /^(?:add|install|i|link)$/,
  yarn: /^(?:add|global)$/,
  bun: /^(?:add|install|i)$/,
  pip: /^install$/,
  pip3: /^install$/,
  pipx: /^(?:install|inject)$/,
  uv: /^(?:add|pip|tool)$/,
  poetry: /^add$/,
  pdm: /^add$/,
  conda: /^(?:install|create)$/,
  mamba: /^(?:install|create)$/,
  cargo: /^(?:add|install|binstall)$/,
  go: /^(?:get|install)$/,
  gem: /^install$/,
  bundle: /^add$/,
  composer: /^require$/,
  dotnet: /^(?:add|tool)$/,
  apt: /^install$/,
  'apt-get': /^install$/,
  apk: /^add$/,
  dnf: /^install$/,
  yum: /^install$/,
  pacman: /^-S/,
  brew: /^(?:install|tap)$/,
  winget: /^install$/,
  choco: /^install$/,
  snap: /^install$/,
  flatpak: /^install$/,
  deno: /^(?:add|install)$/,
  nix: /^(?:profile|shell)$/,
}

interface Managed {
  manager: string
  sub: string
  words: string[]
}

function managed(run: Run): Managed | null {
  if (/^python[\d.]*$|^py$/.test(run.program) && run.words[0] === 'pip')
    return { manager: 'pip', sub: run.words[1] ?? '', words: run.words.slice(2) }
  if (!Object.hasOwn(MANAGERS, run.program)) return null
  return { manager: run.program, sub: subOf(run), words: run.words.slice(1) }
}

/** Whether something is installed that was not written down in the project before; of a name, only that. */
export function installs(facts: Facts, name: string | null): boolean {
  return facts.runs.some((run) => {
    const found = managed(run)
    if (found === null) return false
    if (found.manager === 'pacman') return run.flags.some((flag) => flag === '-S')
    const pattern = MANAGERS[found.manager]
    if (!pattern?.test(found.sub)) return false
    return name === null ? found.words.length > 0 : found.words.some((word) => word.toLowerCase().startsWith(name))
  })
}

/** Files that adding a package writes. */
const WRITTEN: Record<string, string[]> = {
  npm: ['package.json', 'package-lock.json'],
  pnpm: ['package.json', 'pnpm-lock.yaml'],
  yarn: ['package.json', 'yarn.lock'],
  bun: ['package.json', 'bun.lock', 'bun.lockb'],
  cargo: ['Cargo.toml', 'Cargo.lock'],
  poetry: ['pyproject.toml', 'poetry.lock'],
  pdm: ['pyproject.toml', 'pdm.lock'],
  uv: ['pyproject.toml', 'uv.lock'],
  go: ['go.mod', 'go.sum'],
  bundle: ['Gemfile', 'Gemfile.lock'],
  composer: ['composer.json', 'composer.lock'],
}
const REWRITES =
  /^(?:install|i|add|in|remove|rm|uninstall|un|update|up|upgrade|pkg|version|get|mod|require|dedupe|audit)$/

/** Names of files in the project that a package manager or git would change. */
export function rewritten(facts: Facts): { names: string[]; anything: boolean } {
  const names: string[] = []
  let anything = false
  for (const run of facts.runs) {
    const sub = git(run)
    if (sub !== null) {
      if (/^(?:checkout|restore|rm|mv)$/.test(sub)) {
        names.push(...run.words.slice(1))
        if (run.words.slice(1).some((word) => /^(?:\.|:\/|\*)/.test(word) && word.length <= 2)) anything = true
      }
      if (
        GIT_TREE.has(sub) ||
        stashes(run) ||
        (sub === 'reset' && run.flags.some((flag) => /^--(?:hard|merge|keep)$/.test(flag)))
      )
        anything = true
    }
    // Which files it changes, only the patch says.
    if (run.program === 'patch' && !run.flags.includes('--dry-run')) anything = true
    const found = managed(run)
    if (found !== null && REWRITES.test(found.sub)) names.push(...(WRITTEN[found.manager] ?? []))
  }
  return { names, anything }
}

/** Whether a call changes the project or its history in a way that no path shows. */
export function changes(facts: Facts): boolean {
  return (
    facts.runs.some((run) => {
      const sub = git(run)
      if (sub !== null) {
        if (GIT_LISTS.has(sub))
          return run.words.length > 1 ? !/^(?:list|show|status)$/.test(run.words[1] ?? '') : sub === 'stash'
        if (sub === 'config' || sub === 'remote')
          return run.words.length > (sub === 'config' ? 2 : 1) && run.words[1] !== 'show' && run.words[1] !== 'get-url'
        return sub !== '' && !GIT_READS.has(sub)
      }
      const found = managed(run)
      return (
        found !== null &&
        (REWRITES.test(found.sub) || found.sub === 'ci' || MANAGERS[found.manager]?.test(found.sub) === true)
      )
    }) || named(facts, CHANGING)
  )
}

/** Words in the name of a tool that is known by name only. */
const CHANGING =
  /create|update|delete|remove|write|edit|push|commit|merge|insert|rename|move|upload|patch|apply|append|replace|save|add_/

const NETWORK_PROGRAMS =
  /^(?:gh|glab|hub|aws|gcloud|az|kubectl|helm|doctl|flyctl|heroku|vercel|netlify|wrangler|ssh|scp|sftp|rsync|ftp|telnet|ping|dig|nslookup|host|traceroute|whois|brew|apt|apt-get|apk|dnf|yum|pacman|snap|flatpak|winget|choco)$/
const NETWORK_SUBS: Record<string, RegExp> = {
  docker: /^(?:pull|push|login|build|search)$/,
  podman: /^(?:pull|push|login|build|search)$/,
  terraform: /^(?:init|apply|plan|get|login|import|refresh)$/,
  go: /^(?:get|install|mod)$/,
  cargo: /^(?:add|install|fetch|update|publish|search|login)$/,
  npm: /^(?:install|i|add|ci|publish|view|info|show|search|outdated|audit|update|up|login|pack|exec|create|init)$/,
  pnpm: /^(?:install|i|add|publish|dlx|update|up|outdated|audit|create)$/,
  yarn: /^(?:install|add|publish|dlx|up|upgrade|create|npm)$/,
  bun: /^(?:install|i|add|update|publish|x)$/,
  bundle: /^(?:install|add|update)$/,
  poetry: /^(?:add|install|update|lock|publish)$/,
  uv: /^(?:add|sync|pip|lock|tool|publish)$/,
}

/** Whether a call would talk to something outside this machine. */
export function talks(facts: Facts): boolean {
  if (facts.net.some(({ kind }) => kind !== 'local')) return true
  return facts.runs.some((run) => {
    const sub = git(run)
    if (sub !== null)
      return (
        GIT_NETWORK.has(sub) ||
        (sub === 'remote' && run.words[1] === 'update') ||
        (sub === 'submodule' && run.words[1] === 'update')
      )
    if (NETWORK_PROGRAMS.test(run.program)) return true
    const found = managed(run)
    if (found !== null && MANAGERS[found.manager]?.test(found.sub) === true) return true
    return NETWORK_SUBS[run.program]?.test(subOf(run)) === true
  })
}

function named({ tool, knownTool }: Facts, pattern: RegExp): boolean {
  return !knownTool && pattern.test(tool.toLowerCase())
}
