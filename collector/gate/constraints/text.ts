// A prompt as the clauses a person says to the agent. What is quoted, is code, or asks a question, is about something and not said to it.

/** Characters of a prompt that are read, half of them at its end: what a person types stands before or behind what was pasted. */
const MAX_PROMPT_CHARS = 20_000
/** Words of one clause: what is read of each grows with the square of them. Longer ones, as in pasted text, are cut into several. */
const MAX_CLAUSE_WORDS = 200
const FENCED = /```[\s\S]*?(?:```|$)/gu
/** Stands for a quotation or a piece of code. No word of a rule matches it. */
const QUOTED = '\u{F0001}'

/** One clause: lower-case words to match on, and the same words as written, for targets. */
export interface Clause {
  words: string[]
  written: string[]
  /** Number of the sentence it stands in. */
  sentence: number
}

/** The clauses of a prompt in their order. */
export function clausesOf(prompt: string): Clause[] {
  const out: Clause[] = []
  for (const [number, sentence] of sentencesOf(plain(ends(prompt))).entries()) {
    for (const piece of sentence.split(/[,;:()[\]{}]+(?=\s|$)|\s[-–—]+\s|—|(?<=\s)[([{]/u)) {
      const written = piece
        .split(/\s+/u)
        .map(trimmed)
        .filter((word) => word !== '')
      for (let at = 0; at < written.length; at += MAX_CLAUSE_WORDS) {
        const part = written.slice(at, at + MAX_CLAUSE_WORDS)
        out.push({ written: part, words: part.map((word) => word.toLowerCase()), sentence: number })
      }
    }
  }
  return out
}

/** The prompt, without the middle where it is long. */
function ends(prompt: string): string {
  if (prompt.length <= MAX_PROMPT_CHARS) return prompt
  // A fence that begins in the middle must not look like the person's words at the end.
  const text = prompt.replaceAll(FENCED, ` ${QUOTED} `)
  if (text.length <= MAX_PROMPT_CHARS) return text
  const last = text.slice(-MAX_PROMPT_CHARS / 2)
  // The first words may be the rest of a clause that means something else.
  return `${text.slice(0, MAX_PROMPT_CHARS / 2)}\n${last.slice(last.search(/[.!?;,]\s|\n/u) + 1)}`
}

/** A path in quotation marks is a path; anything else in them is somebody else's text. */
function plain(prompt: string): string {
  return prompt
    .replaceAll(/[’‘´]/gu, "'")
    .replaceAll(/[“”„«»]/gu, '"')
    .replaceAll(FENCED, ` ${QUOTED} `)
    .replaceAll(/^[ \t]*>.*$/gmu, ` ${QUOTED} `)
    .replaceAll(/(`)([^`\n]{1,300})`/gu, unquote)
    .replaceAll(/(")([^"\n]{1,2000})"/gu, unquote)
    .replaceAll(/(?<![\p{L}\p{N}])(')([^\n]{1,2000}?)'(?![\p{L}\p{N}])/gu, unquote)
}

function unquote(_all: string, _mark: string, text: string): string {
  return isPath(text.trim()) ? text.trim() : QUOTED
}

/** Questions are taken out, but for those that ask for work: "can you ..., without touching x?" */
function sentencesOf(text: string): string[] {
  const out: string[] = []
  for (const match of text.matchAll(/[^\n]+?(?:[.!?:;]+(?=\s|$)|\n|$)/gu)) {
    const sentence = match[0].trim()
    if (sentence === '') continue
    if (/\?[.!?]*$/u.test(sentence) && !/^(?:please |hey |ok |so )*(?:can|could|would|will) you\b/iu.test(sentence))
      continue
    out.push(sentence.replace(/[.!?:;]+$/u, ''))
  }
  return out
}

function trimmed(word: string): string {
  return word.replace(/^["'!¡¿]+/u, '').replace(/(?<!\*)["'!?,;:]+$/u, '')
}

const BARE_FILES =
  /^(?:makefile|dockerfile|containerfile|rakefile|gemfile|procfile|jenkinsfile|vagrantfile|readme|license|changelog|codeowners|justfile)$/iu

/** Whether a word is a path, a file name or a pattern of them. */
export function isPath(word: string): boolean {
  if (word.length > 1_000 || /[\s"'`\u{F0001}]/u.test(word) || /^[a-z][a-z0-9+.-]*:\/\//iu.test(word)) return false
  if (/^(?:and\/or|either\/or|i\/o|ci\/cd|n\/a|w\/o|tcp\/ip|e\.g|i\.e|etc)\.?$/iu.test(word)) return false
  if (BARE_FILES.test(word)) return true
  if (/[*?]/u.test(word)) return /[./]/u.test(word)
  if (word.includes('/')) return /[\p{L}\p{N}]/u.test(word)
  if (/^\.[\p{L}][\p{L}\p{N}._-]*$/u.test(word)) return true
  return /^[\p{L}\p{N}_@+-][\p{L}\p{N}_@+.-]*\.[\p{L}][\p{L}\p{N}]{0,9}$/u.test(word)
}
