// Who may answer asks: each change is a record that follows the one before it, signed by somebody who might answer already.
import type { Approver, ApproverChange } from '../../conventions/approval.ts'
import { type Proof, proofBody, proofContents } from './approvals.ts'
import type { Context } from './context.ts'

/** Records a change that was checked. */
export function approverChanged(ctx: Context, change: ApproverChange, proof: Proof): void {
  const { after, kid } = change
  const common = { source: { kind: 'person' as const }, ...proofContents(proof) }
  if (change.action === 'remove') {
    ctx.append({ type: 'approver.removed', ...common, body: { kid, after, ...proofBody(proof) } })
    return
  }
  ctx.append({ type: 'approver.added', ...common, body: { ...bodyOf(change), after, ...proofBody(proof) } })
}

const bodyOf = ({ kid, name, kind, spki, application }: Approver) => ({
  kid,
  name,
  kind,
  spki,
  ...(application === undefined ? {} : { application }),
})
