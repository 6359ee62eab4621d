// config.yaml of a home: where to listen, where to forward. Read at start; OTEL_* is read by `init` and `up` and written here,
// never inherited by a collector that a hook started.
import { readFileSync } from 'node:fs'
import { LineCounter, parse, stringify, YAMLParseError } from 'yaml'
import * as z from 'zod'
import { fromBase64 } from '../conventions/bytes.ts'
import { PRICE_ENTRY } from '../conventions/price-entry.ts'
import { destinationSchema } from './destination-schema.ts'
import { isThere } from './read-file.ts'
import { ed25519KeyOfSpki } from './verify/ed25519.ts'

/** OTLP/HTTP's own port. */
export const DEFAULT_OTLP_PORT = 4318

/** OTLP/gRPC's own port. */
const DEFAULT_GRPC_PORT = 4317

/** Of the http hooks. Below the ports that systems hand out by themselves, and nobody's that we know of. */
export const DEFAULT_FAST_PORT = 24318

const filePath = z.string().startsWith('/', 'must be an absolute path')
const metricsSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: z.record(z.string(), z.string()).default({}),
  interval_seconds: z.int().min(1).max(3600).default(60),
})

const appSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  kind: z.enum(['sdk', 'gateway']),
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be the lower-case hex SHA-256 of the token'),
})

/** Prices of a person's own: each start looks all of them up by the names of models. */
const MAX_PRICES = 200
const peerSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  key: z
    .string()
    .refine(
      (text) => ed25519KeyOfSpki(fromBase64(text) ?? new Uint8Array(0)) !== null,
      'must be the base64 SPKI of an Ed25519 public key: the record key of the other collector',
    ),
})

const configSchema = z.strictObject({
  version: z.literal(1),
  otlp: z
    .strictObject({
      host: z.union([z.ipv4(), z.ipv6(), z.literal('localhost')]).default('127.0.0.1'),
      port: z.int().min(0).max(65535).default(DEFAULT_OTLP_PORT),
      tls: z.strictObject({ cert_file: filePath, key_file: filePath, client_ca_file: filePath.optional() }).optional(),
      /** File with the bearer token that every sender must show. */
      token_file: filePath.optional(),
      /** OTLP/gRPC as well, on a port of its own; host, tls and token are the same. Off without it. */
      grpc: z.strictObject({ port: z.int().min(0).max(65535).default(DEFAULT_GRPC_PORT) }).optional(),
    })
    .refine(({ port, grpc }) => port === 0 || port !== grpc?.port, {
      path: ['grpc', 'port'],
      error: 'must not be otlp.port: HTTP and gRPC have a port each',
    })
    .prefault({}),
  /** Where an agent's own http hooks are answered (`init --fast`). A port of its own: exporters know 4318. */
  fast: z
    .strictObject({
      port: z
        .int()
        .min(1)
        .max(65535)
        .refine((port) => port !== DEFAULT_OTLP_PORT, 'must not be the OTLP port 4318'),
    })
    .optional(),
  forward: z.array(destinationSchema).default([]),
  /** Where the collector's own metrics are pushed to, as OTLP. They are answered at /metrics without it. */
  metrics: metricsSchema.optional(),
  /** How many days content (prompts, arguments, results, bodies of imports) stays in the vault; without it, until somebody purges it. */
  retention: z.strictObject({ content_days: z.int().min(1).max(36_500) }).optional(),
  /** Where people are told that a call waits for them. */
  approvals: z
    .strictObject({
      webhook: z
        .strictObject({
          url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
          /** File with the secret that notices are signed with. */
          secret_file: filePath.optional(),
        })
        .optional(),
    })
    .optional(),
  /** Applications that may call POST /v1/gate over TCP, each with its own token. */
  apps: z.array(appSchema).default([]),
  /** Other collectors whose signed records are kept, where they come in by OTLP, as their word. */
  peers: z.array(peerSchema).default([]),
  /** Extra resource attributes of forwarded spans (OTEL_RESOURCE_ATTRIBUTES at `init` or `up`). */
  resource_attributes: z.record(z.string(), z.string()).default({}),
  /** What models cost, over the shipped list prices. */
  prices: z.array(PRICE_ENTRY).max(MAX_PRICES).default([]),
  /** The user's home folder, for paths in policy rules. */
  user_home: z.string().optional(),
})

export type Config = z.infer<typeof configSchema>

export type ConfigResult = { ok: true; config: Config } | { ok: false; errors: string[] }

/** Reads a config text. All errors at once, each naming its field. */
export function parseConfig(text: string): ConfigResult {
  const lines = new LineCounter()
  let value: unknown
  try {
    // Pretty errors quote the line, and a line may hold a header.
    value = parse(text, { logLevel: 'error', prettyErrors: false, lineCounter: lines })
  } catch (error) {
    if (error instanceof YAMLParseError) {
      const { line, col } = lines.linePos(error.pos[0])
      return { ok: false, errors: [`line ${line}, column ${col}: ${error.message}`] }
    }
    // An alias without its anchor.
    if (error instanceof ReferenceError) return { ok: false, errors: [error.message] }
    throw error
  }
  const parsed = configSchema.safeParse(value ?? { version: 1 })
  if (parsed.success) return { ok: true, config: parsed.data }
  return {
    ok: false,
    errors: parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`),
  }
}

/** Config of a home; the defaults where the file is missing. */
export function readConfig(path: string): ConfigResult {
  return isThere(path) ? parseConfig(readFileSync(path, 'utf8')) : parseConfig('version: 1')
}

/** Text of a config file. */
export function configText(config: Config): string {
  return `# Spanseal's configuration. Documented in docs/configuration.md.\n${stringify(config)}`
}
