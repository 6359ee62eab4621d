// One HTTP request over the collector's socket, within a deadline.
import { connect } from 'node:net'
import { type Reply, readReply } from './reply.ts'

/** `refused`: nobody listens, so nothing was sent. `failed`: anything else that is not one whole reply with status 200. */
export type Exchange = { kind: 'answer'; body: string } | { kind: 'refused' } | { kind: 'failed'; reason: string }

export const NOT_OURS = 'the answer was not one of the collector'

/** Socket errors of a connection that was never made. */
const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EACCES'])

/** Sends the request and waits `seconds` for the whole reply. Never rejects. */
export function exchange(socketPath: string, head: string[], body: Buffer, seconds: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    let received = Buffer.alloc(0)
    const finish = (result: Exchange) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    const timer = setTimeout(
      () => finish({ kind: 'failed', reason: 'the collector did not answer in time' }),
      seconds * 1000,
    )
    socket.on('connect', () => {
      const lines = [...head, 'Host: localhost', 'Connection: close', `Content-Length: ${body.length}`]
      // write, not end: a server may take the end of our side for the end of the request and drop its answer.
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      socket.write(body)
    })
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const reply = readReply(received)
      if (reply.state !== 'more') finish(judge(reply))
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const refused = NOBODY_LISTENS.has(error.code ?? '') && socket.bytesWritten === 0
      finish(
        refused
          ? { kind: 'refused' }
          : { kind: 'failed', reason: `the connection to the collector broke (${error.code})` },
      )
    })
    socket.on('close', () =>
      finish({ kind: 'failed', reason: 'the collector closed the connection before its answer was whole' }),
    )
  })
}

function judge(reply: Reply): Exchange {
  if (reply.state === 'done' && reply.status === 200) return { kind: 'answer', body: reply.body }
  return { kind: 'failed', reason: NOT_OURS }
}
