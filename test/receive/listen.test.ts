// The TCP door: how many connections there may be, and who makes room.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { type Listening, listenOnPort } from '../../collector/receive/listen.ts'

let door: (Listening & { port: number }) | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await door?.close()
})

async function opened(): Promise<Socket> {
  const socket = connect(door?.port ?? 0, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

const gone = (socket: Socket) => once(socket, 'close')

it('the one that has been silent longest makes room for a new one', async () => {
  door = await listenOnPort({ host: '127.0.0.1', port: 0, connections: 3 }, () => new Response('ok'))
  const [first, second] = [await opened(), await opened()]
  // It has asked something since, so that the second has been silent longer.
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(first, 'data')
  const left = gone(second)
  await opened()
  await opened()
  await left
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(first, 'data')
})

it('where all are busy the new one goes', async () => {
  let answer = (_: Response) => {}
  door = await listenOnPort(
    { host: '127.0.0.1', port: 0, connections: 1 },
    () => new Promise((next) => (answer = next)),
  )
  const busy = await opened()
  const asked = once(door.server, 'request')
  busy.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await asked
  await gone(await opened())
  answer(new Response('still here'))
  expect(String((await once(busy, 'data'))[0])).toContain('200')
})
