// Random but lawful sessions, for properties: what the recorder could write, in any order it could write it.
import fc from 'fast-check'
import { MemoryLog, Session } from './support.ts'

const ACTIONS = [
  'allow',
  'deny',
  'ask',
  'finish',
  'fail',
  'reject',
  'expire',
  'say',
  'gap',
  'sub',
  'cut',
  'prompt',
] as const
type Action = (typeof ACTIONS)[number]

/** Which of two sessions does what next. */
export const scripts = fc.array(fc.record({ who: fc.nat({ max: 1 }), action: fc.constantFrom(...ACTIONS) }), {
  maxLength: 60,
})
export type Script = { who: number; action: Action }[]

/** Plays a script into a fresh log; at the end every turn and run is closed. */
export function play(script: Script): MemoryLog {
  const log = new MemoryLog()
  const players = ['one', 'two'].map((name) => new Player(new Session(log, name).open(`agent-${name}`).prompt()))
  for (const { who, action } of script) players[who]?.act(action)
  for (const player of players) player.close()
  return log
}

class Player {
  readonly session: Session
  #count = 0
  /** Calls without a result; held ones wait for an approval. */
  #open: { call: string; held: boolean; sub?: string }[] = []
  #sub: string | null = null

  constructor(session: Session) {
    this.session = session
  }

  act(action: Action): void {
    const { session } = this
    const call = `c${this.#count++}`
    const inSub = this.#sub === null || this.#count % 2 === 0 ? {} : { sub: this.#sub }
    switch (action) {
      case 'allow':
        session.decide(call, 'allow', inSub)
        this.#open.push({ call, held: false, ...inSub })
        break
      case 'deny':
        session.decide(call, 'deny', inSub)
        break
      case 'ask':
        session.decide(call, 'ask').ask(call)
        this.#open.push({ call, held: true })
        break
      case 'finish':
      case 'fail':
        this.#finish(action === 'finish' ? 'ok' : 'error')
        break
      case 'reject':
      case 'expire':
        this.#refuse(action)
        break
      case 'say':
        session.say('text', inSub)
        break
      case 'gap':
        session.gap()
        break
      case 'sub':
        this.#switchSub(call)
        break
      case 'cut':
        session.closeTurn('crash')
        this.#open = this.#open.filter(({ sub }) => sub !== undefined)
        break
      case 'prompt':
        this.#endTurn()
        session.prompt(`t-${call}`)
    }
  }

  close(): void {
    this.#endTurn()
    this.session.close()
  }

  #finish(status: 'ok' | 'error' | 'unreported'): void {
    const next = this.#open.shift()
    if (next === undefined) return
    const { call, held, ...inSub } = next
    if (held) this.session.answer(call, 'approve')
    this.session.complete(call, status, inSub)
  }

  #refuse(how: 'reject' | 'expire'): void {
    const at = this.#open.findIndex(({ held }) => held)
    const [next] = at < 0 ? [] : this.#open.splice(at, 1)
    if (next === undefined) return
    if (how === 'reject') this.session.answer(next.call, 'reject')
    else this.session.expire(next.call)
  }

  /** Opens a background sub-agent, or ends the open one, every second time in the middle of its work. */
  #switchSub(name: string): void {
    if (this.#sub === null) {
      this.#sub = `s-${name}`
      this.session.startSub(this.#sub)
      return
    }
    const finished = this.#count % 2 === 0
    while (finished && this.#open.some(({ sub }) => sub !== undefined)) this.#finish('unreported')
    this.session.endSub(this.#sub, finished)
    this.#open = this.#open.filter(({ sub }) => sub === undefined)
    this.#sub = null
  }

  #endTurn(): void {
    if (this.#sub !== null) this.#switchSub('')
    while (this.#open.length > 0) this.#finish('unreported')
    this.session.closeTurn()
  }
}
