// Every agent we have an adapter for.
import type { Adapter } from './adapter.ts'
import { claudeCode } from './claude-code/adapter.ts'

/** Adapters by agent id. */
export const adapters: ReadonlyMap<string, Adapter> = new Map([[claudeCode.agent, claudeCode]])
