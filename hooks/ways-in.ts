// The ways in which an agent's event can reach the collector. Each needs its rows in the fault table of test/e2e/claude.

/** `sh`: hook.sh with the system's curl. `node`: hook.cjs, where there is no such curl. */
export const WAYS_IN = ['sh', 'node'] as const

export type WayIn = (typeof WAYS_IN)[number]
