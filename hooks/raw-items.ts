// The exact text of each item of a JSON array, so that a sender's own bytes survive one level further down.

/**
 * Splits the text of an array that `parseStrict` has accepted (so brackets and quotes are known to match) into the exact texts of
 * its items, without the white space around them.
 */
export function rawItems(array: string): string[] {
  const items: string[] = []
  let depth = 0
  let from = array.indexOf('[') + 1
  for (let at = from; at < array.length; at++) {
    const char = array[at]
    if (char === '"') at = endOfString(array, at)
    else if (char === '[' || char === '{') depth++
    else if (depth > 0 && (char === ']' || char === '}')) depth--
    else if (depth === 0 && (char === ',' || char === ']')) {
      const item = array.slice(from, at).trim()
      if (item !== '') items.push(item)
      from = at + 1
    }
  }
  return items
}

/** Index of the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end
}
