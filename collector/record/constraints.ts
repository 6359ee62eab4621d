// What a prompt forbids becomes part of the run: recorded with its kinds, its targets in the vault.
import type { Claim } from '../../conventions/claim.ts'
import { MAX_CONSTRAINTS, type Stated, sameConstraint } from '../../conventions/constraint.ts'
import { type Context, jsonContent, openTurn, type Reporter, runRef, sourceOf } from './context.ts'
import { addConstraints, type Run } from './state.ts'

/** Records what is new in what a prompt states. A prompt that says nothing new leaves no record. */
export function constraintsStated(ctx: Context, run: Run, claim: Claim, reporter: Reporter, stated: Stated): void {
  const known = (one: Stated['constraints'][number]) => run.constraints.some((other) => sameConstraint(one, other))
  const added = stated.constraints.filter((one) => !known(one))
  const lifts = stated.lifts.filter(known)
  if (added.length === 0 && lifts.length === 0) return
  const kept = added.slice(0, Math.max(0, MAX_CONSTRAINTS - run.constraints.length))
  const body = {
    ...openTurn(run, claim),
    kinds: kept.map(({ kind }) => kind),
    in_force: run.constraints.length + kept.length,
    refused: added.length - kept.length,
    lifts: lifts.length,
  }
  const plain = (list: Stated['constraints']) => list.map(({ kind, target }) => ({ kind, target }))
  ctx.append({
    type: 'constraints.stated',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    body,
    contents: [
      jsonContent('constraints', plain(kept)),
      ...(lifts.length > 0 ? [jsonContent('lifts', plain(lifts))] : []),
    ],
  })
  addConstraints(run, body, kept)
}
