// What a text must hold for a pattern to match in it, found in a fraction of the pattern's time. An anchor may be there without a
// match, never a match without its anchor.

/** Whether it is in a text. */
export type Anchor = (text: string) => boolean

/**
 * A literal whose first character is rare in text, spans and JSON: text is searched for that character, many bytes at a time. Shorter
 * than seven characters: V8 looks for longer ones in another way, which is slow where there is none.
 */
export const literal =
  (part: string): Anchor =>
  (text) =>
    text.includes(part)

export const found =
  (pattern: RegExp): Anchor =>
  (text) =>
    pattern.test(text)

export const either =
  (one: Anchor, other: Anchor): Anchor =>
  (text) =>
    one(text) || other(text)

/** Characters before `:` or `=` in which the name begins: the longest there is, what may follow it, quotes and blanks. */
const MAX_NAME_CHARS = 48
/** Where there are more `:` and `=` than one in so many characters, as in JSON, looking at each costs more than the patterns. */
const CHARS_PER_SIGN = 256

/** `:` or `=` behind a name in which `name` is found. */
export const assignment =
  (name: RegExp): Anchor =>
  (text) => {
    let left = Math.ceil(text.length / CHARS_PER_SIGN)
    for (const sign of [':', '=']) {
      for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
        if (left-- <= 0 || name.test(text.slice(Math.max(0, at - MAX_NAME_CHARS), at))) return true
      }
    }
    return false
  }

/** Says of each anchor whether it is in the text; looks for each once. */
export function anchorsOf(text: string): (anchor: Anchor) => boolean {
  const known = new Map<Anchor, boolean>()
  return (anchor) => {
    const before = known.get(anchor)
    if (before !== undefined) return before
    const now = anchor(text)
    known.set(anchor, now)
    return now
  }
}
