// zod schemas of the OTLP/JSON that adapters make and that leaves the machine: the source of docs/schema/*.json.
import * as z from 'zod'

const hexId = (chars: number) => z.string().regex(new RegExp(`^[0-9a-f]{${chars}}$`))
const nanos = z.string().regex(/^\d{1,20}$/)

const scalar = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.number() }),
])
const keyValue = z.strictObject({
  key: z.string().min(1),
  value: z.union([scalar, z.strictObject({ arrayValue: z.strictObject({ values: z.array(scalar) }) })]),
})

const span = z.strictObject({
  traceId: hexId(32),
  spanId: hexId(16),
  parentSpanId: hexId(16).optional(),
  name: z.string().min(1),
  kind: z.int().min(0).max(5).optional(),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes: z.array(keyValue).optional(),
  links: z
    .array(z.strictObject({ traceId: hexId(32), spanId: hexId(16), attributes: z.array(keyValue).optional() }))
    .optional(),
  status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }).optional(),
})

/** An ExportTraceServiceRequest as Spanseal writes it, in the JSON encoding of opentelemetry-proto v1.11. */
export const EXPORT_REQUEST = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(keyValue) }).optional(),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string().optional() }).optional(),
          spans: z.array(span),
        }),
      ),
    }),
  ),
})
