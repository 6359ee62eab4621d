// The native events that wait for an answer, for the installed hooks: they load no adapter. A test holds it to the adapters' rules.

/** Before these events a failure blocks (exit 2); on every other one it is only reported (exit 1), never 2. */
export const GATE_EVENTS: readonly string[] = ['PreToolUse', 'ConfigChange']
