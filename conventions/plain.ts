// Attribute values of OTLP as JSON.
import type { AnyValue, KeyValue } from './otlp.ts'
import type { Json } from './strict-json.ts'

/** Attributes as JSON: of equal keys the last one, as a client's own set would have kept it. */
export function plainObject(attributes: readonly KeyValue[]): { [key: string]: Json } {
  const out: { [key: string]: Json } = Object.create(null)
  for (const { key, value } of attributes) out[key] = plain(value ?? {})
  return out
}

/** Integers beyond 2^53 and what JSON has no number for (NaN, Infinity) become strings, bytes base64, an empty value null. */
export function plain(value: AnyValue): Json {
  if ('stringValue' in value) return value.stringValue
  if ('boolValue' in value) return value.boolValue
  if ('intValue' in value) {
    const number = Number(value.intValue)
    return Number.isSafeInteger(number) ? number : String(value.intValue)
  }
  if ('doubleValue' in value) return Number.isFinite(value.doubleValue) ? value.doubleValue : String(value.doubleValue)
  if ('arrayValue' in value) return (value.arrayValue.values ?? []).map(plain)
  if ('kvlistValue' in value) return plainObject(value.kvlistValue.values ?? [])
  if ('bytesValue' in value) return value.bytesValue
  return null
}
