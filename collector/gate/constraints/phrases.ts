// The words in which people forbid things, as patterns over the lower-case words of a clause. Order matters: longer forms first.

/** One alternative of words per position; `?` in front: may be missing. */
type Pattern = readonly string[]

const pattern = (text: string): Pattern => text.split(' ')

/** After these an instruction can begin in the middle of a clause. */
export const OPENERS: ReadonlySet<string> = new Set(
  'and but or then so just please also however though yet plus only still ok okay yes sure alright great good fine now'.split(
    ' ',
  ),
)

/** Forbids the verb that follows. */
export const FORBID: readonly Pattern[] = [
  "i|we don't|dont want you to",
  'i|we do not want you to',
  'you must|should|may|can|shall|will ?never not|never',
  "you mustn't|shouldn't|can't|cannot|won't|mustnt|shouldnt|cant",
  "you are|'re not|never ?allowed|supported to",
  "you're|youre not ?allowed to",
  'make|be sure ?that ?you ?to do not',
  "make|be sure ?that ?you don't|dont|never",
  'make|be sure not to',
  'be careful|sure not to',
  'take care not to',
  'try not to',
  'remember not to',
  'under no circumstances',
  'do not|never',
  "do n't",
  "don't|dont|don´t|never|no|avoid|without|w/o",
  'refrain from',
].map(pattern)

/** Permits the verb that follows: the person seems to end a constraint. */
export const PERMIT: readonly Pattern[] = [
  'you can|may|could ?now ?also',
  'go ahead and',
  'feel free to',
  "it's|its ok|okay|fine|alright ?now to",
  'it is ok|okay|fine|alright ?now to',
  'ok|okay|fine to',
].map(pattern)

/** Between the negation and its verb. */
export const ADVERBS: ReadonlySet<string> = new Set(
  'ever even actually yet also just please now go to start'.split(' '),
)

/** Length of the first pattern that matches at `at`, or 0. */
export function matchAt(words: readonly string[], at: number, patterns: readonly Pattern[]): number {
  for (const one of patterns) {
    const end = follow(words, at, one)
    if (end > 0) return end - at
  }
  return 0
}

function follow(words: readonly string[], at: number, one: Pattern): number {
  let i = at
  for (const part of one) {
    const may = part.startsWith('?')
    const word = words[i]
    if (word !== undefined && (may ? part.slice(1) : part).split('|').includes(word)) i++
    else if (!may) return 0
  }
  return i
}

export type VerbClass =
  | 'modify'
  | 'delete'
  | 'push'
  | 'commit'
  | 'install'
  | 'add'
  | 'run'
  | 'read'
  | 'network'
  | 'make'
  | 'write'

const VERBS: Record<VerbClass, string> = {
  modify:
    'touch modify change edit alter update overwrite rewrite refactor adjust reformat tweak patch amend mess fiddle tamper',
  delete: 'delete remove erase drop rm purge wipe rename move unlink',
  push: 'push',
  commit: 'commit',
  install: 'install',
  add: 'add introduce pull bring',
  run: 'run execute start launch invoke deploy migrate',
  read: 'read open view cat inspect peek look access print',
  network: 'use hit reach contact connect call download fetch browse search go',
  make: 'make do',
  write: 'write create',
}

const CLASS_OF = new Map<string, VerbClass>(
  (Object.entries(VERBS) as [VerbClass, string][]).flatMap(([kind, list]) =>
    list.split(' ').flatMap((verb) => [verb, gerund(verb)].map((form): [string, VerbClass] => [form, kind])),
  ),
)

function gerund(verb: string): string {
  if (/[^aeiou]e$/.test(verb)) return `${verb.slice(0, -1)}ing`
  if (/^(?:run|get|drop|cat|hit|rm)$/.test(verb) || verb === 'commit') return `${verb}${verb.at(-1)}ing`
  return `${verb}ing`
}

/** What kind of doing a word is, as verb or gerund. */
export function verbClass(word: string): VerbClass | undefined {
  return CLASS_OF.get(word)
}

/** Words that follow a statement without changing what it forbids. */
const TRAILING = new Set(
  'yet please pls plz until till now at whatsoever today here either unless because since as while when before this that it i ok okay thanks again and but or so in on during ever under'.split(
    ' ',
  ),
)

/** Whether a statement may end before these words. */
export function ends(rest: readonly string[]): boolean {
  const [first, second = ''] = rest
  if (first === 'for') return /^(?:now|this|that|the|today|a|me|us)$/.test(second)
  return first === undefined || TRAILING.has(first)
}
