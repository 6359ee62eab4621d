// One place that spans go to, as its owner configured it.

/** Where a header's value comes from: the text itself, a variable of the collector's environment, or a file. Each is a secret. */
export type HeaderSource = string | { env: string } | { file: string }

export interface Destination {
  /** Base address or full URL, see `signalUrl`. */
  url: string
  /** Encoding of requests. */
  protocol: 'http/json' | 'http/protobuf'
  headers: Readonly<Record<string, HeaderSource>>
  /** PEM files: whom to trust instead of the system's authorities, and who we are. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined
  /** How signed records travel: on their spans, all of them as OTLP log records, both, or not at all. */
  evidence: 'attribute' | 'logs' | 'both' | 'none'
  /** Whether prompts, model text, arguments and results go along, as redaction left them. */
  content: boolean
  /** HTTP proxy in between, http or https. May hold a password. */
  proxy?: string | undefined
}
