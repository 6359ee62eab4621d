// The doors of a collector: hook socket, admin socket, and a loopback port for OTLP and token-carrying gate calls.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import type { HomePaths } from '../conventions/home.ts'
import { adapters } from '../hooks/index.ts'
import type { Config } from './config.ts'
import { lowWater } from './disk.ts'
import type { Pipeline } from './pipeline.ts'
import { type AdminDoor, adminApp } from './receive/admin.ts'
import { type GateDoor, gateApp } from './receive/gate.ts'
import { hookApp } from './receive/hook.ts'
import { AddressTaken, type Fetch, type Listening, listenOnPort, listenOnSocket } from './receive/listen.ts'
import { type AcceptResult, type OtlpBatch, otlpApp } from './receive/otlp/app.ts'
import { homeSockets } from './sockets.ts'
import { isTelemetryPath, type TelemetryDoor, telemetryApp } from './telemetry/app.ts'
import { OTHER } from './telemetry/series.ts'

/** Seconds a sender of spans is asked to wait when its request can't be made durable. */
const RETRY_SECONDS = 5
/** Seconds until a nearly full disk is looked at again by a sender. */
const LOW_DISK_RETRY_SECONDS = 60

export interface DoorOptions {
  home: HomePaths
  config: Config
  pipeline: Pipeline
  admin: AdminDoor
  telemetry: TelemetryDoor
  counted: Counted
  version: string
  log: (line: string) => void
}

/** Hears what the doors did. */
export interface Counted {
  /** A payload was answered, `ms` milliseconds after it came; what an agent is not known to send is `other`. */
  hook(ms: number, agent: string, event: string): void
  /** A request to the OTLP listener was answered with this status. */
  otlp(status: number): void
}

export interface Doors {
  /** Address of the OTLP port; null when another program has it. */
  otlp: string | null
  hook: string
  admin: string
  /** Lets these programs ask the gate over TCP from now on, and no others. */
  setApps(apps: Config['apps']): void
  close(): Promise<void>
}

export async function openDoors(options: DoorOptions): Promise<Doors> {
  const { home, config, pipeline, admin, telemetry, counted, version, log } = options
  const wait = (id: string, gone: AbortSignal) => pipeline.approvals.wait(id, gone)
  const hooks = hookApp({
    native: async ({ agent, event, mode, failMode }, payload) => {
      const began = performance.now()
      const { answer } = await pipeline.native(agent, event, payload, {
        kind: 'hook',
        adapter: agent,
        version,
        mode,
        failMode,
      })
      const known = adapters.get(agent)?.events[event] !== undefined
      counted.hook(performance.now() - began, known ? agent : OTHER, known ? event : OTHER)
      return answer
    },
    wait,
  })
  const gate: GateDoor = {
    claims: (request, { kind, name }) =>
      pipeline.claims(request, { kind, adapter: name, version, mode: 'enforce', failMode: 'closed' }),
    wait,
  }
  const gateFor = (apps: Config['apps']) =>
    gateApp(
      gate,
      apps.map(({ name, kind, token_sha256 }) => ({ name, kind, tokenHash: token_sha256 })),
    )
  let tcpGate = gateFor(config.apps)
  const isDiskLow = lowWater(home.root)
  const otlp = otlpApp({
    accept: (batch) => accept(pipeline, isDiskLow, batch),
    onFault: (error) => log(`the OTLP receiver failed: ${error instanceof Error ? error.name : 'unknown'}`),
  })
  const paths = homeSockets(home)
  if (paths.dir !== home.run) makePrivate(paths.dir)

  const open: Listening[] = []
  const close = async () => {
    await Promise.all(open.map((door) => door.close()))
  }
  try {
    const self = telemetryApp(telemetry)
    const port: Fetch = async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/v1/gate')) return tcpGate.fetch(request)
      if (isTelemetryPath(pathname)) return self.fetch(request)
      const response = await otlp.fetch(request)
      counted.otlp(response.status)
      return response
    }
    const tcp = await openPort(config.otlp.port, port, (why) =>
      log(`${why}: no OTLP spans are received; hooks are not affected. Set otlp.port in ${home.config}`),
    )
    if (tcp !== null) open.push(tcp)
    open.push(await listenOnSocket(paths.hook, gateOr(gateApp(gate).fetch, hooks.fetch)))
    open.push(await listenOnSocket(paths.admin, adminApp(admin).fetch))
    return {
      otlp: tcp === null ? null : `http://127.0.0.1:${tcp.port}`,
      hook: paths.hook,
      admin: paths.admin,
      setApps: (apps) => {
        tcpGate = gateFor(apps)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A folder in a shared place: ours alone, or not used. */
function makePrivate(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const stat = lstatSync(dir)
  if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid))
    throw new Error(`${dir} is not a folder of this user; remove it`)
  chmodSync(dir, 0o700)
}

function gateOr(gate: Fetch, other: Fetch): Fetch {
  return (request) => (new URL(request.url).pathname.startsWith('/v1/gate') ? gate(request) : other(request))
}

async function openPort(port: number, fetch: Fetch, onTaken: (why: string) => void) {
  try {
    return await listenOnPort(port, fetch)
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    onTaken(error.message)
    return null
  }
}

async function accept(
  pipeline: Pipeline,
  isDiskLow: () => boolean,
  { body, encoding, count, rejected, spoofed }: OtlpBatch,
): Promise<AcceptResult> {
  if (isDiskLow()) return { ok: false, retryAfterSeconds: LOW_DISK_RETRY_SECONDS, message: 'the disk is nearly full' }
  try {
    await pipeline.importSpans({ body, encoding, count, rejected, spoofed, bytes: body.length })
    return { ok: true }
  } catch {
    // Said in the collector's log by whoever failed; the sender only needs to know that it must come again.
    return { ok: false, retryAfterSeconds: RETRY_SECONDS, message: 'the log can not be written right now' }
  }
}
