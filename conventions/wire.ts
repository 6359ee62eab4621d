// The answer a hook gets: plain text that a POSIX shell can match whole, so that a cut or foreign reply is never an answer.
//
//   spanseal/1 pass                     exit 0, print nothing
//   spanseal/1 block\n<text>            exit 2, the text on stderr (the agent shows it to the model)
//   spanseal/1 hold <approval>\n<text>  wait in GET /hook/wait/<approval>, whose answer is pass or block
//   spanseal/1 fail\n<text>             the event was not recorded: the run's fail mode before a tool call, exit 1 elsewhere

export type HookAnswer =
  | { kind: 'pass' }
  | { kind: 'block'; text: string }
  | { kind: 'hold'; approval: string; text: string }
  | { kind: 'fail'; text: string }

/** Reply body. Text is one paragraph: line feeds inside stay, the last one goes. */
export function encodeAnswer(answer: HookAnswer): string {
  switch (answer.kind) {
    case 'pass':
      return 'spanseal/1 pass\n'
    case 'hold':
      return `spanseal/1 hold ${answer.approval}\n${answer.text.trim()}\n`
    default:
      return `spanseal/1 ${answer.kind}\n${answer.text.trim()}\n`
  }
}

/** Reads a reply body; null when it is not an answer. */
export function decodeAnswer(body: string): HookAnswer | null {
  if (body === 'spanseal/1 pass\n') return { kind: 'pass' }
  const match = /^spanseal\/1 (?:(block|fail)|hold ([A-Za-z0-9-]{1,64}))\n([\s\S]*\S)\n$/.exec(body)
  if (match === null) return null
  const [, kind, approval, text = ''] = match
  if (approval !== undefined) return { kind: 'hold', approval, text }
  return kind === 'block' ? { kind, text } : { kind: 'fail', text }
}
