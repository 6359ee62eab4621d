// The doors of a collector: hook socket, admin socket, and a loopback port for OTLP and token-carrying gate calls.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import type { HomePaths } from '../conventions/home.ts'
import type { Config } from './config.ts'
import { lowWater } from './disk.ts'
import { HttpDoor } from './http-door.ts'
import type { Pipeline } from './pipeline.ts'
import { type AdminDoor, adminApp } from './receive/admin.ts'
import { type GateDoor, gateApp } from './receive/gate.ts'
import { type HookDoor, hookApp } from './receive/hook.ts'
import { AddressTaken, type Fetch, type Listening, listenOnPort, listenOnSocket } from './receive/listen.ts'
import { type AcceptResult, type OtlpBatch, otlpApp } from './receive/otlp/app.ts'
import { homeSockets } from './sockets.ts'

/** Seconds a sender of spans is asked to wait when its request can't be made durable. */
const RETRY_SECONDS = 5
/** Seconds until a nearly full disk is looked at again by a sender. */
const LOW_DISK_RETRY_SECONDS = 60

export interface DoorOptions {
  home: HomePaths
  config: Config
  pipeline: Pipeline
  admin: AdminDoor
  version: string
  log: (line: string) => void
}

export interface Doors {
  /** Address of the OTLP port; null when another program has it. */
  otlp: string | null
  /** Address of the http hooks' port; null when there is none or it can't be opened. */
  readonly fast: string | null
  hook: string
  admin: string
  close(): Promise<void>
}

export async function openDoors({ home, config, pipeline, admin, version, log }: DoorOptions): Promise<Doors> {
  const wait = (id: string, gone: AbortSignal) => pipeline.approvals.wait(id, gone)
  const door: HookDoor = {
    native: async ({ agent, event, way, mode, failMode }, payload) => {
      const reporter = { kind: 'hook', adapter: agent, version, way, mode, failMode } as const
      return (await pipeline.native(agent, event, payload, reporter)).answer
    },
    wait,
  }
  const fast = new HttpDoor({ home, config, hooks: door, log })
  const hooks = hookApp({
    ...door,
    native: async (query, payload) => {
      await fast.ensure()
      return door.native(query, payload)
    },
  })
  const gate: GateDoor = {
    claims: (request, { kind, name }) =>
      pipeline.claims(request, { kind, adapter: name, version, mode: 'enforce', failMode: 'closed' }),
    wait,
  }
  const apps = config.apps.map(({ name, kind, token_sha256 }) => ({ name, kind, tokenHash: token_sha256 }))
  const isDiskLow = lowWater(home.root)
  const otlp = otlpApp({
    accept: (batch) => accept(pipeline, isDiskLow, batch),
    onFault: (error) => log(`the OTLP receiver failed: ${error instanceof Error ? error.name : 'unknown'}`),
  })
  const paths = homeSockets(home)
  if (paths.dir !== home.run) makePrivate(paths.dir)

  const open: Listening[] = []
  const close = async () => {
    await Promise.all([fast, ...open].map((door) => door.close()))
  }
  try {
    const tcp = await openPort(config.otlp.port, gateOr(gateApp(gate, apps).fetch, otlp.fetch), (why) =>
      log(`${why}: no OTLP spans are received; hooks are not affected. Set otlp.port in ${home.config}`),
    )
    if (tcp !== null) open.push(tcp)
    open.push(await listenOnSocket(paths.hook, gateOr(gateApp(gate).fetch, hooks.fetch)))
    open.push(await listenOnSocket(paths.admin, adminApp(admin).fetch))
    await fast.ensure()
    return {
      otlp: tcp === null ? null : `http://127.0.0.1:${tcp.port}`,
      get fast() {
        return fast.url
      },
      hook: paths.hook,
      admin: paths.admin,
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
