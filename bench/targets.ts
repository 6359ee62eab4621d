// What is measured and what it should reach. One line of the printed table each, in this order.

export const SUITES = ['hook', 'gate', 'ingest', 'forward', 'verify', 'query', 'start', 'crash'] as const
export type Suite = (typeof SUITES)[number]

export interface Target {
  suite: Suite
  /** Unique; what a suite reports its measurement under. */
  id: string
  figure: string
  /** x: a ratio to a baseline of the same run. */
  unit: 'x' | 'ms' | 'us' | '/s' | 'MB' | 'count'
  /** Absent: shown for information. */
  goal?: { is: '<=' | '>='; value: number }
  /** Why no suite of this version measures it. */
  notRun?: string
}

const atMost = (value: number) => ({ is: '<=', value }) as const
const atLeast = (value: number) => ({ is: '>=', value }) as const

export const TARGETS: readonly Target[] = [
  {
    suite: 'hook',
    id: 'hook.http',
    figure: "Claude Code's own http hook, durable signed decision / node -e 0",
    unit: 'x',
    goal: atMost(0.08),
  },
  {
    suite: 'hook',
    id: 'hook.http.floor',
    figure: 'the same, answered at once by a server that decides and keeps nothing',
    unit: 'x',
  },
  { suite: 'hook', id: 'hook.agent.sh', figure: 'the same of the sh hook, as Claude Code itself counts it', unit: 'x' },
  {
    suite: 'hook',
    id: 'hook.sh',
    figure: 'sh hook end to end, durable signed decision / node -e 0 (wall)',
    unit: 'x',
    goal: atMost(0.35),
  },
  { suite: 'hook', id: 'hook.sh.cpu', figure: 'the same, CPU of the hook process', unit: 'x' },
  {
    suite: 'hook',
    id: 'hook.sh.curl',
    figure: 'of it, loading curl, which no sh hook can go without (curl --version, CPU)',
    unit: 'x',
  },
  {
    suite: 'hook',
    id: 'hook.sh.loading',
    figure: 'of it, loading curl (wall)',
    unit: 'x',
  },
  { suite: 'hook', id: 'hook.sh.wait', figure: 'of it, the durable signed answer over the socket (wall)', unit: 'x' },
  { suite: 'hook', id: 'hook.node', figure: 'one-file Node hook / node -e 0 (CPU)', unit: 'x', goal: atMost(1.2) },
  {
    suite: 'hook',
    id: 'hook.node.floor',
    figure: 'a file that only loads node:net, connects and has one byte answered / node -e 0 (CPU)',
    unit: 'x',
  },
  { suite: 'hook', id: 'hook.node.wall', figure: 'the same, wall', unit: 'x' },
  {
    suite: 'hook',
    id: 'hook.faults',
    figure: 'faults in which a hook fails open',
    unit: 'count',
    goal: atMost(0),
    notRun: 'asserted by test/hooks/faults.test.ts',
  },
  {
    suite: 'gate',
    id: 'gate.decide.p50',
    figure: 'decision alone over the policy corpus, p50',
    unit: 'us',
    goal: atMost(50),
  },
  {
    suite: 'gate',
    id: 'gate.decide.p99',
    figure: 'decision alone over the policy corpus, p99',
    unit: 'us',
    goal: atMost(1000),
  },
  {
    suite: 'gate',
    id: 'gate.count',
    figure: 'what metrics add to a call / the decision alone, p50',
    unit: 'x',
    goal: atMost(0.1),
  },
  { suite: 'gate', id: 'gate.answer.p50', figure: 'durable answer, idle, p50', unit: 'ms' },
  {
    suite: 'gate',
    id: 'gate.load',
    figure: 'answer p99 with 10,000 spans/s of ingest / idle p99',
    unit: 'x',
    goal: atMost(1.5),
  },
  {
    suite: 'gate',
    id: 'gate.load.p99',
    figure: 'answer p99 with 10,000 spans/s of ingest',
    unit: 'ms',
    goal: atMost(10),
  },
  {
    suite: 'gate',
    id: 'gate.busy',
    figure: 'answer p99 with no ingest while other programs take every processor / idle p99',
    unit: 'x',
  },
  {
    suite: 'gate',
    id: 'gate.faulted',
    figure: 'answer p50 while seven destinations refuse, hang or are away / without any',
    unit: 'x',
    goal: atMost(1.2),
  },
  {
    suite: 'gate',
    id: 'gate.checkpoint',
    figure: 'worst answer while the index checkpoints / without',
    unit: 'x',
    goal: atMost(2),
  },
  {
    suite: 'ingest',
    id: 'ingest.durable',
    figure: 'CPU per span: durable and signed / receive-and-decode-only',
    unit: 'x',
    goal: atMost(1.25),
  },
  {
    suite: 'ingest',
    id: 'ingest.index',
    figure: 'CPU per span: with the index caught up / decode-only',
    unit: 'x',
    goal: atMost(4),
  },
  {
    suite: 'ingest',
    id: 'ingest.durable.rate',
    figure: 'spans per CPU-second, durable and signed',
    unit: '/s',
    goal: atLeast(120_000),
  },
  {
    suite: 'ingest',
    id: 'ingest.index.rate',
    figure: 'spans per CPU-second, with the index',
    unit: '/s',
    goal: atLeast(40_000),
  },
  {
    suite: 'ingest',
    id: 'ingest.floor.rate',
    figure: 'the same of decode-only, on this machine',
    unit: '/s',
  },
  {
    suite: 'ingest',
    id: 'ingest.receive',
    figure: 'receiving a body and not looking at it / decode-only',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.look',
    figure: 'the look through a body before it is durable, alone / decode-only',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.secrets',
    figure: 'the search for secrets in it, alone',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.commit',
    figure: 'the commitment to it (HMAC-SHA256), alone',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.decode',
    figure: 'taking spans apart for the index, alone',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.read',
    figure: 'the same with classifying and laying out',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.rows',
    figure: 'handing finished values to DuckDB, with the same columns, and committing them, alone',
    unit: 'x',
  },
  {
    suite: 'ingest',
    id: 'ingest.memory',
    figure: 'memory at 10,000 spans/s, collector without the index',
    unit: 'MB',
    goal: atMost(150),
  },
  {
    suite: 'ingest',
    id: 'ingest.index.memory',
    figure: 'memory at 10,000 spans/s, with the index',
    unit: 'MB',
    goal: atMost(400),
  },
  {
    suite: 'forward',
    id: 'forward.cpu',
    figure: 'CPU per forwarded span of one destination / decode-only of an ingested span',
    unit: 'x',
    goal: atMost(0.5),
  },
  {
    suite: 'forward',
    id: 'forward.reading',
    figure: 'of it, reading the signed records from the log, which no destination can go without',
    unit: 'x',
  },
  {
    suite: 'forward',
    id: 'forward.sending',
    figure: 'of it, sending requests of these spans that lie ready, which none can go without either',
    unit: 'x',
  },
  {
    suite: 'verify',
    id: 'verify.tree',
    figure: 'records per CPU-second, leaves and tree / SHA-256 of each record',
    unit: 'x',
    goal: atLeast(0.33),
  },
  {
    suite: 'verify',
    id: 'verify.roots',
    figure: 'the same with the root after every record, which each record names',
    unit: 'x',
  },
  {
    suite: 'verify',
    id: 'verify.signatures',
    figure: 'all signatures, wall / one thread of node:crypto',
    unit: 'x',
    goal: atMost(0.6),
  },
  { suite: 'verify', id: 'verify.home', figure: 'a whole home, records per second (wall)', unit: '/s' },
  {
    suite: 'query',
    id: 'query.run',
    figure: 'one run of 1,000 records at ten times the rows / at the rows',
    unit: 'x',
    goal: atMost(1.5),
  },
  {
    suite: 'start',
    id: 'start.up',
    figure: 'spanseal up to the first answer / node -e 0 (wall)',
    unit: 'x',
    goal: atMost(6),
  },
  { suite: 'start', id: 'start.up.cpu', figure: 'the same, CPU of the command and of the collector', unit: 'x' },
  { suite: 'start', id: 'start.replay', figure: 'the same with a log, for each 1,000 records in it', unit: 'ms' },
  {
    suite: 'crash',
    id: 'crash.lost',
    figure: 'acknowledged records lost over kills at random points',
    unit: 'count',
    goal: atMost(0),
    notRun: 'asserted by test/e2e/crash.test.ts (SPANSEAL_TEST_KILLS=200 for the long run)',
  },
]

/** What a suite found for one target. */
export type Finding = { id: string } & ({ value: number; rounds: string; shown: string } | { notRun: string })

export type Verdict = 'met' | 'MISSED' | 'no target' | 'not run'

export function verdictOf(target: Target, value: number | undefined): Verdict {
  if (value === undefined) return 'not run'
  if (target.goal === undefined) return 'no target'
  const { is, value: bound } = target.goal
  // NaN meets nothing.
  return (is === '<=' ? value <= bound : value >= bound) ? 'met' : 'MISSED'
}
