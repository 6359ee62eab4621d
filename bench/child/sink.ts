// A destination that takes everything and keeps nothing. Prints its address; ends on SIGTERM.
import { createServer } from 'node:http'

const server = createServer((incoming, outgoing) => {
  incoming.resume()
  incoming.on('end', () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
})
process.once('SIGTERM', () => process.exit(0))
