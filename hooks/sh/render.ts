// Fills the installed sh hook's template (hook.sh) with the values of one home.
import { GATE_EVENTS } from '../gate-events.ts'
import { DEADLINES, type HookDeadlines } from '../limits.ts'
import { shellQuote } from './quote.ts'

/** What an installed hook must know; all paths absolute. */
export interface HookSettings {
  home: string
  /** HOME of the person, for the collector the hook starts. */
  userHome: string
  hookSocket: string
  /** The Node binary. */
  runtime: string
  /** The `spanseal.mjs` to start the collector with. */
  cli: string
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
  /** For tests: other deadlines than the usual ones. */
  deadlines?: HookDeadlines
}

/**
 * The hook script. `template` is the text of hooks/sh/hook.sh; every value goes in as one quoted shell word.
 * Throws when template and values do not fit together.
 */
export function renderShHook(template: string, settings: HookSettings & { curl: string }): string {
  const deadlines = settings.deadlines ?? DEADLINES
  const values: Record<string, string> = {
    GATES: GATE_EVENTS.join(' | '),
    HOME: shellQuote(settings.home),
    USER_HOME: shellQuote(settings.userHome),
    SOCKET: shellQuote(settings.hookSocket),
    RUNTIME: shellQuote(settings.runtime),
    CLI: shellQuote(settings.cli),
    CURL: shellQuote(settings.curl),
    MODE: settings.mode,
    FAIL_MODE: settings.failMode,
    COMMAND_TEXT: shellQuote(commandText(settings)),
    ANSWER_SECONDS: String(deadlines.answer),
    START_SECONDS: String(deadlines.start),
    WAIT_SECONDS: String(deadlines.wait),
  }
  const used = new Set<string>()
  const script = template.replace(/@([A-Z_]+)@/g, (_match, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the hook template asks for ${name}, which has no value`)
    used.add(name)
    return value
  })
  const unused = Object.keys(values).filter((name) => !used.has(name))
  if (unused.length > 0) throw new Error(`the hook template does not use ${unused.join(', ')}`)
  return script
}

/** The command line that a message tells a person to run, up to the verb. */
export function commandText(settings: Pick<HookSettings, 'home' | 'runtime' | 'cli'>): string {
  return [settings.runtime, settings.cli]
    .map(shellQuote)
    .join(' ')
    .concat(` --home ${shellQuote(settings.home)}`)
}
