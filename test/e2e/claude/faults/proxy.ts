// A stand-in for a proxy: passes on what goes to the model, and answers everything else itself.
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'

/** Not listening yet. `model`: its origin. `answer` gets whatever was meant for somebody else. */
export function passingProxy(model: () => string, answer: (response: ServerResponse) => void): Server {
  const proxy = createServer((incoming, response) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith(`${model()}/`)) {
      incoming.resume()
      incoming.on('end', () => answer(response))
      return
    }
    const onwards = request(url, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    onwards.on('error', () => response.destroy())
    incoming.pipe(onwards)
  })
  proxy.on('connect', (incoming, socket) => {
    const address = proxy.address()
    const own = typeof address === 'object' && address !== null ? address.port : 0
    // What is meant for somebody else ends in this proxy, as if it were them.
    const port = `http://${incoming.url}` === model() ? Number(new URL(model()).port) : own
    const onwards = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onwards).pipe(socket)
    })
    onwards.on('error', () => socket.destroy())
    socket.on('error', () => onwards.destroy())
  })
  return proxy
}
