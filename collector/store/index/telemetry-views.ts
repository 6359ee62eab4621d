// Views of third-party telemetry (T3) as it was understood: every row says `receipt_only`. A run here is what one service said of
// one session; where it named none, of one trace.
import { costSql, ratedOf, UNPRICED } from './prices.ts'
import type { ViewDoc } from './views.ts'

/** What was reported of how something ended, in words that can't be taken for more. */
const OUTCOME = (column: string) =>
  `CASE ${column} WHEN 'error' THEN 'error reported' WHEN 'success' THEN 'success reported' ELSE 'no error reported' END`

/** Strictest first. */
const WOULD = (column: string) =>
  `['would_allow', 'would_flag', 'would_ask', 'would_deny'][max(CASE ${column} WHEN 'would_deny' THEN 4 WHEN 'would_ask' THEN 3
    WHEN 'would_flag' THEN 2 WHEN 'would_allow' THEN 1 END)]`

export const TELEMETRY_VIEWS: readonly ViewDoc[] = [
  {
    name: 'telemetry',
    doc: 'Third-party spans, log records and data points (T3), once each, as they were understood: operation, agent, session, model, tokens, tool. Receipt only.',
    sql: `WITH firsts AS (
        SELECT min(rowid) AS first_row, count(*) AS received FROM import_views GROUP BY row_hash, copy
      ), once AS MATERIALIZED (
        SELECT import_views.*, received FROM import_views JOIN firsts ON import_views.rowid = first_row
      ), named AS (
        SELECT trace_id, service, min(session) AS session FROM once WHERE session IS NOT NULL AND trace_id IS NOT NULL
        GROUP BY trace_id, service HAVING count(DISTINCT session) = 1
      )
      SELECT coalesce(once.session, named.session, once.trace_id, 'request ' || once.seq) AS run,
        coalesce(once.session, named.session) AS session, coalesce(once.service, 'unknown_service') AS service, agent, signal, dialect, operation, name,
        make_timestamp_ns(TRY_CAST(time_ns AS BIGINT)) AS time, duration_ms, model, provider, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, reasoning_tokens, response, tool, call_id, agent_decision, finish,
        ${OUTCOME('outcome')} AS outcome, error_type, requested, metric, value, token_type, would, would_rules, would_policy,
        unread AS unread_attributes, unread_names, once.trace_id, span_id, parent_span_id, row_hash, copy, received, once.seq,
        true AS receipt_only
      FROM once LEFT JOIN named ON named.trace_id = once.trace_id AND named.service IS NOT DISTINCT FROM once.service`,
  },
  {
    name: 'model_calls',
    doc: 'Calls of a model that others report (T3, receipt only), with their cost in nano-USD by list prices. Sum over `counted` rows: it is false where another row tells of the same call.',
    sql: `WITH calls AS MATERIALIZED (SELECT * FROM telemetry WHERE operation IN ('chat', 'embeddings')),
      inner_spans AS (
        SELECT trace_id, parent_span_id FROM calls
        WHERE signal = 'span' AND parent_span_id IS NOT NULL AND (input_tokens IS NOT NULL OR output_tokens IS NOT NULL)
      ), placed AS (
        SELECT *, signal = 'span' AND (trace_id, span_id) IN (SELECT (trace_id, parent_span_id) FROM inner_spans) AS has_inner,
          bool_or(signal = 'span' AND (input_tokens IS NOT NULL OR output_tokens IS NOT NULL))
            OVER (PARTITION BY run, service) AS spans_tell
        FROM calls
      ), ${ratedOf('calls', 'row_hash, copy')}
      SELECT run, session, service, agent, signal, dialect, operation, time, duration_ms, model, provider, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, ${costSql()} AS cost_nano_usd,
        ${UNPRICED} AS unpriced_tokens, finish, outcome, error_type, response,
        NOT has_inner AND (signal = 'span' OR NOT spans_tell) AND row_number() OVER (
          PARTITION BY run, service, signal, has_inner, coalesce(trace_id, ''),
            coalesce(response, CASE signal WHEN 'span' THEN span_id ELSE concat(row_hash, ' ', copy) END)
          ORDER BY seq, span_id
        ) = 1 AS counted, trace_id, span_id, seq, true AS receipt_only
      FROM placed LEFT JOIN rated USING (row_hash, copy)`,
  },
  {
    name: 'tool_calls',
    doc: 'Tool calls that others report (T3, receipt only), one row a call however many spans and log records tell of it; `would` is what the policy says afterwards.',
    sql: `WITH told AS MATERIALIZED (
        SELECT *, row_number() OVER (PARTITION BY run, service, signal, tool, call_id IS NULL ORDER BY time, seq) AS nth
        FROM telemetry WHERE operation = 'execute_tool' OR (operation = 'decision' AND call_id IS NOT NULL)
      ), in_spans AS (
        SELECT run, service, tool, count(DISTINCT coalesce(call_id, span_id)) AS calls FROM told
        WHERE signal = 'span' AND operation = 'execute_tool' GROUP BY run, service, tool
      ), tool_spans AS (
        SELECT trace_id, span_id FROM told WHERE signal = 'span' AND operation = 'execute_tool'
      ), single AS (
        SELECT told.*, coalesce(call_id, CASE signal WHEN 'span' THEN 'span ' || span_id ELSE concat('log ', row_hash, ' ', copy) END)
          AS call
        FROM told LEFT JOIN in_spans USING (run, service, tool)
        WHERE call_id IS NOT NULL OR (signal = 'log' AND nth > coalesce(calls, 0)) OR (signal = 'span' AND (
          parent_span_id IS NULL OR (trace_id, parent_span_id) NOT IN (SELECT (trace_id, span_id) FROM tool_spans)
        ))
      )
      SELECT run, any_value(session) AS session, service, any_value(agent) AS agent, arg_min(tool, seq) AS tool,
        any_value(call_id) AS call_id, min(time) AS time, max(duration_ms) FILTER (operation = 'execute_tool') AS duration_ms,
        any_value(agent_decision) AS agent_decision, bool_or(operation = 'execute_tool') AS execution_reported,
        CASE WHEN bool_or(outcome = 'error reported' AND operation = 'execute_tool') THEN 'error reported'
          WHEN bool_or(outcome = 'success reported' AND operation = 'execute_tool') THEN 'success reported'
          ELSE 'no error reported' END AS outcome,
        any_value(error_type) AS error_type, ${WOULD('would')} AS would,
        CAST(arg_max(would_rules, len(CAST(would_rules AS VARCHAR))) AS VARCHAR[]) AS would_rules,
        any_value(would_policy) AS would_policy, list_sort(list(DISTINCT signal)) AS told_by, count(*) AS items,
        any_value(trace_id) AS trace_id, min(seq) AS seq, true AS receipt_only
      FROM single GROUP BY run, service, call`,
  },
  {
    name: 'cross_checks',
    doc: 'Tool calls of sessions that both our hooks (T1) and the agent’s own telemetry (T3) speak of, compared. T3 is receipt only: it closes no gap.',
    sql: `WITH ours AS (
        SELECT r.session, c.run_id, c.call_id, arg_max(c.tool, c.attempt) AS tool, arg_max(c.decision, c.attempt) AS decision,
          arg_max(c.enforced, c.attempt) AS enforced, arg_max(c.status, c.attempt) AS status
        FROM calls c JOIN (SELECT DISTINCT run_id, session FROM runs WHERE session IS NOT NULL) r USING (run_id)
        GROUP BY r.session, c.run_id, c.call_id
      ), theirs AS (
        SELECT session, call_id, any_value(tool) AS tool, bool_or(execution_reported) AS executed, any_value(agent_decision) AS agent_decision,
          CASE WHEN bool_or(outcome = 'error reported') THEN 'error reported'
            WHEN bool_or(outcome = 'success reported') THEN 'success reported' ELSE 'no error reported' END AS outcome,
          min(seq) AS seq
        FROM tool_calls WHERE session IS NOT NULL AND call_id IS NOT NULL GROUP BY session, call_id
      ), both_speak AS (
        SELECT session, any_value(run_id) AS run_id FROM runs WHERE session IN (SELECT session FROM theirs) GROUP BY session
      )
      SELECT session, both_speak.run_id, call_id,
        CASE WHEN ours.call_id IS NULL THEN 'only telemetry' WHEN theirs.call_id IS NULL THEN 'only hooks'
          WHEN ours.tool <> theirs.tool THEN 'tool differs'
          WHEN ours.status = 'denied' AND theirs.outcome = 'success reported' THEN 'ran although denied'
          WHEN ours.status = 'ok' AND theirs.outcome = 'error reported' THEN 'outcome differs'
          WHEN ours.status = 'error' AND theirs.outcome = 'success reported' THEN 'outcome differs'
          ELSE 'agrees' END AS finding,
        ours.tool AS hook_tool, theirs.tool AS telemetry_tool, ours.decision, ours.status AS hook_status,
        theirs.outcome AS telemetry_outcome, theirs.agent_decision, theirs.seq AS telemetry_seq,
        theirs.call_id IS NOT NULL AS receipt_only
      FROM (SELECT * FROM ours WHERE session IN (SELECT session FROM both_speak)) ours
        FULL JOIN (SELECT * FROM theirs WHERE session IN (SELECT session FROM both_speak)) theirs USING (session, call_id)
        JOIN both_speak USING (session)`,
  },
  {
    name: 'imported_runs',
    doc: 'What third-party telemetry tells of each agent run (T3, receipt only): calls, tokens, errors. `run_id` names the run our hooks recorded of the same session.',
    sql: `WITH items AS (
        SELECT run, service, any_value(session) AS session, any_value(agent) FILTER (operation = 'invoke_agent') AS root_agent,
          any_value(agent) AS agent, list_sort(list(DISTINCT dialect) FILTER (dialect IS NOT NULL)) AS dialects, min(time) AS started,
          max(time) AS last_item, count(*) AS items, count(*) FILTER (dialect IS NULL) AS not_understood,
          sum(unread_attributes) AS unread_attributes, count(DISTINCT trace_id) AS traces, min(seq) AS seq, max(seq) AS last_seq
        FROM telemetry GROUP BY run, service
      ), models AS (
        SELECT run, service, count(*) AS model_calls, list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)) AS models,
          sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
          sum(cache_write_tokens) AS cache_write_tokens, sum(reasoning_tokens) AS reasoning_tokens,
          sum(cost_nano_usd) AS cost_nano_usd, sum(unpriced_tokens) AS unpriced_tokens
        FROM model_calls WHERE counted GROUP BY run, service
      ), tools AS (
        SELECT run, service, count(*) AS tool_calls, count(*) FILTER (outcome = 'error reported') AS tool_errors,
          count(*) FILTER (would = 'would_deny') AS would_deny, count(*) FILTER (would = 'would_ask') AS would_ask
        FROM tool_calls GROUP BY run, service
      ), hooked AS (
        SELECT session, any_value(run_id) AS run_id FROM runs WHERE session IS NOT NULL GROUP BY session
      )
      SELECT run, items.session, service, coalesce(root_agent, agent) AS agent, dialects, started, last_item, items, not_understood,
        unread_attributes, traces, coalesce(model_calls, 0) AS model_calls, models, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_nano_usd, unpriced_tokens, coalesce(tool_calls, 0) AS tool_calls,
        coalesce(tool_errors, 0) AS tool_errors, coalesce(would_deny, 0) AS would_deny, coalesce(would_ask, 0) AS would_ask,
        hooked.run_id, dialects IS NULL AS not_session_data, items.seq, items.last_seq, true AS receipt_only
      FROM items
        LEFT JOIN models USING (run, service)
        LEFT JOIN tools USING (run, service)
        LEFT JOIN hooked ON hooked.session = items.session`,
  },
  {
    name: 'session_usage',
    doc: 'Tokens per session and model, each counted once: from our hooks’ transcripts where they have any (T1), else from telemetry (T3, receipt only). Input has cached tokens in it. Cost: nano-USD, estimated from list prices.',
    sql: `WITH ours AS (
        SELECT r.session, any_value(r.agent) AS agent, u.model, sum(u.messages) AS messages,
          sum(u.input_tokens) AS input_tokens, sum(u.output_tokens) AS output_tokens, sum(u.cache_read_tokens) AS cache_read_tokens,
          sum(u.cache_write_tokens) AS cache_write_tokens, sum(u.reasoning_tokens) AS reasoning_tokens,
          sum(u.cost_nano_usd) AS cost_nano_usd, sum(u.unpriced_tokens) AS unpriced_tokens
        FROM usage u JOIN (SELECT run_id, any_value(session) AS session, any_value(agent) AS agent FROM runs GROUP BY run_id) r
          USING (run_id)
        WHERE u.input_tokens IS NOT NULL GROUP BY r.session, u.model
      )
      SELECT 'T1' AS tier, session, CAST(NULL AS VARCHAR) AS service, agent, model, messages, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
        reasoning_tokens, cost_nano_usd, unpriced_tokens, false AS receipt_only FROM ours
      UNION ALL
      SELECT 'T3', run, service, any_value(agent), model, count(*), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(reasoning_tokens), sum(cost_nano_usd), sum(unpriced_tokens), true
      FROM model_calls WHERE counted AND (session IS NULL OR session NOT IN (SELECT session FROM ours))
      GROUP BY run, service, model`,
  },
]
