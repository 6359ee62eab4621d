// The doors of a collector: hook socket, admin socket, and a loopback port for OTLP and token-carrying gate calls.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import type { HomePaths } from '../conventions/home.ts'
import type { Config } from './config.ts'
import { lowWater } from './disk.ts'
import { Imports } from './imports.ts'
import { otlpPort } from './otlp-port.ts'
import type { Pipeline } from './pipeline.ts'
import { type AdminDoor, adminApp } from './receive/admin.ts'
import { type GateDoor, gateApp } from './receive/gate.ts'
import { hookApp } from './receive/hook.ts'
import {
  AddressTaken,
  type Fetch,
  type Listening,
  listenOnPort,
  listenOnSocket,
  type PortOptions,
} from './receive/listen.ts'
import { otlpApp } from './receive/otlp/app.ts'
import { InspectPool } from './receive/otlp/pool.ts'
import { homeSockets } from './sockets.ts'

export interface DoorOptions {
  home: HomePaths
  config: Config
  pipeline: Pipeline
  admin: AdminDoor
  version: string
  /** Of the log that is written to. */
  logId: string
  log: (line: string) => void
}

export interface Doors {
  /** Address of the OTLP port; null when another program has it. */
  otlp: string | null
  hook: string
  admin: string
  close(): Promise<void>
}

export async function openDoors({ home, config, pipeline, admin, version, logId, log }: DoorOptions): Promise<Doors> {
  const wait = (id: string, gone: AbortSignal) => pipeline.approvals.wait(id, gone)
  const hooks = hookApp({
    native: async ({ agent, event, mode, failMode }, payload) => {
      const { answer } = await pipeline.native(agent, event, payload, {
        kind: 'hook',
        adapter: agent,
        version,
        mode,
        failMode,
      })
      return answer
    },
    wait,
  })
  const gate: GateDoor = {
    claims: (request, { kind, name }) =>
      pipeline.claims(request, { kind, adapter: name, version, mode: 'enforce', failMode: 'closed' }),
    wait,
  }
  const apps = config.apps.map(({ name, kind, token_sha256 }) => ({ name, kind, tokenHash: token_sha256 }))
  const pool = new InspectPool({ worker: new URL('./otlp-worker.mjs', import.meta.url), logId })
  const port = otlpPort(config)
  const imports = new Imports({ pipeline, isDiskLow: lowWater(home.root) })
  const otlp = otlpApp({
    inspect: pool.inspect,
    accept: (batch) => imports.accept(batch),
    admit: port.admit,
    onFault: (error) => log(`the OTLP receiver failed: ${error instanceof Error ? error.name : 'unknown'}`),
  })
  const paths = homeSockets(home)
  if (paths.dir !== home.run) makePrivate(paths.dir)

  const open: Listening[] = []
  const close = async () => {
    await Promise.all(open.map((door) => door.close()))
    await pool.close()
  }
  try {
    const tcp = await openPort(port, gateOr(gateApp(gate, apps).fetch, otlp.fetch))
    if (tcp instanceof AddressTaken) {
      log(
        `${tcp.message}: no OTLP is received; hooks are not affected. Set another otlp.port in ${home.config}, or end that program, and start the collector again`,
      )
      await pipeline.portTaken()
    } else open.push(tcp)
    open.push(await listenOnSocket(paths.hook, gateOr(gateApp(gate).fetch, hooks.fetch)))
    open.push(await listenOnSocket(paths.admin, adminApp(admin).fetch))
    return {
      otlp: tcp instanceof AddressTaken ? null : addressOf(port, tcp.port),
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
  return (request, env) =>
    new URL(request.url).pathname.startsWith('/v1/gate') ? gate(request, env) : other(request, env)
}

async function openPort(options: PortOptions, fetch: Fetch) {
  try {
    return await listenOnPort(options, fetch)
  } catch (error) {
    if (error instanceof AddressTaken) return error
    throw error
  }
}

function addressOf({ host, tls }: PortOptions, port: number): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
