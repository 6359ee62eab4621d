// Text that someone else wrote, made safe and short for a terminal.

/** Characters that move the cursor, change colours, hide text or turn it round: C0, DEL, C1, bidirectional and other format marks. */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const NAMES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\u001b': '\\e' }

/** The text with every control and format character written out; one line. */
export function visible(text: string): string {
  return text.replace(UNSEEN, written).replace(/\p{Surrogate}/gu, written)
}

/** The same, but line feeds stay and tabs become spaces: for text of several lines. */
export function visibleLines(text: string): string[] {
  return text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n').map(visible)
}

/** At most `max` characters, the cut marked. Never cuts a character in half. */
export function shorten(text: string, max: number): string {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}

function written(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return NAMES[character] ?? (code > 0xff ? `\\u{${code.toString(16)}}` : `\\x${code.toString(16).padStart(2, '0')}`)
}
