// What the dashboards show: one line a panel. Every query is on a collector's own metrics (docs/metrics.md); $instance is the machine.

export interface Panel {
  title: string
  kind: 'stat' | 'timeseries' | 'table'
  /** A unit of Grafana's. */
  unit?: 's' | 'bytes' | 'short' | 'percentunit' | 'currencyUSD'
  /** PromQL and the legend of its series. */
  queries: [promql: string, legend: string][]
  /** Value from which it is red. */
  red?: number
  /** What somebody who sees it for the first time should know. */
  about?: string
}

export interface Dashboard {
  uid: string
  title: string
  rows: [title: string, panels: Panel[]][]
}

const RATE = '$__rate_interval'
const at = (metric: string, labels = '') => `${metric}{instance=~"$instance"${labels === '' ? '' : `, ${labels}`}}`
const rateBy = (by: string, metric: string, labels = '') => `sum by (${by}) (rate(${at(metric, labels)}[${RATE}]))`
const increaseBy = (by: string, metric: string, labels = '') =>
  `sum by (${by}) (increase(${at(metric, labels)}[$__range]))`
const quantile = (q: number, metric: string, by = '') =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${at(`${metric}_bucket`)}[${RATE}])))`

export const AGENT_EVIDENCE: Dashboard = {
  uid: 'spanseal-agent-evidence',
  title: 'Spanseal: agent evidence',
  rows: [
    [
      'What must be zero',
      [
        {
          title: 'Deny not enforced',
          kind: 'stat',
          red: 1,
          queries: [[`sum(increase(${at('spanseal_violations_total')}[$__range]))`, 'violations']],
          about: 'Calls that ran although the decision forbade them.',
        },
        {
          title: 'Ungated sessions',
          kind: 'stat',
          red: 1,
          queries: [
            [
              `sum(increase(${at('spanseal_gaps_total', 'spanseal_gap_kind="ungated_session"')}[$__range]))`,
              'sessions',
            ],
          ],
          about: 'Sessions in which an agent worked and no hook spoke.',
        },
        {
          title: 'Gaps',
          kind: 'stat',
          red: 1,
          queries: [[`sum(increase(${at('spanseal_gaps_total')}[$__range]))`, 'gaps']],
        },
        {
          title: 'Last verification',
          kind: 'table',
          queries: [[`${at('spanseal_verify_status')} == 1`, '']],
          about: 'What the last `spanseal verify` on each machine said; nothing where none ran.',
        },
      ],
    ],
    [
      'Decisions',
      [
        {
          title: 'Decisions',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_decision', 'spanseal_decisions_total'), '{{spanseal_decision}}']],
        },
        {
          title: 'Denied and held calls by tool',
          kind: 'table',
          queries: [
            [
              increaseBy(
                'gen_ai_agent_name, gen_ai_tool_name, spanseal_decision',
                'spanseal_decisions_total',
                'spanseal_decision=~"deny|ask"',
              ),
              '',
            ],
          ],
        },
        {
          title: 'Rules that matched most',
          kind: 'table',
          queries: [
            [`topk(20, ${increaseBy('spanseal_rule_id, spanseal_decision', 'spanseal_rule_matches_total')})`, ''],
          ],
        },
        {
          title: 'Gaps by kind',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_gap_kind', 'spanseal_gaps_total'), '{{spanseal_gap_kind}}']],
        },
        {
          title: 'Violations by kind',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_violation_kind', 'spanseal_violations_total'), '{{spanseal_violation_kind}}']],
        },
      ],
    ],
    [
      'Approvals',
      [
        { title: 'Waiting now', kind: 'stat', queries: [[`sum(${at('spanseal_approval_pending')})`, 'calls']] },
        {
          title: 'Longest wait now',
          kind: 'stat',
          unit: 's',
          red: 300,
          queries: [[`max(${at('spanseal_approval_oldest_seconds')})`, 'wait']],
        },
        {
          title: 'Answers, and how they were authenticated',
          kind: 'table',
          queries: [
            [increaseBy('spanseal_approval_answer, spanseal_approval_authentication', 'spanseal_approvals_total'), ''],
          ],
          about: 'Unauthenticated: any process of that user could have given the answer.',
        },
        {
          title: 'Time to an answer',
          kind: 'timeseries',
          unit: 's',
          queries: [
            [quantile(0.5, 'spanseal_approval_wait_seconds'), 'p50'],
            [quantile(0.95, 'spanseal_approval_wait_seconds'), 'p95'],
          ],
        },
      ],
    ],
    [
      'Evidence',
      [
        {
          title: 'Records by tier (T3: receipt only)',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_tier', 'spanseal_records_total', 'spanseal_tier!=""'), '{{spanseal_tier}}']],
          about:
            'T1 our hook or SDK reported it, T2 an enforcing gateway decided it, T3 is someone else’s word: receipt only.',
        },
        {
          title: 'Runs by mode',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_mode', 'spanseal_runs_total'), '{{spanseal_mode}}']],
        },
        {
          title: 'Records no checkpoint covers',
          kind: 'timeseries',
          queries: [[at('spanseal_checkpoint_lag'), '{{instance}}']],
        },
        {
          title: 'Checkpoint age while records wait',
          kind: 'timeseries',
          unit: 's',
          red: 300,
          queries: [
            [
              `${at('spanseal_checkpoint_age_seconds')} and on (job, instance) ${at('spanseal_checkpoint_lag')} > 0`,
              '{{instance}}',
            ],
          ],
          about: 'Empty while every record is under a checkpoint.',
        },
        {
          title: 'Records not seen outside yet',
          kind: 'timeseries',
          queries: [[`${at('spanseal_log_size')} - on (job, instance) ${at('spanseal_outside_size')}`, '{{instance}}']],
          about: 'History that some destination has acknowledged can’t be rewritten without its copy disagreeing.',
        },
      ],
    ],
  ],
}

export const COLLECTOR_HEALTH: Dashboard = {
  uid: 'spanseal-collector-health',
  title: 'Spanseal: collector health',
  rows: [
    [
      'Now',
      [
        { title: 'Ready', kind: 'table', queries: [[at('spanseal_ready'), '']] },
        { title: 'Up for', kind: 'stat', unit: 's', queries: [[`min(${at('process_uptime_seconds')})`, 'least']] },
        {
          title: 'Disk free',
          kind: 'stat',
          unit: 'bytes',
          queries: [[`min(${at('spanseal_disk_free_bytes')})`, 'least']],
        },
        { title: 'Open runs', kind: 'stat', queries: [[`sum(${at('spanseal_run_open')})`, 'runs']] },
      ],
    ],
    [
      'Speed',
      [
        {
          title: 'Time to a durable answer',
          kind: 'timeseries',
          unit: 's',
          queries: [
            [quantile(0.5, 'spanseal_hook_duration_seconds'), 'p50'],
            [quantile(0.99, 'spanseal_hook_duration_seconds'), 'p99'],
          ],
        },
        {
          title: 'p99 by event',
          kind: 'timeseries',
          unit: 's',
          queries: [
            [
              quantile(0.99, 'spanseal_hook_duration_seconds', 'spanseal_claim_native_event'),
              '{{spanseal_claim_native_event}}',
            ],
          ],
        },
        {
          title: 'Time to decide',
          kind: 'timeseries',
          unit: 's',
          queries: [
            [quantile(0.5, 'spanseal_gate_duration_seconds'), 'p50'],
            [quantile(0.99, 'spanseal_gate_duration_seconds'), 'p99'],
          ],
        },
        {
          title: 'Write and sync, p99',
          kind: 'timeseries',
          unit: 's',
          queries: [[quantile(0.99, 'spanseal_log_sync_duration_seconds', 'spanseal_storage'), '{{spanseal_storage}}']],
        },
      ],
    ],
    [
      'Refused',
      [
        {
          title: 'Hook payloads refused, ignored, repeated',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_outcome', 'spanseal_claims_total'), '{{spanseal_outcome}}']],
        },
        {
          title: 'OTLP requests by status',
          kind: 'timeseries',
          queries: [
            [rateBy('http_response_status_code', 'spanseal_otlp_requests_total'), '{{http_response_status_code}}'],
          ],
        },
        {
          title: 'Third-party spans',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_outcome', 'spanseal_import_spans_total'), '{{spanseal_outcome}}']],
        },
      ],
    ],
    [
      'Forwarding',
      [
        {
          title: 'Records a destination waits for',
          kind: 'timeseries',
          queries: [[at('spanseal_forward_lag'), '{{spanseal_destination}} {{instance}}']],
        },
        {
          title: 'State',
          kind: 'table',
          queries: [[`${at('spanseal_forward_state')} == 1`, '']],
        },
        {
          title: 'Spans by what became of them',
          kind: 'timeseries',
          queries: [
            [
              rateBy('spanseal_destination, spanseal_outcome', 'spanseal_forward_spans_total'),
              '{{spanseal_destination}} {{spanseal_outcome}}',
            ],
          ],
          about: 'Nothing is dropped: what is not sent yet waits in the log.',
        },
      ],
    ],
    [
      'Size',
      [
        {
          title: 'Log, vault and index',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [[`sum by (spanseal_storage) (${at('spanseal_storage_size_bytes')})`, '{{spanseal_storage}}']],
        },
        {
          title: 'Index behind the log',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [[at('spanseal_index_lag_bytes'), '{{instance}}']],
        },
        {
          title: 'Memory',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [[at('process_memory_usage_bytes'), '{{instance}}']],
        },
      ],
    ],
  ],
}

const ESTIMATE =
  'Estimated from list prices: no bill. Models without a price are not in it; the panel beside says how many tokens that is.'
const CACHED = 'spanseal_token_type=~"cache_.*"'

export const USAGE: Dashboard = {
  uid: 'spanseal-usage',
  title: 'Spanseal: usage',
  rows: [
    [
      'Cost (estimated)',
      [
        {
          title: 'Cost',
          kind: 'stat',
          unit: 'currencyUSD',
          queries: [[`sum(increase(${at('spanseal_cost_usd_total')}[$__range]))`, 'USD']],
          about: ESTIMATE,
        },
        {
          title: 'Tokens without a price',
          kind: 'stat',
          red: 1,
          queries: [[`sum(increase(${at('spanseal_tokens_unpriced_total')}[$__range])) or vector(0)`, 'tokens']],
          about: 'Tokens of models that no list price is known of: give one as `prices` in config.yaml.',
        },
        {
          title: 'Cost by model',
          kind: 'table',
          unit: 'currencyUSD',
          queries: [
            [`topk(20, ${increaseBy('gen_ai_agent_name, gen_ai_request_model', 'spanseal_cost_usd_total')})`, ''],
          ],
          about: ESTIMATE,
        },
        {
          title: 'Tokens without a price, by model',
          kind: 'table',
          queries: [
            [
              `topk(20, ${increaseBy('gen_ai_agent_name, gen_ai_request_model', 'spanseal_tokens_unpriced_total')})`,
              '',
            ],
          ],
        },
        {
          title: 'Cost an hour, by agent',
          kind: 'timeseries',
          unit: 'currencyUSD',
          queries: [[`3600 * ${rateBy('gen_ai_agent_name', 'spanseal_cost_usd_total')}`, '{{gen_ai_agent_name}}']],
          about: ESTIMATE,
        },
        {
          title: 'Cost an hour, of sessions themselves and of sub-agents',
          kind: 'timeseries',
          unit: 'currencyUSD',
          queries: [
            [`3600 * ${rateBy('spanseal_usage_scope', 'spanseal_cost_usd_total')}`, '{{spanseal_usage_scope}}'],
          ],
          about: ESTIMATE,
        },
        {
          title: 'Cost by machine',
          kind: 'table',
          unit: 'currencyUSD',
          queries: [[`topk(20, ${increaseBy('instance', 'spanseal_cost_usd_total')})`, '']],
          about: ESTIMATE,
        },
      ],
    ],
    [
      'Tokens',
      [
        {
          title: 'Tokens that are not cached, by type',
          kind: 'timeseries',
          queries: [
            [
              rateBy('spanseal_token_type', 'spanseal_tokens_total', CACHED.replace('=~', '!~')),
              '{{spanseal_token_type}}',
            ],
          ],
        },
        {
          title: 'Tokens of the cache, by type',
          kind: 'timeseries',
          queries: [[rateBy('spanseal_token_type', 'spanseal_tokens_total', CACHED), '{{spanseal_token_type}}']],
          about: 'Apart: they are many times the others, and cheaper.',
        },
        {
          title: 'Share of input read from the cache',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            [
              `sum(rate(${at('spanseal_tokens_total', 'spanseal_token_type="cache_read"')}[${RATE}])) / sum(rate(${at('spanseal_tokens_total', 'spanseal_token_type=~"input|cache_.*"')}[${RATE}]))`,
              'from the cache',
            ],
          ],
        },
        {
          title: 'Tokens by agent, model and type',
          kind: 'table',
          queries: [
            [
              `topk(50, ${increaseBy('gen_ai_agent_name, gen_ai_request_model, spanseal_token_type', 'spanseal_tokens_total')})`,
              '',
            ],
          ],
        },
      ],
    ],
    [
      'Work',
      [
        {
          title: 'Tool calls by tool and outcome',
          kind: 'table',
          queries: [
            [
              `topk(50, ${increaseBy('gen_ai_agent_name, gen_ai_tool_name, spanseal_status', 'spanseal_calls_total')})`,
              '',
            ],
          ],
          about: 'A tool has no cost of its own: its result is paid for as input of the next message.',
        },
        {
          title: 'Sub-agents started',
          kind: 'timeseries',
          queries: [[rateBy('gen_ai_agent_name', 'spanseal_subagents_total'), '{{gen_ai_agent_name}}']],
        },
        {
          title: 'Duration of a turn',
          kind: 'timeseries',
          unit: 's',
          queries: [
            [quantile(0.5, 'spanseal_turn_duration_seconds'), 'p50'],
            [quantile(0.95, 'spanseal_turn_duration_seconds'), 'p95'],
          ],
        },
        {
          title: 'Duration of a turn by agent, p95',
          kind: 'timeseries',
          unit: 's',
          queries: [[quantile(0.95, 'spanseal_turn_duration_seconds', 'gen_ai_agent_name'), '{{gen_ai_agent_name}}']],
        },
      ],
    ],
  ],
}

export const DASHBOARDS: readonly Dashboard[] = [AGENT_EVIDENCE, USAGE, COLLECTOR_HEALTH]
