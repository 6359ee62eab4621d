// What can be relied on: one table of every command, adapter and integration. `--help` and docs/commands.md say what stands here.

/**
 * stable: options, output fields and exit codes change only with a line in the changelog and a major version.
 * experimental: may change or go with any version.
 */
export type Stability = 'stable' | 'experimental'

export interface Feature {
  kind: 'command' | 'adapter' | 'integration'
  name: string
  stability: Stability
  /** One sentence without a full stop. */
  summary: string
  /** Command lines that work as they stand, where it is a command. */
  examples?: readonly string[]
}

export const FEATURES: readonly Feature[] = [
  {
    kind: 'command',
    name: 'init',
    stability: 'stable',
    summary: 'Install the hooks of an agent, write the configuration and start the collector',
    examples: [
      'spanseal init',
      'spanseal init --project --observe',
      'spanseal init --fast',
      'spanseal init --dry-run',
      'OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:14318 spanseal init',
    ],
  },
  {
    kind: 'command',
    name: 'uninstall',
    stability: 'stable',
    summary: 'Take the hooks out of an agent’s settings again and stop the collector; the evidence stays',
    examples: ['spanseal uninstall', 'spanseal uninstall --agent claude-code'],
  },
  {
    kind: 'command',
    name: 'up',
    stability: 'stable',
    summary: 'Start the collector, unless it runs; returns when it answers',
    examples: ['spanseal up', 'spanseal up --foreground'],
  },
  {
    kind: 'command',
    name: 'down',
    stability: 'stable',
    summary: 'Stop the collector and wait until it is gone',
    examples: ['spanseal down'],
  },
  {
    kind: 'command',
    name: 'reload',
    stability: 'stable',
    summary:
      'Put a changed configuration and policy in force without a stop; with any error the old ones stay and it exits 2',
    examples: ['spanseal reload', 'spanseal reload --json'],
  },
  {
    kind: 'command',
    name: 'status',
    stability: 'stable',
    summary: 'Say whether the collector runs, what it has recorded and what waits; exits 1 when it does not run',
    examples: ['spanseal status', 'spanseal status --json'],
  },
  {
    kind: 'command',
    name: 'runs',
    stability: 'stable',
    summary: 'List the newest runs with what happened in them',
    examples: ['spanseal runs', 'spanseal runs --limit 100 --json'],
  },
  {
    kind: 'command',
    name: 'show',
    stability: 'stable',
    summary: 'Print a run as a tree: prompts, what the model said, calls with decision and outcome',
    examples: ['spanseal show 3f2a', 'spanseal show 3f2a --content', 'spanseal show 3f2a --json'],
  },
  {
    kind: 'command',
    name: 'last',
    stability: 'stable',
    summary: 'Print the newest run; with --open the newest one that has not ended',
    examples: ['spanseal last', 'spanseal last --open'],
  },
  {
    kind: 'command',
    name: 'verify',
    stability: 'stable',
    summary: 'Verify the home or a bundle: what is proven, what is not, what was changed',
    examples: [
      'spanseal verify',
      'spanseal verify --print-trust > spanseal.trust',
      'spanseal verify --trust spanseal.trust --strict',
      'spanseal verify --trust spanseal.trust --checkpoint kept-elsewhere.txt',
      'spanseal verify --trust spanseal.trust --against jaeger=http://127.0.0.1:16686',
      'spanseal verify run.evidence.jsonl --trust spanseal.trust',
      'spanseal verify --index copy-of-spanseal.duckdb --trust spanseal.trust --checkpoint kept-elsewhere.txt',
      'spanseal verify --html verify.html',
    ],
  },
  {
    kind: 'command',
    name: 'check span',
    stability: 'experimental',
    summary:
      'Say of each span of a trace in a backend whether it is a signed record of this log; exits 1 when one is not',
    examples: [
      'spanseal check span 4bf92f3577b34da6a3ce929d0e0e4736 --in jaeger',
      'spanseal check span 4bf92f3577b34da6a3ce929d0e0e4736 --in tempo=https://tempo.example --headers tenant.txt',
      'spanseal check span 4bf92f3577b34da6a3ce929d0e0e4736 --in file=spans.jsonl',
    ],
  },
  {
    kind: 'command',
    name: 'export',
    stability: 'stable',
    summary: 'Write the bundle of a run: one file that proves it elsewhere; with --leaf the proof of one record',
    examples: [
      'spanseal export 3f2a',
      'spanseal export 3f2a -o run.evidence.jsonl --open 41:args',
      'spanseal export --leaf 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ],
  },
  {
    kind: 'command',
    name: 'sql',
    stability: 'stable',
    summary: 'Ask the index in SQL, read-only and within limits of time and rows',
    examples: [
      "spanseal sql 'SELECT tool, decision, count(*) FROM decisions GROUP BY ALL'",
      "spanseal sql --csv 'FROM calls' --max-rows 10000",
    ],
  },
  {
    kind: 'command',
    name: 'approvals list',
    stability: 'stable',
    summary: 'List the calls that wait for a person',
    examples: ['spanseal approvals list', 'spanseal approvals list --json'],
  },
  {
    kind: 'command',
    name: 'approvals show',
    stability: 'experimental',
    summary: 'Print what is known of one call that waits, and what an answer to it is for',
    examples: ['spanseal approvals show apr-0123456789', 'spanseal approvals show apr-0123456789 --json'],
  },
  {
    kind: 'command',
    name: 'approvals watch',
    stability: 'experimental',
    summary: 'Print a line for each call that begins to wait; on a terminal with a bell and a notification',
    examples: ['spanseal approvals watch'],
  },
  {
    kind: 'command',
    name: 'approvals approve',
    stability: 'stable',
    summary: 'Let a held call run, once and with exactly these arguments',
    examples: [
      'spanseal approvals approve apr-0123456789',
      'spanseal approvals approve apr-0123456789 --key ~/.ssh/id_ed25519_sk',
      'spanseal approvals approve apr-0123456789 --break-glass "alice is away, the release can not wait"',
    ],
  },
  {
    kind: 'command',
    name: 'approvals reject',
    stability: 'stable',
    summary: 'Refuse a held call',
    examples: ['spanseal approvals reject apr-0123456789'],
  },
  {
    kind: 'command',
    name: 'purge',
    stability: 'stable',
    summary:
      'Take content out of the vault for ever: of a run, of one record, or of everything before a date; records stay',
    examples: ['spanseal purge --run 3f2a', 'spanseal purge --record 41 --yes', 'spanseal purge --before 2026-06-01'],
  },
  {
    kind: 'command',
    name: 'approvers add',
    stability: 'experimental',
    summary: 'Name somebody who may answer; from the first one on an answer counts only when an approver signs it',
    examples: ['spanseal approvers add alice', 'spanseal approvers add bob --key ~/.ssh/id_ed25519_sk'],
  },
  {
    kind: 'command',
    name: 'approvers list',
    stability: 'experimental',
    summary: 'List who may answer, with their keys',
    examples: ['spanseal approvers list', 'spanseal approvers list --json'],
  },
  {
    kind: 'command',
    name: 'approvers remove',
    stability: 'experimental',
    summary: 'Take the right to answer from somebody; an approver signs that',
    examples: ['spanseal approvers remove bob'],
  },
  {
    kind: 'command',
    name: 'keys list',
    stability: 'stable',
    summary: 'List the keys that sign records, each with the records that are its own',
    examples: ['spanseal keys list', 'spanseal keys list --json'],
  },
  {
    kind: 'command',
    name: 'keys export',
    stability: 'stable',
    summary: 'Print a trust file that pins this log and every key that may sign its records',
    examples: ['spanseal keys export > spanseal.trust'],
  },
  {
    kind: 'command',
    name: 'keys rotate',
    stability: 'stable',
    summary: 'Let a new key sign records from now on, without a stop; the old one is retired and deleted',
    examples: ['spanseal keys rotate'],
  },
  {
    kind: 'command',
    name: 'keys revoke',
    stability: 'stable',
    summary: 'Say that somebody else may have had a key: what it signed is warned of; one that still signs is replaced',
    examples: ['spanseal keys revoke 3f2a --reason stolen', 'spanseal keys revoke 3f2a --reason stolen --from 4100'],
  },
  {
    kind: 'command',
    name: 'policy lint',
    stability: 'stable',
    summary: 'Check a policy file and run the tests in it; prints every error and exits 1',
    examples: ['spanseal policy lint', 'spanseal policy lint team-policy.yaml --json'],
  },
  {
    kind: 'command',
    name: 'policy test',
    stability: 'stable',
    summary: 'Judge a policy by calls or prompts with known answers; exits 1 when one is answered otherwise',
    examples: [
      'spanseal policy test --corpus corpus.jsonl',
      'spanseal policy test team-policy.yaml --corpus corpus.jsonl --json',
      'spanseal policy test --constraints constraints.jsonl',
    ],
  },
  {
    kind: 'command',
    name: 'policy explain',
    stability: 'stable',
    summary: 'Say what the gate would answer to a call and why; nothing is run or recorded',
    examples: [
      "spanseal policy explain 'git push --force origin main'",
      'spanseal policy explain --tool Edit \'{"file_path": "/etc/hosts"}\'',
      'spanseal policy explain --prompt "Do not touch billing.py" "rm billing.py"',
    ],
  },
  {
    kind: 'command',
    name: 'doctor',
    stability: 'stable',
    summary: 'Check the installation and say how to repair it; exits 1 on a failure, 2 when there are only warnings',
    examples: ['spanseal doctor', 'spanseal doctor --json'],
  },
  {
    kind: 'command',
    name: 'hook',
    stability: 'experimental',
    summary: 'Show the OTLP request that an adapter makes of a native payload; nothing is sent',
    examples: ['spanseal hook claude-code PreToolUse --print-otlp < payload.json'],
  },
  {
    kind: 'command',
    name: 'demo',
    stability: 'stable',
    summary: 'Play a scripted Claude Code session in a temporary home, from hook to verification',
    examples: ['spanseal demo'],
  },
  {
    kind: 'adapter',
    name: 'claude-code',
    stability: 'stable',
    summary: 'Claude Code, by command hooks in its settings, with --fast also by http hooks (checked against 2.1.332)',
  },
  {
    kind: 'integration',
    name: 'otlp-in',
    stability: 'stable',
    summary: 'OTLP/HTTP traces, logs and metrics of other programs, as someone else’s word (T3)',
  },
  {
    kind: 'integration',
    name: 'metrics',
    stability: 'experimental',
    summary: 'GET /metrics for Prometheus, the same pushed as OTLP; /livez and /readyz',
  },
  {
    kind: 'integration',
    name: 'gate',
    stability: 'experimental',
    summary: 'POST /v1/gate: any program asks for a decision with one OTLP span',
  },
  {
    kind: 'integration',
    name: 'otlp-out',
    stability: 'stable',
    summary: 'Forwarding to any OTLP/HTTP backend (Jaeger, Tempo, a Collector), without content unless asked for',
  },
]

/** Features of one kind, in the table's order. */
export function featuresOf(kind: Feature['kind']): Feature[] {
  return FEATURES.filter((feature) => feature.kind === kind)
}

/** Text of docs/commands.md. */
export function commandsDoc(): string {
  const lines = [
    '<!-- Generated from conventions/stability.ts by conventions/generate.ts. Do not edit. -->',
    '',
    '# Commands',
    '',
    'Every command takes `--home FOLDER` (or `SPANSEAL_HOME`; default `~/.spanseal`) and `--help`, which lists its options.',
    'Data goes to standard output, words to standard error. Commands that read take `--json`.',
    '',
    'Exit codes: 0 done, 1 failed or refused, 2 wrong usage or unusable input. `verify` and `doctor` have their own, see below.',
    '',
    '**stable**: options, output fields and exit codes change only with a line in the changelog and a major version.',
    '**experimental**: may change or go with any version.',
    '',
  ]
  for (const { name, stability, summary, examples = [] } of featuresOf('command')) {
    lines.push(`## spanseal ${name}`, '', `${summary}. *${stability}*`, '')
    if (examples.length > 0) lines.push('```sh', ...examples, '```', '')
    if (name === 'verify') lines.push(VERIFY_CODES, '')
  }
  for (const [kind, title] of [
    ['adapter', 'Adapters'],
    ['integration', 'Integrations'],
  ] as const) {
    lines.push(`# ${title}`, '', '| Name | Stability | What it is |', '|---|---|---|')
    for (const { name, stability, summary } of featuresOf(kind)) lines.push(`| ${name} | ${stability} | ${summary} |`)
    lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

const VERIFY_CODES =
  'Exit codes: 0 intact or self-consistent, 1 broken, 2 unusable or of a newer format, 3 a decision was not obeyed or, with `--strict`, anything less than intact without warnings.'
