// A decision in words for the model: what is stopped, which rule, what instead. Nothing of the command itself, which may hold secrets.
import type { Facts, GateDecision, PathFact } from './call.ts'
import { UNKNOWN } from './call.ts'

/** Rules named in one explanation; the record lists all. */
const MAX_RULES_TOLD = 3
/** Reasons told: more than two read as noise. */
const MAX_REASONS_TOLD = 2
/** Programs named in one explanation. */
const MAX_PROGRAMS_TOLD = 5

/** One short paragraph. */
export function explain({ decision, rules, reasons, facts }: GateDecision): string {
  if (decision === 'allow') return 'Allowed.'
  const said = { deny: 'Denied', ask: 'Waits for a person', flag: 'Allowed and flagged' }[decision]
  const told = rules.slice(0, MAX_RULES_TOLD)
  const more = rules.length > told.length ? ` and ${rules.length - told.length} more` : ''
  const why = [...new Set(reasons.slice(0, MAX_REASONS_TOLD))].join(' ')
  return `${said} by rule ${told.join(', ')}${more}: ${what(facts)}. ${why}`
}

function what(facts: Facts): string {
  const programs = [...new Set(facts.runs.filter(({ known }) => known).map(({ program }) => program))].filter(
    (name) => /^[\w.+-]{1,40}$/.test(name) && !name.includes(UNKNOWN),
  )
  const tool = facts.knownTool ? facts.tool : 'the tool'
  const names = programs.slice(0, MAX_PROGRAMS_TOLD).join(', ')
  const effects = [
    zones('reads', facts.reads),
    zones('writes', facts.writes),
    zones('deletes', facts.deletes),
    network(facts),
  ].filter((text) => text !== '')
  const runs = names === '' ? tool : `${tool} runs ${names}`
  return effects.length === 0 ? runs : `${runs} and ${effects.join(', ')}`
}

const ZONE_WORDS = {
  project: 'in the project',
  temp: 'in a temporary folder',
  home: 'in the home folder',
  outside: 'outside the project',
  unknown: 'at a place only known at run time',
} as const

function zones(verb: string, paths: PathFact[]): string {
  const places = [...new Set(paths.map(({ zone }) => ZONE_WORDS[zone]))]
  return places.length === 0 ? '' : `${verb} ${places.join(' and ')}`
}

function network({ net }: Facts): string {
  if (net.length === 0) return ''
  return net.some(({ dir }) => dir === 'out') ? 'sends to the network' : 'uses the network'
}
