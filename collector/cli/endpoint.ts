// Where the running collector of a home says it listens.
import { readFileSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'

export interface Endpoint {
  otlp: string | null
  hook: string
  admin: string
  pid: number
}

/** The endpoint file; null when there is none (no collector runs) or it can't be read as one. */
export function readEndpoint(home: HomePaths): Endpoint | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(home.endpoint, 'utf8'))
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const { otlp, hook, admin, pid } = value as Record<string, unknown>
  if (typeof hook !== 'string' || typeof admin !== 'string' || typeof pid !== 'number') return null
  return { otlp: typeof otlp === 'string' ? otlp : null, hook, admin, pid }
}
