// Text as one word of a POSIX shell.

/** Single-quoted, whatever it holds. A NUL can be in no argument and is a caller's mistake: throws RangeError. */
export function shellQuote(text: string): string {
  if (text.includes('\0')) throw new RangeError('a shell word must not hold a NUL character')
  return `'${text.replaceAll("'", "'\\''")}'`
}
