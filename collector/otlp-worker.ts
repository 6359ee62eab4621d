// Entry of a thread that looks through received bodies: what the door must know of each, what is cut out of it as a secret, and the
// commitment to it. Started by the collector, which hands over each body and gets back what is to be recorded and kept.
import { parentPort, workerData } from 'node:worker_threads'
import type { Content } from '../conventions/record.ts'
import { joined } from './receive/otlp/body.ts'
import { inspect } from './receive/otlp/inspect.ts'
import type { Job, Looked } from './receive/otlp/pool.ts'
import { bodyContents } from './record/body.ts'
import { commit } from './sign/signer.ts'

const { logId } = workerData as { logId: string }

function look(job: Job): Looked {
  const body = joined(job)
  const inspected = inspect(body, job.encoding, job.signal, logId)
  if (!inspected.ok || inspected.count + inspected.invalid.total === 0) return { inspected, contents: [] }
  return { inspected, contents: bodyContents(body).map(committed) }
}

/** Bytes that are not kept are needed for their commitment only, and stay here. */
function committed(content: Content): Content {
  const { salt, commitment } = commit(content)
  return { ...content, salt, commitment, bytes: content.keep ? alone(content.bytes) : new Uint8Array(0) }
}

/** Bytes in a buffer that holds nothing else: only such a one can be handed over. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}

parentPort?.on('message', (job: Job) => {
  const looked = look(job)
  const buffers = looked.contents.map(({ bytes }) => bytes.buffer as ArrayBuffer)
  parentPort?.postMessage(looked, buffers)
})
