// The events of Claude Code that we register, and how. Checked against Claude Code 2.1.332.
import type { EventRule } from '../adapter.ts'

/** Seconds. Longest a call is held: the hook answers within 590 s, before the agent stops waiting and lets the call run. */
export const GATE_TIMEOUT_SECONDS = 600

/** Seconds. A settings change needs no person; it may have to start the collector. */
export const CONFIG_TIMEOUT_SECONDS = 60

/** Seconds. Events that only report; they may have to start the collector (20 s). */
export const REPORT_TIMEOUT_SECONDS = 60

/** Seconds. Without it Claude Code cancels this hook after about 1.5 s; longer would hold up a person who quits. */
export const SESSION_END_TIMEOUT_SECONDS = 20

const report = (claim: EventRule['claim'], timeoutSeconds = REPORT_TIMEOUT_SECONDS): EventRule => ({
  claim,
  gate: false,
  silenceAnswers: false,
  timeoutSeconds,
})

export const EVENTS: Readonly<Record<string, EventRule>> = {
  SessionStart: report('session.start'),
  UserPromptSubmit: report('prompt'),
  PreToolUse: {
    claim: 'tool.before',
    gate: true,
    silenceAnswers: false,
    timeoutSeconds: GATE_TIMEOUT_SECONDS,
    statusMessage: 'Spanseal checks the call; if it is held, answer it: spanseal approvals list',
  },
  // Silence lets the agent ask in its own way, headless that is a no.
  PermissionRequest: { ...report('permission'), silenceAnswers: true },
  PostToolUse: report('tool.after'),
  PostToolUseFailure: report('tool.failed'),
  PostToolBatch: report('tool.reported'),
  SubagentStart: report('subagent.start'),
  SubagentStop: report('subagent.end'),
  PreCompact: report('compact.before'),
  PostCompact: report('compact.after'),
  ConfigChange: {
    claim: 'settings.change',
    gate: true,
    silenceAnswers: false,
    timeoutSeconds: CONFIG_TIMEOUT_SECONDS,
    statusMessage: 'Spanseal checks that its hooks are still in place',
  },
  Stop: report('turn.end'),
  SessionEnd: report('session.end', SESSION_END_TIMEOUT_SECONDS),
}
