// Puts our hooks into Claude Code's settings and takes them out again, without touching anything else there.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, toBase64 } from '../conventions/bytes.ts'
import { claudeCode } from './claude-code/adapter.ts'
import { httpHooks } from './claude-code/http.ts'
import { lineDiff } from './settings/diff.ts'
import { addProperty, has, remove, valueAt } from './settings/edit.ts'
import {
  addEntries,
  type HttpDoor,
  type HttpHandler,
  handlersFor,
  removeEntries,
  THINKING_SUMMARIES,
} from './settings/entries.ts'
import { backUp, messageOf, readSettings, replaceFile, type SettingsFile } from './settings/file.ts'
import { type Install, readInstalls, writeInstall } from './settings/state.ts'
import { decodeSettings, whyUneditable, whyUnusable } from './settings/text.ts'

export { commandOf, type HttpHandler } from './settings/entries.ts'
export { settingsProblem } from './settings/problem.ts'
export { type Install, readInstalls } from './settings/state.ts'

export interface Where {
  /** The home; where the state of the installs lies. */
  home: string
  userHome: string
  /** CLAUDE_CONFIG_DIR, when the person uses one. */
  configDir?: string
  /** A project's folder: its settings.local.json instead of the person's settings. */
  project?: string
}

export interface InstallOptions extends Where {
  /** Command line of the staged hook, without agent and event. */
  command: string
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
  /** Send the events of each call by the agent's own HTTP requests to this door; the others stay with the command. */
  http?: HttpDoor
  /** Switch readable reasoning on unless the person has decided. Default true. */
  thinkingSummaries?: boolean
  /** Only say what would change. */
  dryRun?: boolean
  now: Date
}

export type UninstallOptions = Where & { dryRun?: boolean; now: Date }

/** `diff` by lines, empty when nothing changes. `warnings`: what keeps the hooks from being in force although they are installed. */
export type SettingsResult =
  | { ok: true; file: string; changed: boolean; diff: string; backup?: string; warnings: string[] }
  | { ok: false; file: string; message: string }

const AGENT = claudeCode.agent

/** Entries of an install whose events come by http. */
export function httpHandlers({ handlers }: Pick<Install, 'handlers'>): HttpHandler[] {
  return Object.values(handlers).filter((handler) => handler.type === 'http')
}

/** The settings file that belongs to these options. */
export function claudeSettingsFile({ userHome, configDir, project }: Where): string {
  if (project !== undefined) return join(project, '.claude', 'settings.local.json')
  return join(configDir ?? join(userHome, '.claude'), 'settings.json')
}

/** Installs, or brings an older install up to date. Doing it twice changes nothing the second time. */
export function installClaude(options: InstallOptions): SettingsResult {
  const { home, command, mode, failMode, http, now } = options
  return guarded(claudeSettingsFile(options), options.project !== undefined, (found, file) => {
    const decoded = decodeSettings(found.bytes)
    const unusable = decoded.ok ? whyUnusable(decoded.text) : decoded.message
    if (!decoded.ok || unusable !== null) return { ok: false, file, message: `${file} ${unusable}` }

    // Start from the file as it was before us, so that undoing brings exactly that back.
    const known = readInstalls(home).find((install) => install.file === file)
    const untouched = known !== undefined && found.bytes !== null && sha256(found.bytes) === known.written
    const original = untouched ? known.original : baseOf(found.bytes, decoded, known, home)
    const base = decodeSettings(original === null ? null : fromBase64(original))
    if (!base.ok) return { ok: false, file, message: `the original of ${file} in installs.json ${base.message}` }

    const handlers = handlersFor({
      ...{ agent: AGENT, events: claudeCode.events, command, mode, failMode, home },
      http: http && { events: httpHooks.events, door: http },
    })
    const thinkingSummaries = options.thinkingSummaries !== false && !has(base.text, [THINKING_SUMMARIES])
    let text = thinkingSummaries ? addProperty(base.text, [], THINKING_SUMMARIES, true) : base.text
    text = addEntries(text, handlers)
    const bytes = new TextEncoder().encode(base.bom + text)
    const warnings =
      valueAt(text, ['disableAllHooks']) === true
        ? [`${file} sets disableAllHooks: as long as it does, no hook runs`]
        : []
    const before = found.bytes === null ? '' : decoded.text
    const install: Install = {
      ...{ agent: AGENT, file, mode, failMode, handlers, thinkingSummaries, original },
      written: sha256(bytes),
    }
    if (found.bytes !== null && sha256(found.bytes) === install.written) {
      if (!untouched && !options.dryRun) writeInstall(home, file, install)
      return { ok: true, file, changed: false, diff: '', warnings }
    }
    const diff = lineDiff(before, text)
    if (options.dryRun) return { ok: true, file, changed: true, diff, warnings }

    const backup = found.bytes === null ? undefined : backUp(file, found.bytes, found.mode, now)
    // What we know first: a crash in between leaves a file that is not what we wrote, which undoing handles.
    writeInstall(home, file, install)
    replaceFile(file, bytes, found.mode)
    return { ok: true, file, changed: true, diff, warnings, ...(backup === undefined ? {} : { backup }) }
  })
}

/**
 * Takes our hooks out of every file we know of and of the file that belongs to the options. A file that still is what we wrote gets
 * its old bytes back; a file that was changed since then only loses our entries; a file we made is removed.
 */
export function uninstallClaude(options: UninstallOptions): SettingsResult[] {
  const known = readInstalls(options.home).filter((install) => install.agent === AGENT)
  const files = new Set([...known.map((install) => install.file), claudeSettingsFile(options)])
  return [...files].map((file) =>
    uninstallFile(
      options,
      file,
      known.find((install) => install.file === file),
    ),
  )
}

function uninstallFile(
  { home, dryRun, now }: UninstallOptions,
  file: string,
  known: Install | undefined,
): SettingsResult {
  return guarded(file, false, (found) => {
    const nothing: SettingsResult = { ok: true, file, changed: false, diff: '', warnings: [] }
    const forget = () => {
      if (known !== undefined && !dryRun) writeInstall(home, file, null)
    }
    if (found.bytes === null) {
      forget()
      return nothing
    }
    const decoded = decodeSettings(found.bytes)
    if (known !== undefined && sha256(found.bytes) === known.written) {
      const original = known.original === null ? null : fromBase64(known.original)
      const was = decodeSettings(original)
      const diff = lineDiff(decoded.ok ? decoded.text : '', original !== null && was.ok ? was.text : '')
      if (dryRun) return { ...nothing, changed: true, diff }
      if (original === null) rmSync(file)
      else replaceFile(file, original, found.mode)
      forget()
      return { ...nothing, changed: true, diff }
    }
    const uneditable = decoded.ok ? whyUneditable(decoded.text) : decoded.message
    if (!decoded.ok || uneditable !== null) {
      return { ok: false, file, message: `${file} ${uneditable}; take the entries of ${home}/bin out by hand` }
    }
    const text = withoutUs(decoded.text, known, home)
    if (text === decoded.text) {
      forget()
      return nothing
    }
    const diff = lineDiff(decoded.text, text)
    if (dryRun) return { ...nothing, changed: true, diff }
    const backup = backUp(file, found.bytes, found.mode, now)
    if (known?.original === null && text.trim() === '{}') rmSync(file)
    else replaceFile(file, new TextEncoder().encode(decoded.bom + text), found.mode)
    forget()
    return { ...nothing, changed: true, diff, backup }
  })
}

/** The file as it would be without us, base64; null when there would be none. */
function baseOf(
  bytes: Uint8Array | null,
  decoded: { bom: string; text: string },
  known: Install | undefined,
  home: string,
): string | null {
  if (bytes === null) return null
  const text = withoutUs(decoded.text, known, home)
  if (text === decoded.text) return toBase64(bytes)
  if (known?.original === null && text.trim() === '{}') return null
  return toBase64(new TextEncoder().encode(decoded.bom + text))
}

/** Takes out our entries and, where we set it and nobody changed it, the switch for readable reasoning. */
function withoutUs(text: string, known: Install | undefined, home: string): string {
  const was = decodeSettings(known?.original ? fromBase64(known.original) : null)
  const original = was.ok ? was.text : '{}'
  let out = removeEntries(text, home, (path) => has(original, path))
  if (known?.thinkingSummaries && valueAt(out, [THINKING_SUMMARIES]) === true) out = remove(out, [THINKING_SUMMARIES])
  return out
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What the file system refuses becomes a message that names the file; anything else is a mistake of ours and is thrown. */
function guarded(
  file: string,
  folderToo: boolean,
  edit: (found: SettingsFile & { ok: true }, file: string) => SettingsResult,
): SettingsResult {
  const found = readSettings(file, folderToo)
  if (!found.ok) return found
  try {
    return edit(found, file)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return { ok: false, file, message: `${file} can't be changed: ${messageOf(error)}` }
  }
}
