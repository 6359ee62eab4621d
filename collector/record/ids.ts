// Trace and span ids, derived: HMAC(per-home secret, what the span stands for). The same thing always has the same id, and nobody
// without the secret can tell a session from its ids.
import { createHmac } from 'node:crypto'

export class Ids {
  private readonly secret: Uint8Array

  /** `secret`: 32 random bytes of this home. */
  constructor(secret: Uint8Array) {
    this.secret = secret
  }

  /** 32 hex: the run of an agent's session. */
  run(agent: string, session: string): string {
    return this.derive(32, 'run', agent, session)
  }

  /** 16 hex: a session that imports speak of, by the sender's id of it. */
  importedSession(name: string): string {
    return this.derive(16, 'import', name)
  }

  /** 32 hex: the trace of one part of a turn, or of a background sub-agent. */
  trace(kind: 'turn' | 'subagent' | 'gap', run: string, runPart: number, id: string, part: number): string {
    return this.derive(32, 'trace', kind, run, String(runPart), id, String(part))
  }

  /** 16 hex: a span inside a trace. */
  span(trace: string, kind: string, id = '', attempt = 1): string {
    return this.derive(16, 'span', trace, kind, id, String(attempt))
  }

  /** 64 hex: stands for a text that may hold secrets, and can't be tried out without ours. */
  hashOf(text: string): string {
    return this.derive(64, 'text', text)
  }

  private derive(hexChars: number, ...parts: string[]): string {
    // JSON keeps the parts apart, whatever characters ids hold.
    return createHmac('sha256', this.secret).update(JSON.stringify(parts)).digest('hex').slice(0, hexChars)
  }
}
