// Generated from conventions/registry/attributes.yaml by conventions/generate.ts. Do not edit.

/** The signed record this span belongs to: key id, signature and record, base64url, joined by dots. At most 1,900 bytes. */
export const ATTR_SPANSEAL_RECORD = 'spanseal.record'
/** Part 1 of a signed record too long for one attribute; the parts are joined in order. */
export const ATTR_SPANSEAL_RECORD_1 = 'spanseal.record.1'
/** Part 2 of a signed record too long for one attribute; the parts are joined in order. */
export const ATTR_SPANSEAL_RECORD_2 = 'spanseal.record.2'
/** Part 3 of a signed record too long for one attribute; the parts are joined in order. */
export const ATTR_SPANSEAL_RECORD_3 = 'spanseal.record.3'
/** The newest checkpoint (C2SP signed note) when the turn's root span was sent. */
export const ATTR_SPANSEAL_CHECKPOINT = 'spanseal.checkpoint'
/** The log that holds the record. */
export const ATTR_SPANSEAL_LOG_ID = 'spanseal.log.id'
/** Position of the record in the log. */
export const ATTR_SPANSEAL_SEQ = 'spanseal.seq'
/** On a span of others that was passed on: the leaf (RFC 6962, base64) of the signed record of the request it came in. */
export const ATTR_SPANSEAL_LEAF = 'spanseal.leaf'
/** T1 reported by our hook or SDK, T2 decided by an enforcing gateway, T3 receipt only. */
export const ATTR_SPANSEAL_TIER = 'spanseal.tier'
/** Who reported it: hook, sdk, gateway, otlp, transcript, collector or person. */
export const ATTR_SPANSEAL_SOURCE = 'spanseal.source'
/** The run: one agent session on this machine. */
export const ATTR_SPANSEAL_RUN_ID = 'spanseal.run.id'
/** Part of the run, counted from 0. */
export const ATTR_SPANSEAL_RUN_PART = 'spanseal.run.part'
/** The turn: one prompt and its answer. */
export const ATTR_SPANSEAL_TURN_ID = 'spanseal.turn.id'
/** Part of the turn, counted from 0; each part is its own trace. */
export const ATTR_SPANSEAL_TURN_PART = 'spanseal.turn.part'
/** The turn, sub-agent or call was still open when its span had to be sent. */
export const ATTR_SPANSEAL_UNFINISHED = 'spanseal.unfinished'
/** Attempt of the call: the same id with other arguments is a new attempt. */
export const ATTR_SPANSEAL_CALL_ATTEMPT = 'spanseal.call.attempt'
/** deny, ask, flag or allow. */
export const ATTR_SPANSEAL_DECISION = 'spanseal.decision'
/** Ids of the policy rules that matched. */
export const ATTR_SPANSEAL_RULE_IDS = 'spanseal.rule_ids'
/** SHA-256 of the policy in force. */
export const ATTR_SPANSEAL_POLICY_HASH = 'spanseal.policy_hash'
/** enforce, observe, or ungated: no hook speaks for the session. */
export const ATTR_SPANSEAL_MODE = 'spanseal.mode'
/** Whether the tool ran, as far as was reported. */
export const ATTR_SPANSEAL_EXECUTED = 'spanseal.executed'
/** Outcome of the call: ok, error, denied, interrupted, launched or unreported. */
export const ATTR_SPANSEAL_STATUS = 'spanseal.status'
/** How often the same call was asked again while it was open. */
export const ATTR_SPANSEAL_DUPLICATES = 'spanseal.duplicates'
/** The approval a held call waits for. */
export const ATTR_SPANSEAL_APPROVAL_ID = 'spanseal.approval.id'
/** approve, reject, timeout, restart or abandoned. */
export const ATTR_SPANSEAL_APPROVAL_ANSWER = 'spanseal.approval.answer'
/** How the answer was authenticated. */
export const ATTR_SPANSEAL_APPROVAL_AUTHENTICATION = 'spanseal.approval.authentication'
/** What should have been seen and was not. */
export const ATTR_SPANSEAL_GAP_KIND = 'spanseal.gap.kind'
/** How often. */
export const ATTR_SPANSEAL_GAP_COUNT = 'spanseal.gap.count'
/** What happened although the decision forbade it. */
export const ATTR_SPANSEAL_VIOLATION_KIND = 'spanseal.violation.kind'
/** What part of the model's answer: reasoning, text or tool_use. */
export const ATTR_SPANSEAL_MESSAGE_KIND = 'spanseal.message.kind'
/** The sub-agent this happened in. */
export const ATTR_SPANSEAL_SUBAGENT_ID = 'spanseal.subagent.id'
/** Kind of sub-agent, as the agent names it. */
export const ATTR_SPANSEAL_SUBAGENT_TYPE = 'spanseal.subagent.type'
/** The prompt came from a program, not from a person. */
export const ATTR_SPANSEAL_MACHINE_PROMPT = 'spanseal.machine_prompt'
/** Trace id of the agent's own telemetry, where it gave one. */
export const ATTR_SPANSEAL_AGENT_TRACE_ID = 'spanseal.agent.trace_id'
/** Who measured the span's times: agent, hook or collector. */
export const ATTR_SPANSEAL_TIME_SOURCE = 'spanseal.time_source'
/** The reported start lay after the end, or before 1970; the start was moved. */
export const ATTR_SPANSEAL_TIME_CLAMPED = 'spanseal.time_clamped'
/** True on third-party evidence (T3): received, not observed. */
export const ATTR_SPANSEAL_RECEIPT_ONLY = 'spanseal.receipt_only'
/** The agent's own session id. */
export const ATTR_SESSION_ID = 'session.id'
/** invoke_agent, execute_tool or chat. */
export const ATTR_GEN_AI_OPERATION_NAME = 'gen_ai.operation.name'
/** The agent, such as claude-code. */
export const ATTR_GEN_AI_AGENT_NAME = 'gen_ai.agent.name'
/** The agent's version, where it says it. */
export const ATTR_GEN_AI_AGENT_VERSION = 'gen_ai.agent.version'
/** The agent's own session id. */
export const ATTR_GEN_AI_CONVERSATION_ID = 'gen_ai.conversation.id'
/** The tool. */
export const ATTR_GEN_AI_TOOL_NAME = 'gen_ai.tool.name'
/** The agent's id of the call. */
export const ATTR_GEN_AI_TOOL_CALL_ID = 'gen_ai.tool.call.id'
/** The model. */
export const ATTR_GEN_AI_REQUEST_MODEL = 'gen_ai.request.model'
/** Tokens read, once per model message; cached ones included. */
export const ATTR_GEN_AI_USAGE_INPUT_TOKENS = 'gen_ai.usage.input_tokens'
/** Tokens written, once per model message. */
export const ATTR_GEN_AI_USAGE_OUTPUT_TOKENS = 'gen_ai.usage.output_tokens'
/** Tokens read from the provider's cache. */
export const ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS = 'gen_ai.usage.cache_read.input_tokens'
/** Tokens written to the provider's cache. */
export const ATTR_GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS = 'gen_ai.usage.cache_write.input_tokens'
/** policy_denied, tool_error, approval_rejected, approval_expired or unfinished. */
export const ATTR_ERROR_TYPE = 'error.type'
/** Resource: the agent. */
export const ATTR_SERVICE_NAME = 'service.name'
/** Resource: spanseal. */
export const ATTR_SERVICE_NAMESPACE = 'service.namespace'
/** Resource: the log id. */
export const ATTR_SERVICE_INSTANCE_ID = 'service.instance.id'
/** The call's arguments: in a claim the exact text, on a forwarded span what redaction left of it. */
export const ATTR_GEN_AI_TOOL_CALL_ARGUMENTS = 'gen_ai.tool.call.arguments'
/** The call's result: in a claim the exact text, on a forwarded span what redaction left of it. */
export const ATTR_GEN_AI_TOOL_CALL_RESULT = 'gen_ai.tool.call.result'
/** The turn's prompt, as JSON of the GenAI conventions. */
export const ATTR_GEN_AI_INPUT_MESSAGES = 'gen_ai.input.messages'
/** What the model said or asked for, as JSON of the GenAI conventions. */
export const ATTR_GEN_AI_OUTPUT_MESSAGES = 'gen_ai.output.messages'
/** A piece of content was longer than 32 KiB and was cut. */
export const ATTR_SPANSEAL_CONTENT_CUT = 'spanseal.content.cut'
/** Claim: event. */
export const ATTR_SPANSEAL_CLAIM_EVENT = 'spanseal.claim.event'
/** Claim: native event. */
export const ATTR_SPANSEAL_CLAIM_NATIVE_EVENT = 'spanseal.claim.native_event'
/** Claim: turn. */
export const ATTR_SPANSEAL_CLAIM_TURN = 'spanseal.claim.turn'
/** Claim: subagent. */
export const ATTR_SPANSEAL_CLAIM_SUBAGENT = 'spanseal.claim.subagent'
/** Claim: subagent type. */
export const ATTR_SPANSEAL_CLAIM_SUBAGENT_TYPE = 'spanseal.claim.subagent_type'
/** Claim: prompt. */
export const ATTR_SPANSEAL_CLAIM_PROMPT = 'spanseal.claim.prompt'
/** Claim: cwd. */
export const ATTR_SPANSEAL_CLAIM_CWD = 'spanseal.claim.cwd'
/** Claim: transcript. */
export const ATTR_SPANSEAL_CLAIM_TRANSCRIPT = 'spanseal.claim.transcript'
/** Claim: permission mode. */
export const ATTR_SPANSEAL_CLAIM_PERMISSION_MODE = 'spanseal.claim.permission_mode'
/** Claim: reason. */
export const ATTR_SPANSEAL_CLAIM_REASON = 'spanseal.claim.reason'
/** Claim: file. */
export const ATTR_SPANSEAL_CLAIM_FILE = 'spanseal.claim.file'
/** Claim: launched. */
export const ATTR_SPANSEAL_CLAIM_LAUNCHED = 'spanseal.claim.launched'
/** Claim: duration ms. */
export const ATTR_SPANSEAL_CLAIM_DURATION_MS = 'spanseal.claim.duration_ms'
/** Claim: exit code. */
export const ATTR_SPANSEAL_CLAIM_EXIT_CODE = 'spanseal.claim.exit_code'
/** Claim: machine. */
export const ATTR_SPANSEAL_CLAIM_MACHINE = 'spanseal.claim.machine'
/** Claim: approval that the call comes to use. */
export const ATTR_SPANSEAL_CLAIM_APPROVAL = 'spanseal.claim.approval'
/** Claim: background. */
export const ATTR_SPANSEAL_CLAIM_BACKGROUND = 'spanseal.claim.background'
/** Claim: interrupted. */
export const ATTR_SPANSEAL_CLAIM_INTERRUPTED = 'spanseal.claim.interrupted'
