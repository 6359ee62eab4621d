// The doors of a collector: hook socket, admin socket, and a loopback port for OTLP and token-carrying gate calls.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import type { HomePaths } from '../conventions/home.ts'
import { adapters } from '../hooks/index.ts'
import type { Config } from './config.ts'
import { lowWater } from './disk.ts'
import { HttpDoor } from './http-door.ts'
import { Imports } from './imports.ts'
import { otlpPort } from './otlp-port.ts'
import type { Pipeline } from './pipeline.ts'
import { type AdminDoor, adminApp } from './receive/admin.ts'
import { type GateDoor, gateApp } from './receive/gate.ts'
import { type HookDoor, hookListener } from './receive/hook.ts'
import {
  AddressTaken,
  type Door,
  listenerOf,
  listenOnPort,
  listenOnSocket,
  type PortOptions,
} from './receive/listen.ts'
import { otlpApp } from './receive/otlp/app.ts'
import { ByteBudget } from './receive/otlp/body.ts'
import { listenForGrpc } from './receive/otlp/grpc.ts'
import { HTTP_STATUS } from './receive/otlp/grpc-wire.ts'
import { InspectPool } from './receive/otlp/pool.ts'
import { MAX_IN_FLIGHT_BYTES, type OtlpBatch } from './receive/otlp/take.ts'
import { homeSockets } from './sockets.ts'
import { isTelemetryPath, type TelemetryDoor, telemetryApp } from './telemetry/app.ts'
import { OTHER } from './telemetry/series.ts'

export interface DoorOptions {
  home: HomePaths
  config: Config
  pipeline: Pipeline
  admin: AdminDoor
  telemetry: TelemetryDoor
  counted: Counted
  version: string
  /** Of the log that is written to. */
  logId: string
  log: (line: string) => void
}

/** Hears what the doors did. */
export interface Counted {
  /** A payload was answered, `ms` milliseconds after it came; what an agent is not known to send is `other`. */
  hook(ms: number, agent: string, event: string): void
  /** A request to an OTLP listener was answered with this status; a gRPC call with the one that HTTP has for it. */
  otlp(status: number): void
}

export interface Doors {
  /** Address of the OTLP port; null when another program has it. */
  otlp: string | null
  /** Address of the OTLP/gRPC port; null when it is not asked for, or another program has it. */
  grpc: string | null
  /** Address of the http hooks' port; null when there is none or it can't be opened. */
  readonly fast: string | null
  hook: string
  admin: string
  /** Lets these programs ask the gate over TCP from now on, and no others. */
  setApps(apps: Config['apps']): void
  close(): Promise<void>
}

export async function openDoors(options: DoorOptions): Promise<Doors> {
  const { home, config, pipeline, admin, telemetry, counted, version, logId, log } = options
  const door: HookDoor = {
    native: async ({ agent, event, way, mode, failMode }, payload) => {
      const began = performance.now()
      const reporter = { kind: 'hook', adapter: agent, version, way, mode, failMode } as const
      const { answer } = await pipeline.native(agent, event, payload, reporter)
      const known = adapters.get(agent)?.events[event] !== undefined
      counted.hook(performance.now() - began, known ? agent : OTHER, known ? event : OTHER)
      return answer
    },
    wait: (id, gone) => pipeline.approvals.wait(id, { kind: 'hook', adapter: '' }, gone),
  }
  const fast = new HttpDoor({ home, config, hooks: door, log })
  const hooks: HookDoor = {
    ...door,
    native: async (query, payload) => {
      await fast.ensure()
      return door.native(query, payload)
    },
  }
  const gate: GateDoor = {
    claims: (request, { kind, name }) =>
      pipeline.claims(request, { kind, adapter: name, version, mode: 'enforce', failMode: 'closed' }),
    wait: (id, { kind, name }, gone) => pipeline.approvals.wait(id, { kind, adapter: name }, gone),
  }
  const gateFor = (apps: Config['apps']) =>
    gateApp(
      gate,
      apps.map(({ name, kind, token_sha256 }) => ({ name, kind, tokenHash: token_sha256 })),
    )
  let tcpGate = gateFor(config.apps)
  const pool = new InspectPool({ worker: new URL('./otlp-worker.mjs', import.meta.url), logId })
  const port = otlpPort(config)
  const imports = new Imports({ pipeline, isDiskLow: lowWater(home.root) })
  const received = {
    inspect: pool.inspect,
    accept: (batch: OtlpBatch) => imports.accept(batch),
    budget: new ByteBudget(MAX_IN_FLIGHT_BYTES),
    onFault: (error: unknown) => log(`the OTLP receiver failed: ${error instanceof Error ? error.name : 'unknown'}`),
  }
  const otlp = otlpApp({ ...received, admit: port.admit })
  const paths = homeSockets(home)
  if (paths.dir !== home.run) makePrivate(paths.dir)

  const open: Door[] = []
  const close = async () => {
    await Promise.all([fast, ...open].map((each) => each.close()))
    await pool.close()
  }
  try {
    const self = telemetryApp(telemetry, port.admit)
    const tcp = await orTaken(
      listenOnPort(port, async (request, env) => {
        const { pathname } = new URL(request.url)
        if (pathname.startsWith('/v1/gate')) return tcpGate.fetch(request, env)
        if (isTelemetryPath(pathname)) return self.fetch(request)
        const response = await otlp.fetch(request, env)
        counted.otlp(response.status)
        return response
      }),
    )
    const taken = async ({ message }: AddressTaken, what: string, field: string) => {
      log(
        `${message}: no ${what} is received; hooks are not affected. Set another ${field} in ${home.config}, or end that program, and start the collector again`,
      )
      await pipeline.portTaken()
    }
    if (tcp instanceof AddressTaken) await taken(tcp, 'OTLP', 'otlp.port')
    else open.push(tcp)
    const grpc =
      config.otlp.grpc === undefined
        ? null
        : await orTaken(
            listenForGrpc(
              { ...port, port: config.otlp.grpc.port },
              { ...received, admit: port.authorize, onAnswer: (code) => counted.otlp(HTTP_STATUS[code]) },
            ),
          )
    if (grpc instanceof AddressTaken) await taken(grpc, 'OTLP/gRPC', 'otlp.grpc.port')
    else if (grpc !== null) open.push(grpc)
    open.push(await listenOnSocket(paths.hook, hookListener(hooks, listenerOf(gateApp(gate).fetch))))
    open.push(await listenOnSocket(paths.admin, listenerOf(adminApp(admin).fetch)))
    await fast.ensure()
    return {
      otlp: tcp instanceof AddressTaken ? null : addressOf(port, tcp.port),
      grpc: grpc === null || grpc instanceof AddressTaken ? null : addressOf(port, grpc.port),
      get fast() {
        return fast.url
      },
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

async function orTaken<T>(listening: Promise<T>): Promise<T | AddressTaken> {
  try {
    return await listening
  } catch (error) {
    if (error instanceof AddressTaken) return error
    throw error
  }
}

function addressOf({ host, tls }: PortOptions, port: number): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
