// The addresses in a configuration: whether they can be used, and whether one is our own.
import type { Config } from './config.ts'
import { isOwnListener, signalUrl } from './forward/endpoint.ts'
import { metricsUrl } from './telemetry/push.ts'

/** What is wrong with the addresses of a config, each with its field. `otlp`: our own OTLP port's address, null when it is closed. */
export function addressProblems(config: Config, otlp: string | null): string[] {
  const problems: string[] = []
  const names = new Set<string>()
  for (const { name, url } of config.forward) {
    const checked = signalUrl(url)
    if (!checked.ok) problems.push(`forward.${name}.url: ${checked.message}`)
    else if (isOurs(url, otlp)) problems.push(`forward.${name}.url: ${OURS}`)
    if (names.has(name)) problems.push(`forward.${name}.name: is there twice`)
    names.add(name)
  }
  const { metrics } = config
  if (metrics !== undefined) {
    const checked = metricsUrl(metrics.url)
    if (!checked.ok) problems.push(`metrics.url: ${checked.message}`)
    else if (isOurs(metrics.url, otlp)) problems.push(`metrics.url: ${OURS}`)
  }
  return problems
}

/** What is sent to ourselves would go round for ever. */
const OURS = "is this collector's own OTLP port. Give the backend's address, such as http://127.0.0.1:14318"

function isOurs(url: string, otlp: string | null): boolean {
  if (otlp === null) return false
  const { hostname, port } = new URL(otlp)
  return isOwnListener(url, [{ host: hostname, port: Number(port) }])
}
