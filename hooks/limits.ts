// How long an installed hook waits. Together less than the 600 s after which Claude Code stops waiting and lets a call run:
// answer + start + answer + wait = 590.

/** Seconds for one request to the collector, whole. An answer takes milliseconds; the rest is for a loaded machine. */
export const ANSWER_SECONDS = 5

/** Seconds for the collector to start and answer. */
export const START_SECONDS = 20

/** Seconds for a person's answer. The collector gives up first, after 9 minutes. */
export const WAIT_SECONDS = 560

/** The three, in seconds; fractions are allowed. Tests use smaller ones. */
export interface HookDeadlines {
  answer: number
  start: number
  wait: number
}

export const DEADLINES: HookDeadlines = { answer: ANSWER_SECONDS, start: START_SECONDS, wait: WAIT_SECONDS }
