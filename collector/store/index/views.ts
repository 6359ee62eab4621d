// The documented views: what questions are asked of. Data, so that documentation is generated from the same lines.

import { costSql, MODEL_PRICES, ratedOf, UNPRICED } from './prices.ts'
import { TELEMETRY_VIEWS } from './telemetry-views.ts'

export interface ViewDoc {
  name: string
  /** One line for people who write queries. */
  doc: string
  sql: string
}

/** In this order: later views use earlier ones. */
export const VIEWS: readonly ViewDoc[] = [
  {
    name: 'decisions',
    doc: 'What the gate said of each call: decision, rules, policy, and whether it stopped the call (enforced).',
    sql: `SELECT seq, time, run_id, run_part, turn, sub, call_id, attempt, body->>'tool' AS tool,
        body->>'decision' AS decision, CAST(body->'rules' AS VARCHAR[]) AS rules,
        CAST(body->>'rules_total' AS UINTEGER) AS rules_total, CAST(body->>'enforced' AS BOOLEAN) AS enforced,
        body->>'policy_hash' AS policy_hash, body->>'permission_mode' AS permission_mode,
        CAST(body->>'background' AS BOOLEAN) AS background, tier, source_kind, source_way, trace_id, span_id,
        to_base64(leaf) AS leaf
      FROM records WHERE type = 'tool.decided'`,
  },
  {
    name: 'approvals',
    doc: 'Each call that was held for a person: its state (pending, approved, rejected, expired, consumed) and the answer.',
    sql: `WITH steps AS (
        SELECT seq, time, type, run_id, run_part, turn, sub, call_id, attempt, body, body->>'approval' AS approval
        FROM records
        WHERE type IN ('approval.requested', 'approval.answered', 'approval.consumed', 'approval.expired')
      ), held AS (
        SELECT approval, min(seq) AS seq,
          arg_min(run_id, seq) AS run_id, arg_min(run_part, seq) AS run_part, arg_min(turn, seq) AS turn,
          arg_min(sub, seq) AS sub, arg_min(call_id, seq) AS call_id, arg_min(attempt, seq) AS attempt,
          min(time) FILTER (type = 'approval.requested') AS requested_at,
          min(time) FILTER (type = 'approval.answered') AS answered_at,
          min(time) FILTER (type = 'approval.consumed') AS consumed_at,
          min(time) FILTER (type = 'approval.expired') AS expired_at,
          arg_min(body, seq) FILTER (type = 'approval.requested') AS request,
          arg_min(body, seq) FILTER (type = 'approval.answered') AS reply,
          arg_min(body, seq) FILTER (type = 'approval.expired') AS ended
        FROM steps GROUP BY approval
      )
      SELECT approval, CASE WHEN consumed_at IS NOT NULL THEN 'consumed' WHEN (reply->>'answer') = 'reject' THEN 'rejected'
          WHEN expired_at IS NOT NULL THEN 'expired' WHEN (reply->>'answer') = 'approve' THEN 'approved'
          ELSE 'pending' END AS state,
        request->>'tool' AS tool, reply->>'answer' AS answer, reply->>'authentication' AS authentication,
        CAST(reply->>'waited_ms' AS UBIGINT) AS waited_ms, ended->>'reason' AS expired_reason,
        requested_at, answered_at, consumed_at, expired_at,
        strptime(request->>'expires', '%Y-%m-%dT%H:%M:%S.%gZ') AS expires,
        request->>'decision' AS decision_leaf, request->>'policy_hash' AS policy_hash, request->>'nonce' AS nonce,
        run_id, run_part, turn, sub, call_id, attempt, seq
      FROM held`,
  },
  {
    name: 'calls',
    doc: 'One row per attempt of a tool call: what was decided, what came of it, and the approval it waited for.',
    sql: `WITH steps AS (
        SELECT seq, time, type, run_id, run_part, turn, sub, call_id, attempt, trace_id, span_id, body, leaf
        FROM records WHERE type IN ('tool.decided', 'tool.completed') AND call_id IS NOT NULL
      ), attempts AS (
        SELECT run_id, call_id, attempt, min(seq) AS seq, arg_min(run_part, seq) AS run_part,
          arg_min(turn, seq) AS turn, arg_min(sub, seq) AS sub, arg_min(body->>'tool', seq) AS tool,
          arg_min(trace_id, seq) AS trace_id, arg_min(span_id, seq) AS span_id,
          min(time) FILTER (type = 'tool.decided') AS decided_at,
          max(time) FILTER (type = 'tool.completed') AS completed_at,
          arg_min(body, seq) FILTER (type = 'tool.decided') AS decided,
          arg_max(body, seq) FILTER (type = 'tool.completed') AS completed
        FROM steps GROUP BY run_id, call_id, attempt
      ), held AS (
        SELECT run_id, call_id, attempt, arg_max(approval, seq) AS approval, arg_max(answer, seq) AS answer
        FROM approvals GROUP BY run_id, call_id, attempt
      )
      SELECT run_id, run_part, call_id, attempt, turn, sub, tool, decided->>'decision' AS decision,
        CAST(decided->'rules' AS VARCHAR[]) AS rules, CAST(decided->>'enforced' AS BOOLEAN) AS enforced,
        completed->>'status' AS status, CAST(completed->>'exit_code' AS BIGINT) AS exit_code,
        CAST(completed->>'duration_ms' AS UBIGINT) AS duration_ms, decided_at, completed_at, approval, answer,
        CAST(completed->>'duplicates' AS UBIGINT) AS duplicates, completed->>'launched' AS launched,
        trace_id, span_id, seq
      FROM attempts LEFT JOIN held USING (run_id, call_id, attempt)`,
  },
  {
    name: 'prompts',
    doc: 'Prompts: when, how long, and whether a program wrote them; not their text.',
    sql: `SELECT seq, time, run_id, run_part, turn, sub, CAST(body->>'machine' AS BOOLEAN) AS machine,
        CAST(body->>'bytes' AS UBIGINT) AS bytes
      FROM records WHERE type = 'prompt.submitted'`,
  },
  {
    name: 'messages',
    doc: 'Parts of the model’s answers (reasoning, text, tool_use) with model and the tokens no earlier part counted; not their text.',
    sql: `SELECT seq, time, run_id, run_part, turn, sub, body->>'kind' AS kind, body->>'model' AS model,
        body->>'message' AS message, body->>'tool' AS tool,
        CAST(body->>'$.usage.input' AS UBIGINT) AS input_tokens, CAST(body->>'$.usage.output' AS UBIGINT) AS output_tokens,
        CAST(body->>'$.usage.cache_read' AS UBIGINT) AS cache_read_tokens,
        CAST(body->>'$.usage.cache_write' AS UBIGINT) AS cache_write_tokens,
        CAST(body->>'$.usage.cache_write_1h' AS UBIGINT) AS cache_write_1h_tokens,
        CAST(body->>'$.usage.reasoning' AS UBIGINT) AS reasoning_tokens, trace_id, span_id
      FROM records WHERE type = 'model.message'`,
  },
  {
    name: 'model_prices',
    doc: 'Which list prices fit each model that was seen, ours or told by others: a model that is not here has no price.',
    sql: MODEL_PRICES,
  },
  {
    name: 'usage',
    doc: 'Tokens per run part, sub-agent and model, each message once, and their cost in nano-USD: an estimate from list prices (see prices), NULL where the model has none.',
    sql: `WITH calls AS (
        SELECT run_id, message, arg_min(run_part, seq) AS run_part, any_value(sub) AS sub, any_value(model) AS model,
          min(time) AS time, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
          sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
          sum(cache_write_1h_tokens) AS cache_write_1h_tokens, sum(reasoning_tokens) AS reasoning_tokens
        FROM messages GROUP BY run_id, message
      ), ${ratedOf('calls', 'run_id, message')}
      SELECT run_id, run_part, sub, model, count(*) AS messages, sum(input_tokens) AS input_tokens,
        sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
        sum(cache_write_tokens) AS cache_write_tokens, sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
        sum(reasoning_tokens) AS reasoning_tokens, sum(${costSql('cache_write_1h_tokens')}) AS cost_nano_usd,
        sum(${UNPRICED}) AS unpriced_tokens
      FROM calls LEFT JOIN rated USING (run_id, message) GROUP BY run_id, run_part, sub, model`,
  },
  {
    name: 'gaps',
    doc: 'What should have been seen and was not.',
    sql: `SELECT seq, time, run_id, run_part, turn, sub, call_id, attempt, body->>'kind' AS kind,
        CAST(body->>'count' AS UBIGINT) AS count, body->>'tool' AS tool
      FROM records WHERE type = 'gap'`,
  },
  {
    name: 'violations',
    doc: 'What happened although the decision forbade it.',
    sql: `SELECT seq, time, run_id, run_part, turn, sub, call_id, attempt, body->>'kind' AS kind,
        body->>'tool' AS tool, body->>'decision' AS decision_leaf
      FROM records WHERE type = 'violation'`,
  },
  {
    name: 'runs',
    doc: 'One row per run part: agent, session, how it opened and closed, what happened in it, counted, and by which ways in it came.',
    sql: `WITH parts AS (
        SELECT run_id, run_part, min(time) AS first_activity, max(time) AS last_activity, count(*) AS records,
          arg_min(body, seq) FILTER (type = 'run.opened') AS opening,
          arg_max(body, seq) FILTER (type = 'run.closed') AS closing,
          min(time) FILTER (type = 'run.opened') AS opened, max(time) FILTER (type = 'run.closed') AS closed,
          count(DISTINCT (call_id, attempt)) FILTER (type IN ('tool.decided', 'tool.completed')) AS calls,
          count(*) FILTER (type = 'tool.decided' AND (body->>'decision') = 'deny') AS denied,
          count(*) FILTER (type = 'tool.decided' AND (body->>'decision') = 'ask') AS asked,
          count(*) FILTER (type = 'tool.decided' AND (body->>'decision') = 'flag') AS flagged,
          count(*) FILTER (type = 'gap') AS gaps, count(*) FILTER (type = 'violation') AS violations,
          count(*) FILTER (type = 'prompt.submitted') AS prompts,
          list_sort(list(DISTINCT source_way) FILTER (source_way IS NOT NULL)) AS ways, min(seq) AS seq
        FROM records WHERE run_id IS NOT NULL GROUP BY run_id, run_part
      )
      SELECT run_id, run_part, opening->>'agent' AS agent, opening->>'agent_version' AS agent_version,
        opening->>'session' AS session, CAST(opening->>'ordinal' AS UBIGINT) AS ordinal, opening->>'mode' AS mode,
        opening->>'fail_mode' AS fail_mode, opening->>'reason' AS open_reason, opened, closed,
        closing->>'reason' AS close_reason, calls, denied, asked, flagged, gaps, violations, prompts, ways,
        records,
        first_activity, last_activity, seq
      FROM parts`,
  },
  {
    name: 'spans',
    doc: 'Third-party spans (T3), once each: someone else’s word, received and not observed. Copies with other content stay apart.',
    sql: `SELECT trace_id, span_id, min(parent_span_id) AS parent_span_id, min(name) AS name, min(kind) AS kind,
        make_timestamp_ns(TRY_CAST(min(start_ns) AS BIGINT)) AS started, make_timestamp_ns(TRY_CAST(min(end_ns) AS BIGINT)) AS ended,
        (CAST(min(end_ns) AS DOUBLE) - CAST(min(start_ns) AS DOUBLE)) / 1e6 AS duration_ms, min(service) AS service,
        min(scope) AS scope, CASE min(status) WHEN 1 THEN 'ok' WHEN 2 THEN 'error' ELSE 'unset' END AS status,
        any_value(attributes) AS attributes, min(withheld) AS withheld_attributes, count(*) AS received, min(seq) AS seq,
        true AS receipt_only
      FROM import_spans GROUP BY trace_id, span_id, body_hash`,
  },
  {
    name: 'logs',
    doc: 'Third-party log records (T3), once each: someone else’s word, received and not observed. Their bodies stay in the vault.',
    sql: `SELECT make_timestamp_ns(TRY_CAST(min(time_ns) AS BIGINT)) AS time, min(severity) AS severity, min(event) AS event,
        min(trace_id) AS trace_id, min(span_id) AS span_id, min(service) AS service, min(scope) AS scope,
        any_value(attributes) AS attributes, min(withheld) AS withheld_attributes, count(DISTINCT seq) AS received,
        min(seq) AS seq, true AS receipt_only
      FROM import_logs GROUP BY body_hash, copy`,
  },
  {
    name: 'metrics',
    doc: 'Third-party metric data points (T3), once each: someone else’s word, received and not observed.',
    sql: `SELECT min(metric) AS metric, min(unit) AS unit, min(kind) AS kind,
        CASE min(temporality) WHEN 1 THEN 'delta' WHEN 2 THEN 'cumulative' ELSE 'unspecified' END AS temporality,
        make_timestamp_ns(TRY_CAST(min(start_ns) AS BIGINT)) AS started, make_timestamp_ns(TRY_CAST(min(time_ns) AS BIGINT)) AS time,
        min(value) AS value, min(count) AS count, min(sum) AS sum, min(service) AS service, min(scope) AS scope,
        any_value(attributes) AS attributes, min(withheld) AS withheld_attributes, count(*) AS received, min(seq) AS seq,
        true AS receipt_only
      FROM import_points GROUP BY body_hash`,
  },
  {
    name: 'imports',
    doc: 'Accepted OTLP requests of third parties: how many items came, how many were refused or are indexed, and of how many sessions.',
    sql: `SELECT seq, time, CASE type WHEN 'spans.imported' THEN 'traces' WHEN 'logs.imported' THEN 'logs' ELSE 'metrics' END AS signal,
        CAST(body->>'count' AS UBIGINT) AS count, CAST(body->>'rejected' AS UBIGINT) AS rejected,
        body->>'encoding' AS encoding, CAST(body->>'bytes' AS UBIGINT) AS bytes,
        CAST(body->>'spoofed' AS UBIGINT) AS spoofed, coalesce(CAST(body->>'loops' AS UBIGINT), 0) AS loops,
        CAST(body->>'sessions' AS UBIGINT) AS sessions, coalesce(indexed, 0) AS indexed, true AS receipt_only
      FROM records LEFT JOIN (
        SELECT seq, count(*) AS indexed FROM (
          SELECT seq FROM import_spans UNION ALL SELECT seq FROM import_logs UNION ALL SELECT seq FROM import_points
        ) GROUP BY seq
      ) USING (seq)
      WHERE type IN ('spans.imported', 'logs.imported', 'metrics.imported')`,
  },
  {
    name: 'import_sessions',
    doc: 'Sessions that third-party telemetry speaks of (T3), a row for each part: its requests, and whether it was closed as idle.',
    sql: `SELECT body->>'session' AS session, CAST(body->>'part' AS UINTEGER) AS part, any_value(body->>'name') AS name,
        min(time) FILTER (type = 'session.imported') AS opened, min(time) FILTER (type = 'session.closed') AS closed,
        CAST(max(body->>'requests') AS UBIGINT) AS requests, min(seq) AS seq, true AS receipt_only
      FROM records WHERE type IN ('session.imported', 'session.closed') GROUP BY body->>'session', body->>'part'`,
  },
  {
    name: 'foreign_records',
    doc: 'Records of other collectors, once each, that verify under a configured peer’s key: that peer’s word (receipt only), `peer_tier` included. `same_span`: one came on the span that it is about.',
    sql: `SELECT peer, log_id, log_seq, type, time, tier AS peer_tier, trace_id, span_id, bool_or(same_span) AS same_span,
        leaf, kid, count(*) AS received, min(seq) AS seq, true AS receipt_only
      FROM import_records GROUP BY peer, kid, log_id, log_seq, leaf, type, time, tier, trace_id, span_id`,
  },
  {
    name: 'timeline',
    doc: 'All records of a run in their order, one readable line each.',
    sql: `SELECT run_id, run_part, run_seq, time, turn, sub, type, call_id, attempt,
        CASE type
          WHEN 'run.opened' THEN concat_ws(' ', body->>'agent', body->>'mode', '(' || (body->>'reason') || ')')
          WHEN 'run.closed' THEN body->>'reason'
          WHEN 'prompt.submitted' THEN concat(CASE WHEN (body->>'machine') = 'true' THEN 'machine prompt, ' ELSE 'prompt, ' END,
            body->>'bytes', ' bytes')
          WHEN 'turn.closed' THEN concat_ws(' ', 'turn', body->>'reason', (body->>'calls') || ' calls')
          WHEN 'model.message' THEN concat_ws(' ', body->>'kind', body->>'tool', body->>'model')
          WHEN 'tool.decided' THEN concat_ws(' ', body->>'tool', body->>'decision',
            nullif(array_to_string(CAST(body->'rules' AS VARCHAR[]), ' '), ''))
          WHEN 'tool.completed' THEN concat_ws(' ', body->>'tool', body->>'status', 'exit ' || (body->>'exit_code'),
            (body->>'duration_ms') || ' ms')
          WHEN 'approval.requested' THEN concat_ws(' ', body->>'tool', 'held as', body->>'approval')
          WHEN 'approval.answered' THEN concat_ws(' ', body->>'approval', body->>'answer', body->>'authentication')
          WHEN 'approval.consumed' THEN concat_ws(' ', body->>'approval', 'used')
          WHEN 'approval.expired' THEN concat_ws(' ', body->>'approval', body->>'reason')
          WHEN 'gap' THEN concat_ws(' ', body->>'kind', 'x' || (body->>'count'), body->>'tool')
          WHEN 'violation' THEN concat_ws(' ', body->>'tool', body->>'kind')
          ELSE coalesce(concat_ws(' ', body->>'tool', body->>'kind', body->>'state', body->>'phase', body->>'problem',
            body->>'reason', body->>'sub_type'), '') END AS what,
        tier, source_kind, source_event, trace_id, span_id, parent_span_id, seq
      FROM records WHERE run_id IS NOT NULL ORDER BY run_id, seq`,
  },
  ...TELEMETRY_VIEWS,
]
