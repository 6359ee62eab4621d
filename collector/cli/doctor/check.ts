// What a check of the doctor says.

export interface Check {
  /** Stable: scripts and documentation refer to it. */
  id: string
  status: 'ok' | 'warn' | 'fail'
  detail: string
  /** What repairs it; on everything that is not ok. */
  fix?: string
}

export const ok = (id: string, detail: string): Check => ({ id, status: 'ok', detail })
export const warn = (id: string, detail: string, fix: string): Check => ({ id, status: 'warn', detail, fix })
export const fail = (id: string, detail: string, fix: string): Check => ({ id, status: 'fail', detail, fix })

/** 0 all well, 1 something fails, 2 only warnings. */
export function exitOf(checks: readonly Check[]): number {
  if (checks.some(({ status }) => status === 'fail')) return 1
  return checks.some(({ status }) => status === 'warn') ? 2 : 0
}
