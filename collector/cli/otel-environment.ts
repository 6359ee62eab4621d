// OTEL_* as a person has it in a shell: read by `init` and `up`, written into the configuration, never inherited by a collector.
// Names and formats: OpenTelemetry specification, configuration/sdk-environment-variables and protocol/exporter.
import { CliError } from './exit.ts'
import { proxyFor } from './proxy-environment.ts'

export interface OtelEnvironment {
  /** Where to forward to; undefined when the environment does not say. */
  destination?: {
    url: string
    protocol: 'http/json' | 'http/protobuf'
    headers: Record<string, string>
    proxy?: string
  }
  resourceAttributes?: Record<string, string>
  /** What is set but can't be followed. */
  warnings: string[]
}

/** Whether there is anything to read. */
export function hasOtelEnvironment(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_RESOURCE_ATTRIBUTES)
}

/** Reads the environment. Throws CliError, which names the variable and never its value. */
export function readOtelEnvironment(env: NodeJS.ProcessEnv): OtelEnvironment {
  const out: OtelEnvironment = { warnings: [] }
  const url = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (url) {
    const named = proxyFor(url, env)
    const proxy = named !== undefined && /^https?:/i.test(named) ? named : undefined
    if (proxy !== named) out.warnings.push('the proxy of the environment is not used: only http and https proxies are')
    out.destination = {
      url,
      protocol: env.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/protobuf' ? 'http/protobuf' : 'http/json',
      headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS),
      ...(proxy === undefined ? {} : { proxy }),
    }
    if (env.OTEL_EXPORTER_OTLP_PROTOCOL === 'grpc')
      out.warnings.push(
        'OTEL_EXPORTER_OTLP_PROTOCOL is grpc; Spanseal sends OTLP over HTTP, usually another port (4318)',
      )
  }
  if (env.OTEL_RESOURCE_ATTRIBUTES)
    out.resourceAttributes = pairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES)
  return out
}

/** `key=value,key=value`, values percent-encoded (W3C Baggage). */
function pairs(name: string, text = ''): Record<string, string> {
  const out: Record<string, string> = {}
  for (const item of text.split(',')) {
    if (item.trim() === '') continue
    const at = item.indexOf('=')
    const key = item.slice(0, at).trim()
    if (at < 1 || key === '') throw new CliError(`${name} is not a list of key=value`)
    try {
      out[key] = decodeURIComponent(item.slice(at + 1).trim())
    } catch {
      throw new CliError(`${name}: the value of ${key} is not percent-encoded as it must be`)
    }
  }
  return out
}
