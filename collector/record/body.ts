// The body of a third party's request as content. Apart from imports.ts because it runs on another thread, which is to start fast.
import type { Content } from '../../conventions/record.ts'
import { maskBytes } from './redact.ts'

/** What is committed to and kept of a request's body after decompression. Pure, and slow for large bodies. */
export function bodyContents(body: Uint8Array): Content[] {
  const masked = maskBytes(body)
  const contents: Content[] = [{ name: 'body', bytes: body, keep: masked.found === 0 }]
  if (masked.found > 0) contents.push({ name: 'body.redacted', bytes: masked.bytes, keep: true })
  return contents
}
