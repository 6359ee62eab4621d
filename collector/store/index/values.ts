// DuckDB values as JSON-safe ones, so that an answer can cross threads, sockets and terminals without loss.
import {
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { toHex } from '../../../conventions/bytes.ts'
import type { Json } from '../../../conventions/strict-json.ts'

export type Row = { [column: string]: Json }

/**
 * Whole numbers beyond 2^53-1, non-finite numbers and decimals that no double holds become decimal strings; blobs lower-case hex;
 * timestamps ISO 8601 in UTC with as many fraction digits as the value has (at least 3); anything else its DuckDB text.
 */
export function toJson(value: DuckDBValue): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof DuckDBBlobValue) return toHex(value.bytes)
  if (value instanceof DuckDBTimestampValue) return iso(value.micros * 1000n, value)
  if (value instanceof DuckDBTimestampTZValue) return iso(value.micros * 1000n, value)
  if (value instanceof DuckDBTimestampNanosecondsValue) return iso(value.nanos, value)
  if (value instanceof DuckDBTimestampMillisecondsValue) return iso(value.millis * 1_000_000n, value)
  if (value instanceof DuckDBTimestampSecondsValue) return iso(value.seconds * 1_000_000_000n, value)
  if (value instanceof DuckDBDecimalValue) {
    const text = value.toString()
    const number = Number(text)
    return number.toFixed(value.scale) === text ? number : text
  }
  if (value instanceof DuckDBListValue) return value.items.map(toJson)
  if (value instanceof DuckDBStructValue) return objectOf(Object.entries(value.entries))
  if (value instanceof DuckDBMapValue) return objectOf(value.entries.map(({ key, value: v }) => [mapKey(key), v]))
  return value.toString()
}

function objectOf(entries: [string, DuckDBValue][]): Json {
  return Object.fromEntries(entries.map(([key, value]) => [key, toJson(value)]))
}

function mapKey(key: DuckDBValue): string {
  const json = toJson(key)
  return typeof json === 'string' ? json : JSON.stringify(json)
}

/** Milliseconds that JavaScript's Date covers, either side of 1970. */
const MAX_DATE_MS = 8_640_000_000_000_000n

function iso(nanos: bigint, value: { toString(): string }): string {
  let fraction = nanos % 1_000_000_000n
  if (fraction < 0n) fraction += 1_000_000_000n
  const seconds = (nanos - fraction) / 1_000_000_000n
  if (seconds * 1000n > MAX_DATE_MS || seconds * 1000n < -MAX_DATE_MS) return value.toString()
  const digits = fraction
    .toString()
    .padStart(9, '0')
    .replace(/0{1,6}$/, '')
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, -5)}.${digits}Z`
}
