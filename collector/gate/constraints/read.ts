// Reads constraints out of a prompt: instructions to the agent, and not descriptions, quotations or questions. English only.
// The grammar and its four counter-examples ("add a read-only mode", "don't change the public API of", "don't push to main", "we don't
// use the network in unit tests") follow the behaviour users know; docs/constraints.md lists the forms.
import type { Constraint, ConstraintKind, Stated } from '../../../conventions/constraint.ts'
import { sameConstraint } from '../../../conventions/constraint.ts'
import { objectsOf } from './objects.ts'
import { ADVERBS, ends, FORBID, matchAt, OPENERS, PERMIT, type VerbClass, verbClass } from './phrases.ts'
import { type Clause, clausesOf, isPath } from './text.ts'

/** What a person's prompt forbids from here on, and what it seems to permit again. Never throws. */
export function statedIn(prompt: string): Stated {
  const constraints: Constraint[] = []
  const lifts: Constraint[] = []
  const add = (to: Constraint[], found: Constraint[]) => {
    for (const one of found) if (!to.some((other) => sameConstraint(one, other))) to.push(one)
  }
  const clauses = clausesOf(prompt)
  /** Where the clause's sentence begins. */
  let begins = 0
  for (const [number, clause] of clauses.entries()) {
    if (clauses[begins]?.sentence !== clause.sentence) begins = number
    const before = clauses.slice(begins, number)
    add(constraints, whole(clause))
    for (const at of starts(clause)) {
      const forbidden = verbsAt(clause, at, FORBID)
      const said =
        at === 0
          ? before
          : [...before, { ...clause, words: clause.words.slice(0, at), written: clause.written.slice(0, at) }]
      if (forbidden !== null) add(constraints, forbids(clause, forbidden, clauses.slice(number + 1), said))
      const permitted = forbidden === null ? verbsAt(clause, at, PERMIT) : null
      if (permitted !== null)
        add(
          lifts,
          forbids(clause, permitted, [], []).filter(({ kind }) => kind !== 'scope'),
        )
      add(constraints, scope(clause, at))
      add(constraints, nouns(clause, at))
      add(constraints, states(clause, at))
    }
  }
  return { constraints, lifts }
}

/** Places where an instruction can begin: the start, and after an opener. "without" can stand anywhere. */
function starts({ words }: Clause): number[] {
  const out: number[] = []
  for (const [i, word] of words.entries()) {
    const before = words[i - 1]
    if (before === undefined || OPENERS.has(before) || word === 'without' || word === 'w/o') out.push(i)
  }
  return out
}

/** "It should retry and never touch the disk" is said of a program. */
const DECLARES = /^(?:should|must|will|would|shall|can|may|cannot|is|are|was|were|has|have|does|did|needs?|says?)$/

interface Verbs {
  kinds: VerbClass[]
  /** The verbs themselves, lower case. */
  verbs: string[]
  /** Index of the first word behind them. */
  next: number
}

function verbsAt(clause: Clause, at: number, lead: typeof FORBID): Verbs | null {
  const { words } = clause
  const length = matchAt(words, at, lead)
  if (length === 0) return null
  const first = words[at] as string
  if (first === 'never' && words.slice(0, at).some((word) => DECLARES.test(word))) return null
  let i = at + length
  while (ADVERBS.has(words[i] ?? '') && verbClass(words[i] ?? '') === undefined) i++
  if (words[i] === 'go' && verbClass(words[i + 1] ?? '') !== undefined) i++
  const out: Verbs = { kinds: [], verbs: [], next: i }
  for (;;) {
    const kind = verbClass(words[i] ?? '')
    if (kind === undefined) break
    out.kinds.push(kind)
    out.verbs.push(words[i] as string)
    i++
    out.next = i
    // "look at or print": the particle belongs to the verb.
    if (PARTICLES.has(words[i] ?? '') && /^(?:or|and|nor)$/.test(words[i + 1] ?? '')) i++
    if (/^(?:or|and|nor)$/.test(words[i] ?? '') && verbClass(words[i + 1] ?? '') !== undefined) i++
    else break
  }
  return out.kinds.length === 0 ? null : out
}

function forbids(clause: Clause, { kinds, verbs, next }: Verbs, after: Clause[], before: Clause[]): Constraint[] {
  const words = clause.words.slice(next)
  const written = clause.written.slice(next)
  const more = continued(after, clause.sentence)
  return kinds.flatMap((kind, n) => one(kind, verbs[n] as string, words, written, more, before))
}

/** Paths of the clauses behind, where a list goes on: "a.ts, b.ts and c.ts". */
function continued(after: Clause[], sentence: number): string[] {
  const out: string[] = []
  for (const { words, written, sentence: of } of after) {
    const isList = words.every((word, i) => isPath(written[i] as string) || /^(?:and|or|nor|the|in)$/.test(word))
    if (of !== sentence || !isList) break
    out.push(...written.filter((word) => isPath(word)))
  }
  return out
}

const PARTICLES = new Set('to with at into on in of for'.split(' '))

function one(
  kind: VerbClass,
  verb: string,
  words: string[],
  written: string[],
  more: string[],
  before: Clause[],
): Constraint[] {
  const skip = PARTICLES.has(words[0] ?? '') ? 1 : 0
  const object = objectsOf(words.slice(skip), written.slice(skip))
  const each = (what: ConstraintKind) =>
    (object.targets.length > 0 ? [...object.targets, ...more] : []).map((target) => ({ kind: what, target }))
  const text = words.join(' ')
  switch (kind) {
    case 'modify':
      if (NETWORK.test(text) && /^(?:touch|touching)$/.test(verb)) return [NO_NETWORK]
      return modifies(object, each, before, words.length === 0 && /^touch/.test(verb))
    case 'delete':
      if (object.targets.length > 0) return each('no-delete')
      return object.everything && !object.others && ends(object.rest) ? [{ kind: 'no-delete', target: null }] : []
    case 'push':
      return PUSHED.test(text) ? [{ kind: 'no-push', target: null }] : []
    case 'commit':
      return COMMITTED.test(text) ? [{ kind: 'no-commit', target: null }] : []
    case 'install':
    case 'add':
      if (PACKAGES.test(text) || (kind === 'install' && /^(?:anything|any|)(?: (?:new|else|more))?$/.test(text)))
        return [{ kind: 'no-install', target: null }]
      return []
    case 'run':
      return runs(verb, words, written)
    case 'read':
      if (/^open/.test(verb) && PULL_REQUEST.test(text)) return [OPEN_PR]
      if (/^access/.test(verb) && NETWORK.test(text)) return [NO_NETWORK]
      return each('no-read')
    case 'network':
      if (/^go(?:ing)?$/.test(verb) && /^(?:online|on the (?:internet|web))\b/.test(text)) return [NO_NETWORK]
      if (/^download/.test(verb) && object.everything) return [NO_NETWORK]
      return NETWORK.test(text) ? [NO_NETWORK] : []
    case 'make':
      if (
        /^(?:any |more |an? )?(?:network|http|https|api|external|web|internet|outbound|remote)[ /]?\w* ?(?:calls?|requests?|connections?)\b/.test(
          text,
        )
      )
        return [NO_NETWORK]
      return changes(words, written)
    case 'write':
      if (PULL_REQUEST.test(text)) return [OPEN_PR]
      if (/^(?:creat)/.test(verb)) return []
      return object.targets[0] === 'tests' ? [] : modifies(object, each, before, false)
  }
}

const NO_NETWORK: Constraint = { kind: 'no-network', target: null }
const READ_ONLY: Constraint = { kind: 'read-only', target: null }
const OPEN_PR: Constraint = { kind: 'no-run', target: 'open a PR' }
const PULL_REQUEST = /^(?:a |an |any |the )?(?:new |draft )?(?:prs?|pull requests?|merge requests?|mrs?)\b/
const NETWORK =
  /^(?:to )?(?:on )?(?:the |any |an? )?(?:external |public )?(?:internet|network|web|net|apis?|online services?)(?: (?:access|calls?|requests?|at all|here|yet|please|for this|for that|now|today|in this|during)\b.*)?$/
const PUSHED =
  /^(?:yet|now|please|pls|for now|until .*|till .*|unless .*|before .*|anything(?: .*)?|it(?: .*)?|this(?: .*)?|that(?: .*)?|these .*|those .*|(?:the|your|my|any|this) (?:branch|commits?|changes?|code|work|tags?)(?: .*)?|to (?:the )?(?:remote|origin|github|gitlab|upstream|server)(?: .*)?|and .*|but .*|or .*|)$/
const COMMITTED =
  /^(?:yet|now|please|pls|for now|until .*|till .*|unless .*|before .*|anything(?: .*)?|it(?: .*)?|this(?: .*)?|that(?: .*)?|(?:the|your|my|any|these|those) (?:changes?|code|work|files?)(?: .*)?|and .*|but .*|or .*|)$/
const PACKAGES =
  /^(?:any |new |more |extra |other |additional |further |third-party |npm |pip |python |the )*(?:packages?|dependenc(?:y|ies)|deps|libraries|library|modules|tools|software|in dependencies)\b/

function modifies(
  object: ReturnType<typeof objectsOf>,
  each: (kind: ConstraintKind) => Constraint[],
  before: Clause[],
  bareTouch: boolean,
): Constraint[] {
  if (object.others) {
    const paths = object.targets.length > 0 ? object.targets : pathsOf(before)
    return paths.map((target) => ({ kind: 'scope', target }))
  }
  if (object.targets.length > 0) return each('no-modify')
  if (bareTouch) return before.some(({ words }) => /\blook\b/.test(words.join(' '))) ? [READ_ONLY] : []
  return object.everything && ends(object.rest) ? [READ_ONLY] : []
}

function pathsOf(clauses: Clause[]): string[] {
  return clauses.flatMap(({ written }) => written.filter(isPath))
}

/** "any changes", "changes to api.ts". */
function changes(words: string[], written: string[]): Constraint[] {
  let i = 0
  while (/^(?:any|more|further|other|code|file|source|the|additional)$/.test(words[i] ?? '')) i++
  if (!/^(?:changes?|edits?|modifications?)$/.test(words[i] ?? '')) return []
  if (/^(?:to|in)$/.test(words[i + 1] ?? '')) {
    const object = objectsOf(words.slice(i + 2), written.slice(i + 2))
    if (object.targets.length > 0) return object.targets.map((target) => ({ kind: 'no-modify', target }))
    return object.everything && ends(object.rest) ? [READ_ONLY] : []
  }
  return ends(words.slice(i + 1)) ? [READ_ONLY] : []
}

const RUN_STOP =
  /^(?:yet|please|pls|until|till|unless|for|now|again|only|just|and|but|or|because|since|while|when|before|on|in|at|with)$/

function runs(verb: string, words: string[], written: string[]): Constraint[] {
  if (/^(?:deploy|deploying|migrate|migrating)$/.test(verb) && ends(words)) {
    return [{ kind: 'no-run', target: verb.startsWith('deploy') ? 'deploy' : 'migrate' }]
  }
  const target: string[] = []
  for (const [i, word] of words.entries()) {
    if (target.length === 0 && /^(?:the|a|an|any|my|our|your|this|that|these|those|up)$/.test(word)) continue
    if (RUN_STOP.test(word) || target.length === 4) break
    target.push(written[i] as string)
  }
  const text = target.join(' ')
  // "don't run away with it", "don't run anything": too vague to hold one thing by.
  return text === '' || /^(?:anything|it|away|into|out|around|commands?)\b/i.test(text)
    ? []
    : [{ kind: 'no-run', target: text }]
}

/** "no edits", "no commits please", "no network access": only where nothing narrows them. */
function nouns({ words, written }: Clause, at: number): Constraint[] {
  if (words[at] !== 'no' && (at !== 0 || words[at] !== 'without')) return []
  const rest = words.slice(at + 1)
  const text = rest.join(' ')
  const end = (pattern: RegExp) => {
    const found = pattern.exec(text)
    return found !== null && ends(text.slice(found[0].length).trim().split(' ').filter(Boolean))
  }
  if (end(/^(?:git )?(?:commits?|committing)(?= |$)/)) return [{ kind: 'no-commit', target: null }]
  if (end(/^(?:git )?(?:push|pushes|pushing)(?= |$)/)) return [{ kind: 'no-push', target: null }]
  if (
    end(
      /^(?:internet|network|web|online|outbound|external)(?: (?:access|calls?|requests?|use|usage|connections?|traffic))?(?= |$)/,
    )
  )
    return [NO_NETWORK]
  if (
    end(
      /^(?:new |extra |additional |more )?(?:packages?|dependencies|deps|installs?|installing|libraries|installations?)(?= |$)/,
    )
  )
    return [{ kind: 'no-install', target: null }]
  if (end(/^(?:deletions?|deletes?|deleting|removals?)(?: of)?(?: any)?(?: files?)?(?= |$)/))
    return [{ kind: 'no-delete', target: null }]
  if (end(/^(?:code |file |source )?(?:editing|writing|modifying|writes)(?: (?:of )?(?:any )?(?:files?|code))?(?= |$)/))
    return [READ_ONLY]
  return changes(rest, written.slice(at + 1))
}

/** "billing.py is off limits", "leave x alone", "hands off y", "work offline", "stay read-only". */
function states({ words, written }: Clause, at: number): Constraint[] {
  const rest = words.slice(at)
  const said = written.slice(at)
  const text = rest.join(' ')
  const hold = (from: number): Constraint[] =>
    objectsOf(rest.slice(from), said.slice(from)).targets.map((target) => ({ kind: 'no-modify', target }))
  const away = /^(?:hands off|stay away from|stay out of|keep out of|keep away from|keep your hands off)(?: of)? /.exec(
    text,
  )
  if (away !== null) return hold(away[0].trim().split(' ').length)
  if (/^(?:leave|keep) /.test(text)) {
    const object = objectsOf(rest.slice(1), said.slice(1))
    const kept =
      /^(?:alone|as is|as-is|as it is|as they are|as it was|untouched|unchanged|intact|be|out of (?:it|this)|the same|exactly as)\b/
    if (object.targets.length > 0 && kept.test(object.rest.join(' '))) return hold(1)
    if (object.targets.length === 0 && object.everything && kept.test(object.rest.join(' '))) return [READ_ONLY]
  }
  const off =
    /^(.*) (?:is|are|stays?|must stay|must remain|remains?|should stay) (?:strictly |totally |completely )?(?:off[- ]limits|untouchable|untouched|frozen|read-?only|as is|as-is|unchanged|taboo)$/.exec(
      text,
    )
  if (off !== null) {
    const object = objectsOf((off[1] as string).split(' '), said)
    if (object.targets.length > 0 && object.rest.length === 0) return hold(0)
  }
  if (/^(?:stay|work|remain|you(?:'re| are)|be|we(?:'re| are)) (?:completely )?offline(?: |$)/.test(text))
    return [NO_NETWORK]
  return []
}

const RO = 'read-?only|read only'
const READ_ONLY_FORMS = alternatives(
  `(?:${RO})(?: mode| access| session| task| review)?(?: please| pls| only| here| for now| today| thanks)*`,
  `(?:this|it)(?:'s| is) (?:a |an )?(?:strictly )?(?:${RO})(?: session| task| question| review| request| exercise| run| job)?(?: please| only)?`,
  `(?:stay|work|remain|operate|run|be) (?:in )?(?:${RO})(?: mode)?(?: please| only| for now| here| today)?`,
  `(?:keep|make) (?:it|this|things|everything|this session|this run)(?: strictly)? (?:${RO})(?: please| for now)?`,
  `treat (?:the |this |my )?(?:repo|repository|project|code|codebase|everything|it) as (?:${RO})`,
  `(?:just |only )?look(?:ing)? only`,
)
const OFFLINE_FORM = alternatives('offline(?: only| please| mode)?')

function alternatives(...forms: string[]): RegExp {
  return new RegExp(`^(?:${forms.map((form) => `(?:${form})`).join('|')})$`)
}

/** A clause that says read-only as a whole. */
function whole({ words }: Clause): Constraint[] {
  const text = words.join(' ').replace(/^(?:please|ok|okay|so|and|but|again|just) /, '')
  if (READ_ONLY_FORMS.test(text)) return [READ_ONLY]
  return OFFLINE_FORM.test(text) ? [NO_NETWORK] : []
}

const CHANGING = /^(?:change|modify|edit|touch|update|fix|alter|work|write|refactor|rewrite)$/

/** "only change src/pager.py", "update invoice.py only", "restrict your edits to docs/". */
function scope({ words, written }: Clause, at: number): Constraint[] {
  const rest = words.slice(at)
  const said = written.slice(at)
  const text = rest.join(' ')
  const within = (from: number): Constraint[] =>
    objectsOf(rest.slice(from), said.slice(from)).targets.map((target) => ({ kind: 'scope', target }))
  const limit =
    /^(?:please )?(?:restrict|limit|confine|keep) (?:(?:all|any|your|the|yourself|my) ?)*(?:edits?|changes?|work|modifications?|yourself)? ?(?:to|in|inside|within) /.exec(
      text,
    )
  if (limit !== null) return within(limit[0].trim().split(/\s+/).length)
  const stay =
    /^(?:stay|remain|work only|change only|edit only|touch only|changes only|edits only) ?(?:with)?(?:in|inside|within)? /.exec(
      text,
    )
  if (stay !== null && /in(?:side)? $|within $|only $/.test(stay[0])) return within(stay[0].trim().split(/\s+/).length)
  if ((rest[0] === 'only' || words[at - 1] === 'only') && CHANGING.test(rest[rest[0] === 'only' ? 1 : 0] ?? '')) {
    const from = rest[0] === 'only' ? 2 : 1
    return within(PARTICLES.has(rest[from] ?? '') ? from + 1 : from)
  }
  if (!CHANGING.test(rest[0] ?? '')) return []
  const object = objectsOf(rest.slice(1), said.slice(1))
  const tail = object.rest.join(' ')
  const alone =
    /^(?:only|and nothing (?:more|else)|alone)$/.test(tail) ||
    (words[at - 1] === 'just' && /^nothing (?:more|else)/.test(tail))
  return alone ? object.targets.map((target) => ({ kind: 'scope', target })) : []
}
