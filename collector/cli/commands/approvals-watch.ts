// `spanseal approvals watch`: one line for each call that begins to wait, with a bell and a notification where somebody sees them.
import { setTimeout as sleep } from 'node:timers/promises'
import { askOk, type PendingApproval } from '../admin-client.ts'
import type { Context } from '../context.ts'
import { print, say } from '../output.ts'
import { shorten, visible } from '../text.ts'

/** Milliseconds between looks: somebody who waits for a bell does not notice a second. */
const LOOK_MS = 1_000
/** Characters of a notification; desktops show about as many. */
const NOTICE_CHARS = 120

export async function run({ home }: Context): Promise<number> {
  say('waiting for calls to approve; end with Ctrl-C')
  let seen = new Set<string>()
  for (;;) {
    const pending = (await askOk(home, 'GET', '/approvals')) as PendingApproval[]
    for (const held of pending) if (!seen.has(held.id)) announce(held)
    seen = new Set(pending.map(({ id }) => id))
    await sleep(LOOK_MS)
  }
}

/** What the agent wrote is made visible: it can't ring, move the cursor or end the notification early. */
function announce({ id, tool, agent, rules, reason }: PendingApproval): void {
  const line = visible(`${id}  ${tool}  ${rules.join(' ')}  ${agent}  ${reason}`)
  print(line)
  // BEL, and OSC 9: terminals that know it show a desktop notification, others nothing.
  if (process.stdout.isTTY) process.stdout.write(`\x07\x1b]9;Spanseal: ${shorten(line, NOTICE_CHARS)}\x1b\\`)
}
