// One forwarder for each destination of the config.
import type { HomePaths } from '../conventions/home.ts'
import type { LogSource } from '../conventions/log.ts'
import type { Config } from './config.ts'
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
