// Our entries in Claude Code's settings: what they say, which entries are ours, putting them in and taking them out.
import { findNodeAtLocation, type JSONPath } from 'jsonc-parser'
import type { EventRule } from '../adapter.ts'
import { homeMark } from '../home-mark.ts'
import { ANSWER_SECONDS } from '../limits.ts'
import { shellQuote } from '../sh/quote.ts'
import { addItem, addProperty, has, remove, treeOf } from './edit.ts'

/** One hook as Claude Code's settings hold it; `timeout` in seconds. */
export type Handler = ({ type: 'command'; command: string } | HttpHandler) & {
  timeout: number
  onFailure?: 'block'
  statusMessage?: string
}

/** Command line of a command hook; undefined for another, or none. */
export function commandOf(handler: Handler | undefined): string | undefined {
  return handler?.type === 'command' ? handler.command : undefined
}

export type HttpHandler = { type: 'http'; url: string; headers: { Authorization: string } }

/** Where the http hooks of a home send their events, and what lets them in. */
export interface HttpDoor {
  /** On 127.0.0.1. */
  port: number
  token: string
}

export interface EntryOptions {
  agent: string
  events: Readonly<Record<string, EventRule>>
  /** The installed hook's command line, without agent and event. */
  command: string
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
  home: string
  /** The events that go there instead of to the command. */
  http?: { events: readonly string[]; door: HttpDoor } | undefined
}

export const THINKING_SUMMARIES = 'showThinkingSummaries'

/** Our entry of each event. In observe mode events whose silence is an answer are left out, and nothing is shown or blocked. */
export function handlersFor(options: EntryOptions): Record<string, Handler> {
  const { agent, events, command, mode, failMode, http } = options
  const handlers: Record<string, Handler> = {}
  for (const [event, rule] of Object.entries(events)) {
    if (mode === 'observe' && rule.silenceAnswers) continue
    const blocks = rule.gate && mode === 'enforce' && failMode === 'closed'
    handlers[event] = {
      ...(http?.events.includes(event)
        ? httpHandler(options, http.door, event)
        : { type: 'command', command: `${command} ${agent} ${event}` }),
      // A request that only reports can start nothing: it waits for an answer, as long as a hook of ours does.
      timeout: http?.events.includes(event) && !rule.gate ? ANSWER_SECONDS : rule.timeoutSeconds,
      // A second layer: a hook that crashes, is killed, is missing or takes too long stops the call too.
      ...(blocks ? { onFailure: 'block' } : {}),
      ...(mode === 'enforce' && rule.statusMessage !== undefined ? { statusMessage: rule.statusMessage } : {}),
    }
  }
  return handlers
}

function httpHandler({ agent, home, mode, failMode }: EntryOptions, door: HttpDoor, event: string): HttpHandler {
  const query = `mode=${mode}&fail=${failMode}&home=${homeMark(home)}`
  return {
    type: 'http',
    url: `http://127.0.0.1:${door.port}/hook/${agent}/${event}?${query}`,
    headers: { Authorization: `Bearer ${door.token}` },
  }
}

/** Whether an entry runs a hook out of this home's bin folder, of whatever version, or sends to this home's door. */
export function isOurs({ command, url }: { command?: unknown; url?: unknown }, home: string): boolean {
  if (typeof url === 'string')
    return /^http:\/\/127\.0\.0\.1:\d+\/hook\//.test(url) && url.endsWith(`&home=${homeMark(home)}`)
  if (typeof command !== 'string') return false
  // The quoted folder, up to the version: 'home/bin/
  const inBin = shellQuote(`${home}/bin/`).slice(0, -1)
  return command.includes(inBin) && /\/hook\.(?:sh|cjs)' [a-z0-9-]+ [A-Za-z]+$/.test(command)
}

/** Adds one group without matcher (all tools) to each event. */
export function addEntries(text: string, handlers: Record<string, Handler>): string {
  let out = text
  if (!has(out, ['hooks'])) out = addProperty(out, [], 'hooks', {})
  for (const [event, handler] of Object.entries(handlers)) {
    const group = { hooks: [{ ...handler }] }
    out = has(out, ['hooks', event])
      ? addItem(out, ['hooks', event], group)
      : addProperty(out, ['hooks'], event, [group])
  }
  return out
}

/** Removes our entries, and of what holds them what is empty then, unless `keep` says that it was there before us. */
export function removeEntries(text: string, home: string, keep: (path: JSONPath) => boolean): string {
  let out = text
  for (let path = findOurs(out, home); path !== undefined; path = findOurs(out, home)) {
    out = remove(out, path)
    // Outwards while empty: the handlers make the group, the groups the event, the events `hooks`.
    const holders: [JSONPath, JSONPath][] = [
      [path.slice(0, 4), path.slice(0, 3)],
      [path.slice(0, 2), path.slice(0, 2)],
      [['hooks'], ['hooks']],
    ]
    for (const [holder, target] of holders) {
      if (!isEmpty(out, holder) || keep(target)) break
      out = remove(out, target)
    }
  }
  return out
}

/** Path of one of our handlers: hooks, event, index of the group, hooks, index of the handler. */
function findOurs(text: string, home: string): JSONPath | undefined {
  const hooks = findNodeAtLocation(treeOf(text), ['hooks'])
  for (const property of hooks?.type === 'object' ? (hooks.children ?? []) : []) {
    const [key, groups] = property.children ?? []
    for (const [group, node] of (groups?.type === 'array' ? (groups.children ?? []) : []).entries()) {
      const handlers = node.type === 'object' ? findNodeAtLocation(node, ['hooks']) : undefined
      for (const [index, handler] of (handlers?.type === 'array' ? (handlers.children ?? []) : []).entries()) {
        if (handler.type !== 'object') continue
        const [command, url] = ['command', 'url'].map((key) => findNodeAtLocation(handler, [key])?.value)
        if (isOurs({ command, url }, home)) return ['hooks', key?.value, group, 'hooks', index]
      }
    }
  }
  return undefined
}

function isEmpty(text: string, path: JSONPath): boolean {
  const node = findNodeAtLocation(treeOf(text), path)
  return (node?.type === 'array' || node?.type === 'object') && (node.children ?? []).length === 0
}
