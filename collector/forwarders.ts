// One forwarder for each destination of the config.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import type { Config } from './config.ts'
import { isOwnListener, tracesUrl } from './forward/endpoint.ts'
import { Forwarder } from './forward/forwarder.ts'

export interface ForwardersOptions {
  config: Config
  home: HomePaths
  source: LogSource
  checkpoint: () => string | undefined
  version: string
  log: (line: string) => void
}

/** Throws TypeError when a destination can't be used. */
export function openForwarders({ config, home, ...shared }: ForwardersOptions): Forwarder[] {
  return config.forward.map(
    ({ name, url, headers }) =>
      new Forwarder({
        ...shared,
        name,
        url,
        headers,
        stateFile: `${home.forward}/${name}.json`,
        resourceAttributes: config.resource_attributes,
        log: (line) => shared.log(`forward ${name}: ${line}`),
      }),
  )
}

/** Throws when a destination's address can't be used, before anything is opened. */
export function checkDestinations(config: Config): void {
  for (const { name, url } of config.forward) {
    const checked = tracesUrl(url)
    if (!checked.ok) throw new Error(`forward.${name}.url ${checked.message}`)
  }
  if (config.otlp.port !== 0) refuseLoops(config, `http://127.0.0.1:${config.otlp.port}`)
}

/** Throws when a destination is our own OTLP port: spans would go round for ever. `otlp`: its address, null when it is closed. */
export function refuseLoops(config: Config, otlp: string | null): void {
  if (otlp === null) return
  const { hostname, port } = new URL(otlp)
  for (const { name, url } of config.forward) {
    if (isOwnListener(url, [{ host: hostname, port: Number(port) }])) {
      throw new Error(
        `forward.${name}.url is this collector's own OTLP port. Give the backend's address, such as http://127.0.0.1:14318`,
      )
    }
  }
}
