// What Claude Code's http hooks are told: 200 and JSON, nothing else is an answer to it. Checked against Claude Code 2.1.332.
import type { HttpHooks } from '../adapter.ts'

/** First version whose settings know `onFailure`: an older one lets a call run when an http hook fails. */
export const MIN_HTTP_VERSION = '2.1.295'

const NOTHING = { status: 200, body: '{}' }

export const httpHooks: HttpHooks = {
  // The three of each call. All others stay command hooks: those can start the collector.
  events: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
  answer(event, answer, { mode, failMode }) {
    if (mode === 'observe' || answer.kind === 'pass') return NOTHING
    // A result was not recorded: the agent shows the status. With a body it would not be a failure.
    if (event !== 'PreToolUse') return { status: 503, body: '' }
    if (answer.kind === 'block') return deny(answer.text)
    const reason = `${answer.text}\n[spanseal] to repair: spanseal doctor; to remove the hooks: spanseal uninstall`
    if (failMode === 'closed') return deny(`[spanseal] blocked, because it could not be checked: ${reason}`)
    const systemMessage = `[spanseal] not checked and let through (fail mode open): ${reason}`
    return { status: 200, body: JSON.stringify({ systemMessage }) }
  },
}

function deny(permissionDecisionReason: string) {
  const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason }
  return { status: 200, body: JSON.stringify({ hookSpecificOutput }) }
}
