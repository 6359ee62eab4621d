// The report in words. Each line says what was checked and what was not; none is left out because it is uncomfortable.

import type { ListedApprover } from './approvers.ts'
import type { CopyReport } from './copies.ts'
import { CODES, type Finding, type Severity } from './findings.ts'
import type { Report } from './report.ts'

const LABEL_WIDTH = 13
const CODE_WIDTH = 30
/** Record numbers and notes printed for one code. */
const MAX_PRINTED = 8

const HEADINGS: Readonly<Record<Severity, string>> = {
  broken: 'Broken',
  enforcement: 'Not obeyed',
  warning: 'Warnings',
}

/** The report as text, with a final line feed. */
export function renderReport(report: Report): string {
  if (report.status === 'unusable') return `${line('Unusable', report.unusable ?? '')}\n`
  const lines = [
    line('Integrity', integrity(report)),
    line('Outside', outside(report)),
    line('Custody', CUSTODY),
    line('Enforcement', enforcement(report)),
    line('Evidence', evidence(report)),
    line('Approvals', approvals(report)),
    line('Content', content(report)),
    line('Not proven', NOT_PROVEN),
  ]
  for (const severity of ['broken', 'enforcement', 'warning'] as const) {
    const found = report.findings.filter((finding) => finding.severity === severity)
    if (found.length > 0) lines.push('', `${HEADINGS[severity]}:`, ...found.map(findingLine))
  }
  return `${lines.join('\n')}\n`
}

const CUSTODY =
  'Collector ran as the SAME USER as the agent, as far as the records say: the agent could have read the keys. Only records an outside copy already had are protected against it.'

const NOT_PROVEN = 'That every action was captured; that a reported result is true; why anything was done; clock times.'

function line(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${text}`
}

function integrity(report: Report): string {
  const { status, size, checkpoint, signed_only } = report
  const torn = report.torn_end ? ' The last write was cut short; nothing had been acknowledged by it.' : ''
  const later = `${count(signed_only, 'later record is', 'later records are')} signed only.`
  const shown =
    report.scope === null ? '' : ` ${count(report.read, 'record is', 'records are')} shown, the others only hashed.`
  if (status === 'intact' && checkpoint !== null) {
    const words = 'Nothing edited, removed, inserted or reordered.'
    return `INTACT to record ${checkpoint.size - 1}, checkpoint over ${checkpoint.size} records by ${checkpoint.key}. ${words} ${later}${shown}${torn}`
  }
  const covered =
    checkpoint === null
      ? 'No checkpoint fits these records.'
      : `The newest checkpoint that fits covers records 0 to ${checkpoint.size - 1}.`
  if (status === 'broken') {
    const codes = report.findings.filter(({ severity }) => severity === 'broken').map(({ code }) => code)
    return `BROKEN: ${codes.join(', ')}. ${covered}${shown}${torn}`
  }
  if (report.pinned.genesis && report.pinned.log_key && checkpoint === null) {
    return `SELF-CONSISTENT ONLY, to record ${size - 1}: signatures, order and hashes agree and the genesis is the pinned one, but an index holds no checkpoint; give one that you have with --checkpoint.`
  }
  const missing = [report.pinned.genesis ? '' : 'the genesis', report.pinned.log_key ? '' : 'the log key'].filter(
    (pin) => pin !== '',
  )
  const foreign = 'copies of it elsewhere are signed by a key that it does not declare.'
  const another =
    missing.length === 0
      ? foreign
      : `another log could stand in its place, because ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not pinned.`
  return `SELF-CONSISTENT ONLY, to record ${size - 1}: signatures, order and hashes agree, but ${another}${checkpoint === null ? ' It has no checkpoint.' : ` ${later}`}${shown}${torn}`
}

function outside(report: Report): string {
  const parts = [
    ...(report.outside === null
      ? []
      : [`A checkpoint kept elsewhere saw this history up to record ${report.outside.size - 1}.`]),
    ...(report.copies === undefined ? [] : [copies(report.copies)]),
  ]
  if (report.outside !== null || (report.copies?.agree_to ?? null) !== null) return parts.join(' ')
  return [...parts, NOT_SEEN].join(' ')
}

const NOT_SEEN =
  'NOT SEEN OUTSIDE: whoever holds the keys could have rewritten all of it; a cut-off tail would not show.'

/** What copies elsewhere say. A missing one proves nothing, so none is counted. */
function copies({ from, counts, agree_to, not_checked }: CopyReport): string {
  const { agrees, other_log: _, ...others } = counts
  const rest = Object.entries(others).flatMap(([verdict, n]) => (n === 0 ? [] : [`${n} ${verdict.replace('_', ' ')}`]))
  const agreed =
    agree_to === null ? 'no copy agrees' : `${count(agrees, 'copy agrees', 'copies agree')} up to record ${agree_to}`
  const left = not_checked.length === 0 ? '' : ` NOT CHECKED: ${not_checked.join('; ')}.`
  return `${from}: ${[agreed, ...rest].join(', ')}. A copy that is missing proves nothing.${left}`
}

function enforcement({ decisions, evidence }: Report): string {
  if (decisions === null) return 'not checked'
  const parts = [
    `decided ${decisions.decided}`,
    `ran after deny ${decisions.ran_against_deny}`,
    `ran without approval ${decisions.ran_without_approval}`,
    `other arguments ${decisions.other_arguments}`,
    `ungated ${decisions.ungated}`,
  ]
  if (decisions.observed > 0) parts.push(`only observed ${decisions.observed}`)
  const modes = evidence?.fail_modes ?? []
  return `${parts.join(', ')}${modes.length === 0 ? '' : ` (fail mode ${modes.join(' and ')})`}`
}

function evidence({ evidence: counts }: Report): string {
  if (counts === null) return 'not checked'
  const gaps = counts.gaps.map(({ kind, count: n, first, last }) => `${kind} ${n} (${span(first, last)})`)
  const total = counts.gaps.reduce((sum, { count: n }) => sum + n, 0)
  const unknown = counts.unknown_types === 0 ? '' : `, ${counts.unknown_types} of types this version does not know`
  return `T1 ${counts.T1} (what the hook reported), T2 ${counts.T2}, T3 ${counts.T3} (someone else's word: receipt only), gaps ${total}${gaps.length === 0 ? '' : `: ${gaps.join(', ')}`}${unknown}`
}

function span(first: string, last: string): string {
  return first === last ? first.slice(0, 19) : `${first.slice(0, 19)} to ${last.slice(0, 19)}`
}

function approvals({ decisions, findings, approvers }: Report): string {
  if (decisions === null) return 'not checked'
  const wrong = findings.some(({ code, severity }) => code.startsWith('approval.') && severity === 'broken')
  const how = decisions.approvals_used === 0 ? '' : ' once, for exactly the approved arguments'
  const used = `${decisions.approvals_used} used${wrong ? '; not all as they were given, see below' : how} (of ${decisions.approvals_asked} asked for)`
  const not = `${decisions.approvals_rejected} rejected, ${decisions.approvals_ended} ended unanswered`
  const who = decisions.unauthenticated === 0 ? '' : ': any process of this user could have given them'
  const broken = decisions.break_glass === 0 ? '' : ` ${decisions.break_glass} unsigned on purpose (break-glass).`
  const listed = approvers.length === 0 ? '' : ` Approvers: ${approvers.map(approverText).join('; ')}.`
  return `${used}. ${not}. ${decisions.unauthenticated} unauthenticated${who}.${broken}${listed}`
}

const VOUCHED: Readonly<Record<ListedApprover['vouched'], string>> = {
  pinned: 'pinned',
  approver: 'added by one who is pinned, or was so added',
  nobody: 'NOT PINNED, nor added by one who is',
}
const KIND: Readonly<Record<ListedApprover['kind'], string>> = {
  passphrase: 'key file behind a passphrase',
  'sk-ssh-ed25519': 'security key, touched',
}

function approverText({ name, kind, added, removed, vouched, answers }: ListedApprover): string {
  const until = removed === null ? '' : ` to ${removed}`
  return `${name} (${KIND[kind]}; ${VOUCHED[vouched]}; from record ${added}${until}) signed ${answers}`
}

function content({ content: counts }: Report): string {
  if (counts === null) return 'none is opened here.'
  const { matched, salt_only, expired, missing, mismatched, later } = counts
  const kept = `${count(matched, 'value', 'values')} opened and match; ${salt_only} kept as salt only; ${expired} expired; ${missing} missing; ${mismatched} do not match`
  return `${kept}${later === 0 ? '' : `; ${later} behind the end of the log`}.`
}

function findingLine({ code, count: n, records, notes }: Finding): string {
  const at = records.length === 0 ? '' : ` At record ${listed(records.map(String), n, ', ')}.`
  const why = [...new Set(notes)]
  return `  ${code.padEnd(CODE_WIDTH)}${n} x ${CODES[code][1]}.${at} ${capital(listed(why, why.length, '; '))}.`
}

function listed(values: string[], total: number, separator: string): string {
  const printed = values.slice(0, MAX_PRINTED)
  return `${printed.join(separator)}${total > printed.length ? `${separator}and more` : ''}`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}
