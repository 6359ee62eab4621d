// One entry of `forward:` in config.yaml.
import { isAbsolute } from 'node:path'
import * as z from 'zod'

const path = z.string().refine(isAbsolute, 'must be an absolute path')
const headerSource = z.union(
  [
    z.string(),
    z.strictObject({ file: path }),
    // No other program listens to such a name, so that letting it through to the collector can't change how anything runs.
    z.strictObject({ env: z.string().regex(/^SPANSEAL_FORWARD_[A-Z0-9_]+$/) }),
  ],
  { error: 'must be a text, {file: /absolute/path} or {env: SPANSEAL_FORWARD_NAME}' },
)

export const destinationSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  protocol: z.enum(['http/json', 'http/protobuf']).default('http/json'),
  headers: z.record(z.string(), headerSource).default({}),
  tls: z
    .strictObject({ ca: path.optional(), cert: path.optional(), key: path.optional() })
    .refine(({ cert, key }) => (cert === undefined) === (key === undefined), 'a client needs both cert and key')
    .optional(),
  evidence: z.enum(['attribute', 'logs', 'both', 'none']).default('attribute'),
  content: z.boolean().default(false),
  /** Whether spans of others that the OTLP port took go along, marked as theirs. */
  pass_through: z.boolean().default(false),
  /** Where it can be asked what it has; asked once a day whether copies are missing. */
  query: z
    .strictObject({
      kind: z.enum(['jaeger', 'tempo']),
      url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    })
    .optional(),
  proxy: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
})
