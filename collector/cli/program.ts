// What a person can type: every command with its arguments and options. What each does is in commands/, loaded when it is called.
import { Command, Option } from 'commander'
import { KEY_REVOCATIONS } from '../../conventions/decision.ts'
import { FEATURES, type Feature } from '../../conventions/stability.ts'
import { DEFAULT_HOURS, SOURCE_USAGE } from './against-usage.ts'
import { type CommandModule, type Options, resolveHome } from './context.ts'

declare const SPANSEAL_VERSION: string

interface CommandLine {
  /** As in the table of conventions/stability.ts. */
  name: string
  args?: [usage: string, description: string][]
  options?: [flags: string, description: string, fallback?: string][]
  load: () => Promise<CommandModule>
}

const JSON_OPTION: [string, string] = ['--json', 'print data as JSON']
const KEY_OPTION: [string, string] = ['--key <file>', 'key of the approver who signs (default: the one in the home)']
const BY_OPTION: [string, string] = ['--by <file>', 'key of the approver who signs the change (default: as above)']
const BREAK_GLASS_OPTION: [string, string] = [
  '--break-glass <reason>',
  'unsigned although there are approvers; recorded, and shown by every verification',
]
const AGENT_OPTION: [string, string, string] = ['--agent <agent>', 'the agent', 'claude-code']

const COMMANDS: readonly CommandLine[] = [
  {
    name: 'init',
    options: [
      AGENT_OPTION,
      ['--project', 'install for the project in this folder only (.claude/settings.local.json)'],
      ['--observe', 'only record: decide nothing, hold nothing'],
      ['--fail-open', 'let calls run that could not be checked (default: stop them)'],
      ['--no-thinking-summaries', 'do not switch readable reasoning on'],
      ['--fast', 'http hooks for tool calls, where every Claude Code found can do it (docs/agents/claude-code.md)'],
      ['--fast-port <port>', 'loopback port of the http hooks (default: 24318, or that of the configuration)'],
      ['--otlp-port <port>', 'loopback port for OTLP, when the configuration is written'],
      ['--dry-run', 'only say what would change'],
      ['--yes', 'do not ask'],
    ],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'uninstall',
    options: [AGENT_OPTION, ['--dry-run', 'only say what would change']],
    load: () => import('./commands/uninstall.ts'),
  },
  {
    name: 'up',
    options: [
      ['--foreground', 'stay in this terminal'],
      ['--from-hook', 'as an installed hook starts it: nothing is read from the environment'],
    ],
    load: () => import('./commands/up.ts'),
  },
  { name: 'reload', options: [JSON_OPTION], load: () => import('./commands/reload.ts') },
  { name: 'down', load: () => import('./commands/down.ts') },
  { name: 'status', options: [JSON_OPTION], load: () => import('./commands/status.ts') },
  {
    name: 'runs',
    options: [['--limit <n>', 'how many', '20'], JSON_OPTION],
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'show',
    args: [['<run>', 'first characters of a run id or session id']],
    options: [['--content', 'print all of the content, not only its beginning'], JSON_OPTION],
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'last',
    options: [
      ['--open', 'the newest run that has not ended'],
      ['--content', 'print all of the content, not only its beginning'],
      JSON_OPTION,
    ],
    load: () => import('./commands/last.ts'),
  },
  {
    name: 'verify',
    args: [['[bundle]', 'a bundle file; without it the home is verified']],
    options: [
      ['--run <run>', 'only one run: export it and verify the bundle'],
      ['--trust <file>', 'the log key and genesis that you pin'],
      ['--checkpoint <file>', 'a checkpoint of this log that was kept elsewhere: history up to it must be the same'],
      ['--index [file]', 'verify a copy of spanseal.duckdb by itself, and its columns (default: the home’s own)'],
      ['--html <file>', 'write the page that verifies bundles in a browser, and stop'],
      ['--against <place>', `compare with copies elsewhere: ${SOURCE_USAGE}`],
      ['--hours <n>', 'with --against: how far back a backend is searched', DEFAULT_HOURS],
      ['--headers <file>', 'with --against: lines `name: value` for the backend, such as a tenant or a token'],
      ['--print-trust', 'print the lines that somebody else can pin, and stop'],
      ['--strict', 'anything less than intact without warnings exits 3'],
      JSON_OPTION,
    ],
    load: () => import('./commands/verify.ts'),
  },
  {
    name: 'check span',
    args: [['<trace>', 'trace id, 32 hex characters']],
    options: [
      ['--in <place>', `where to look: ${SOURCE_USAGE}`, 'jaeger'],
      ['--headers <file>', 'lines `name: value` for the backend, such as a tenant or a token'],
      ['--trust <file>', 'the log key and genesis that you pin'],
      JSON_OPTION,
    ],
    load: () => import('./commands/check-span.ts'),
  },
  {
    name: 'export',
    args: [['[run]', 'first characters of a run id or session id']],
    options: [
      ['-o, --output <file>', 'where to (default: RUN.evidence.jsonl or record-SEQ.tlog-proof; - is stdout)'],
      ['--open <SEQ:NAME,...>', 'disclose these pieces of content too, as in 41:args,42:result'],
      ['--leaf <leaf>', 'instead of a run: the C2SP tlog-proof of the record with this leaf'],
    ],
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'sql',
    args: [['<query>', 'one SELECT']],
    options: [['--max-rows <n>', 'rows at most', '1000'], JSON_OPTION, ['--csv', 'print data as CSV']],
    load: () => import('./commands/sql.ts'),
  },
  { name: 'approvals list', options: [JSON_OPTION], load: () => import('./commands/approvals-list.ts') },
  {
    name: 'approvals show',
    args: [['<id>', 'id of the approval']],
    options: [JSON_OPTION],
    load: () => import('./commands/approvals-show.ts'),
  },
  { name: 'approvals watch', load: () => import('./commands/approvals-watch.ts') },
  {
    name: 'approvals approve',
    args: [['<id>', 'id of the approval']],
    options: [KEY_OPTION, BREAK_GLASS_OPTION],
    load: () => import('./commands/approvals-approve.ts'),
  },
  {
    name: 'approvals reject',
    args: [['<id>', 'id of the approval']],
    options: [KEY_OPTION],
    load: () => import('./commands/approvals-reject.ts'),
  },
  {
    name: 'purge',
    options: [
      ['--before <date>', 'content of all records before a date'],
      ['--run <run>', 'content of a run, by the first characters of its id or session'],
      ['--record <seq>', 'content of one record'],
      ['--yes', 'do not ask'],
    ],
    load: () => import('./commands/purge.ts'),
  },
  {
    name: 'approvers add',
    args: [['<name>', 'of the person']],
    options: [
      ['--key <file>', 'a key made by ssh-keygen -t ed25519-sk (default: a new one behind a passphrase)'],
      BY_OPTION,
      BREAK_GLASS_OPTION,
    ],
    load: () => import('./commands/approvers-add.ts'),
  },
  { name: 'approvers list', options: [JSON_OPTION], load: () => import('./commands/approvers-list.ts') },
  {
    name: 'approvers remove',
    args: [['<name>', 'of the person, or the id of the key']],
    options: [BY_OPTION, BREAK_GLASS_OPTION],
    load: () => import('./commands/approvers-remove.ts'),
  },
  { name: 'keys list', options: [JSON_OPTION], load: () => import('./commands/keys-list.ts') },
  { name: 'keys export', load: () => import('./commands/keys-export.ts') },
  { name: 'keys rotate', load: () => import('./commands/keys-rotate.ts') },
  {
    name: 'keys revoke',
    args: [['<kid>', 'id of the key, or its first characters']],
    options: [
      ['--reason <why>', KEY_REVOCATIONS.join(', ')],
      ['--from <seq>', 'first record that is doubted (default: the first that the key may have signed)'],
    ],
    load: () => import('./commands/keys-revoke.ts'),
  },
  {
    name: 'policy lint',
    args: [['[file]', 'a policy file (default: policy.yaml of the home, else the built-in policy)']],
    options: [JSON_OPTION],
    load: () => import('./commands/policy-lint.ts'),
  },
  {
    name: 'policy test',
    args: [['[file]', 'a policy file (default: policy.yaml of the home, else the built-in policy)']],
    options: [
      ['--corpus <file>', 'calls with the answer expected, one JSON object a line'],
      ['--constraints <file>', 'prompts with what they forbid and calls that are held or not, one JSON object a line'],
      JSON_OPTION,
    ],
    load: () => import('./commands/policy-test.ts'),
  },
  {
    name: 'policy explain',
    args: [['[call]', 'a shell command; with --tool the arguments of that tool as JSON']],
    options: [
      ['--tool <tool>', 'the tool that is called', 'Bash'],
      ['--policy <file>', 'a policy file (default: as for lint)'],
      ['--prompt <text>', 'what the person said before; alone: print what it forbids'],
      JSON_OPTION,
    ],
    load: () => import('./commands/policy-explain.ts'),
  },
  { name: 'doctor', options: [JSON_OPTION], load: () => import('./commands/doctor.ts') },
  {
    name: 'hook',
    args: [
      ['<agent>', 'id of the adapter'],
      ['<event>', 'native name of the event'],
    ],
    options: [['--print-otlp', 'print the OTLP request (the only thing this command does)']],
    load: () => import('./commands/hook.ts'),
  },
  { name: 'demo', load: () => import('./commands/demo.ts') },
]

/** What commands of two words are about. */
const GROUPS: Readonly<Record<string, string>> = {
  approvals: 'Calls that wait for a person',
  approvers: 'Who may answer: each signs with a key',
  policy: 'The rules of the gate: check them, try them, ask them',
  keys: 'The keys that sign records',
  check: 'Single things against the log',
}

/** The parser. `onExit` gets the exit code of the command that ran. */
export function buildProgram(onExit: (code: number) => void): Command {
  const program = new Command('spanseal')
    .description('Evidence for AI agents: gates each tool call, signs what happened, verifies it anywhere.')
    .version(SPANSEAL_VERSION)
    .option('--home <folder>', 'where Spanseal keeps everything (default: SPANSEAL_HOME or ~/.spanseal)')
    .exitOverride()
  const groups = new Map<string, Command>()
  for (const line of COMMANDS) {
    const words = line.name.split(' ')
    const [first = '', second] = words
    const parent = second === undefined ? program : (groups.get(first) ?? group(program, first, groups))
    addCommand(parent, second ?? first, line, onExit)
  }
  return program
}

function group(program: Command, name: string, groups: Map<string, Command>): Command {
  const made = program
    .command(name)
    .description(GROUPS[name] ?? '')
    .exitOverride()
  groups.set(name, made)
  return made
}

function addCommand(parent: Command, name: string, line: CommandLine, onExit: (code: number) => void): void {
  const feature = featureOf(line.name)
  const command = parent
    .command(name)
    .description(`${feature.summary}.${feature.stability === 'stable' ? '' : ` (${feature.stability})`}`)
    .exitOverride()
  for (const [usage, description] of line.args ?? []) command.argument(usage, description)
  for (const [flags, description, fallback] of line.options ?? []) {
    const option = new Option(flags, description)
    command.addOption(fallback === undefined ? option : option.default(fallback))
  }
  if (feature.examples !== undefined)
    command.addHelpText('after', `\nExamples:\n${feature.examples.map((example) => `  ${example}`).join('\n')}`)
  command.action(async () => {
    const options: Options = command.optsWithGlobals()
    const { run } = await line.load()
    const home = resolveHome(typeof options.home === 'string' ? options.home : undefined)
    onExit(await run({ home, options, args: command.processedArgs.filter((arg) => arg !== undefined) }))
  })
}

function featureOf(name: string): Feature {
  const feature = FEATURES.find((each) => each.kind === 'command' && each.name === name)
  if (feature === undefined) throw new Error(`the command ${name} is not in conventions/stability.ts`)
  return feature
}
