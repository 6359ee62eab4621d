// Are our entries still in force? Asked by the gate when the agent says that its settings changed.
import type { Handler } from './entries.ts'
import { proxyOf } from './proxy.ts'

type SettingsProblem = 'none' | 'hooks_disabled' | 'hooks_missing' | 'hooks_changed' | 'hooks_proxied' | 'unreadable'

/**
 * Reads a settings text as Claude Code does: strict JSON behind an optional byte order mark, the last of equal keys counts, nothing
 * of a broken file is in force. `text`: null when the file is gone. `install`: what we wrote into this file; null when we wrote
 * nothing there, then only switching all hooks off is a problem. `http`: whether the agent has http hooks of ours anywhere; then so is a
 * proxy for them.
 */
export function settingsProblem(
  text: string | null,
  install: { handlers: Readonly<Record<string, Handler>> } | null,
  http = false,
): SettingsProblem {
  const settings = text === null || text.trim() === '' ? {} : parse(text.replace(/^\ufeff/, ''))
  if (!isObject(settings)) return 'unreadable'
  if (member(settings, 'disableAllHooks') === true) return 'hooks_disabled'
  const env = member(settings, 'env')
  if (http && isObject(env) && proxyOf(env, true) !== null) return 'hooks_proxied'
  if (install === null) return 'none'
  const hooks = member(settings, 'hooks')
  let changed = false
  for (const [event, handler] of Object.entries(install.handlers)) {
    const state = entryState(member(hooks, event), handler)
    if (state === 'missing') return 'hooks_missing'
    changed ||= state === 'changed'
  }
  return changed ? 'hooks_changed' : 'none'
}

function entryState(groups: unknown, expected: Handler): 'same' | 'changed' | 'missing' {
  let found = false
  for (const group of asList(groups)) {
    for (const handler of asList(member(group, 'hooks'))) {
      const at = expected.type === 'http' ? 'url' : 'command'
      if (member(handler, at) !== member(expected, at)) continue
      found = true
      const matcher = member(group, 'matcher')
      const everyTool = matcher === undefined || matcher === '' || matcher === '*'
      if (everyTool && sameEntries(handler, expected)) return 'same'
    }
  }
  return found ? 'changed' : 'missing'
}

function sameEntries(handler: unknown, expected: object): boolean {
  if (!isObject(handler)) return false
  const wanted = Object.entries(expected)
  return (
    Object.keys(handler).length === wanted.length && wanted.every(([key, value]) => same(member(handler, key), value))
  )
}

function same(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return a === b
  return sameEntries(a, b)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function member(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
