// Constraints in words, for the model and for people.
import type { Constraint, ConstraintKind } from '../../../conventions/constraint.ts'

/** Constraints named in one sentence. */
const MAX_TOLD = 3
/** Characters of a target that are told. */
const MAX_TARGET_CHARS = 100

const WITHOUT_TARGET: Record<ConstraintKind, string> = {
  'no-modify': 'modify that',
  'read-only': 'change anything',
  'no-push': 'push',
  'no-commit': 'commit',
  'no-network': 'use the network',
  'no-install': 'install anything',
  'no-run': 'run that',
  'no-delete': 'delete anything',
  'no-read': 'read that',
  scope: 'go further',
}

/** "modify billing.py or push": what was forbidden. */
export function inWords(constraints: readonly Constraint[]): string {
  const told = constraints.slice(0, MAX_TOLD).map(({ kind, target }) => {
    if (target === null) return WITHOUT_TARGET[kind]
    if (target === 'open a PR') return target
    const name = target.replaceAll(/\p{C}/gu, '').slice(0, MAX_TARGET_CHARS)
    return `${kind.replace('no-', '')} ${name}`
  })
  return told.join(' or ')
}
