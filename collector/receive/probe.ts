// Looks who is there. A file of its own: the command that a hook waits for needs no more of this folder.
import { connect } from 'node:net'

/** Whether anybody listens on a Unix socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
