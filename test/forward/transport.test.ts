// How requests travel: encodings, headers from files and the environment, TLS with our own authority and client certificate, proxies.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server as HttpServer, request } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Sender } from '../../collector/forward/sender.ts'
import { traces } from '../../collector/forward/traces.ts'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { startBackend } from './backend.ts'
import { forward, idle, logOfTurns, spansOfLog, temporaryFolder, until } from './forwarder-support.ts'

const EMPTY = traces({ evidence: true }).request([], { resourceAttributes: {}, version: '1' })

const tls = (name: string) => resolve('test/fixtures/tls', name)

async function listening(server: HttpServer): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  return (server.address() as AddressInfo).port
}

/** A stand-in backend behind TLS; counts requests and the client certificates that it saw. */
async function tlsBackend(options: ServerOptions = {}) {
  const seen: (string | undefined)[] = []
  const server = createTlsServer(
    { cert: readFileSync(tls('server.pem')), key: readFileSync(tls('server.key')), ...options },
    (incoming, response) => {
      const certificate = (
        incoming.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } }
      ).getPeerCertificate()
      seen.push(certificate.subject?.CN)
      incoming.resume().on('end', () => response.writeHead(200).end('{}'))
    },
  )
  return { seen, url: `https://127.0.0.1:${await listening(server)}` }
}

/** A stand-in for a company's proxy: tunnels for https, forwards http itself. `password`: what it asks for. */
async function proxy(password?: string) {
  const seen: string[] = []
  const allowed = (authorization: string | undefined) =>
    password === undefined || authorization === `Basic ${Buffer.from(password).toString('base64')}`
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    if (!allowed(incoming.headers['proxy-authorization'])) {
      response.writeHead(407).end()
      return
    }
    incoming.pipe(
      request(incoming.url ?? '', { method: incoming.method, headers: incoming.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      }),
    )
  })
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`)
    if (!allowed(incoming.headers['proxy-authorization'])) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host, port] = (incoming.url ?? '').split(':')
    const tunnel = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      tunnel.pipe(socket).pipe(tunnel)
    })
    for (const end of [tunnel, socket]) end.on('error', () => tunnel.destroy())
  })
  const at = `127.0.0.1:${await listening(server)}`
  return { seen, url: password === undefined ? `http://${at}` : `http://${password}@${at}` }
}

test('http/protobuf sends the same spans, and reads answers in it', async () => {
  const bodies: Buffer[] = []
  const types: (string | undefined)[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      types.push(incoming.headers['content-type'])
      bodies.push(Buffer.concat(chunks))
      // ExportTraceServiceResponse{partial_success{rejected_spans: 2}}
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(Buffer.from([10, 2, 8, 2]))
    })
  })
  const log = logOfTurns(2)
  const rig = forward(log, `http://127.0.0.1:${await listening(server)}`, {
    destination: { protocol: 'http/protobuf' },
  })
  await idle(rig)
  expect(types).toEqual(['application/x-protobuf'])
  const decoded = decodeTraces(bodies[0] ?? Buffer.alloc(0), 'protobuf')
  if (!decoded.ok) throw new Error(decoded.message)
  const spans = decoded.request.resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap((s) => s.spans ?? []))
  expect(spans.map(({ spanId }) => spanId)).toEqual(spansOfLog(log).map(({ spanId }) => spanId))
  expect(rig.forwarder.status()).toMatchObject({ sent: 4, rejected: 2 })
})

test('INVALID_ARGUMENT is a refusal of the body whatever its status; another code is not', async () => {
  for (const [code, kind] of [
    [3, 'refused'],
    [16, 'blocked'],
  ] as const) {
    const backend = await startBackend(() => ({ status: 500, body: JSON.stringify({ code, message: 'secret' }) }))
    const sender = new Sender({ url: new URL(backend.url), headers: {}, protocol: 'http/json', compress: false })
    expect(await sender.send(EMPTY, new AbortController().signal, 0)).toEqual({
      kind,
      reason: 'HTTP 500',
    })
  }
})

test('a header from a file or the environment is read for each request, and named, not shown, when it is missing', async () => {
  const file = join(temporaryFolder(), 'token')
  writeFileSync(file, 'Bearer hunter2-first\n', { mode: 0o600 })
  process.env.SPANSEAL_FORWARD_TENANT = 'hunter2-tenant'
  onTestFinished(() => {
    delete process.env.SPANSEAL_FORWARD_TENANT
  })
  const backend = await startBackend(({ headers }) => ({
    status: headers.authorization?.endsWith('first') ? 401 : 200,
  }))
  const headers = { authorization: { file }, 'X-Scope-OrgID': { env: 'SPANSEAL_FORWARD_TENANT' } }
  const rig = forward(logOfTurns(1), backend.url, { destination: { headers } })
  await until(() => rig.clock.waits.length >= 2)
  expect(rig.forwarder.status()).toMatchObject({ state: 'blocked', reason: 'HTTP 401' })
  rmSync(file)
  await until(() => rig.forwarder.status().reason?.includes('ENOENT') === true)
  expect(rig.forwarder.status()).toMatchObject({
    state: 'blocked',
    reason: `the header authorization: ${file} can't be read: ENOENT`,
  })
  writeFileSync(`${file}.new`, 'Bearer hunter2-second\n')
  renameSync(`${file}.new`, file)
  await idle(rig)
  const last = backend.requests.at(-1)
  expect(last?.headers).toMatchObject({ authorization: 'Bearer hunter2-second', 'x-scope-orgid': 'hunter2-tenant' })
  delete process.env.SPANSEAL_FORWARD_TENANT
  const without = forward(logOfTurns(1), backend.url, { destination: { headers } })
  await until(() => without.clock.waits.length >= 1)
  expect(without.forwarder.status().reason).toContain('SPANSEAL_FORWARD_TENANT is not in the environment')
  expect(JSON.stringify([rig.lines, rig.forwarder.status(), without.lines])).not.toContain('hunter2')
})

test('our own authority is trusted when it is named, and only then', async () => {
  const backend = await tlsBackend()
  const strict = forward(logOfTurns(1), backend.url)
  await until(() => strict.clock.waits.length >= 2)
  expect(strict.forwarder.status()).toMatchObject({ state: 'blocked', next_seq: 0 })
  expect(strict.forwarder.status().reason).toMatch(/^TLS: /)
  expect(backend.seen).toEqual([])
  const trusting = forward(logOfTurns(1), backend.url, { destination: { tls: { ca: tls('ca.pem') } } })
  await idle(trusting)
  expect(backend.seen).toHaveLength(1)
})

test('a client certificate is shown where it is asked for, and read again once it is there', async () => {
  const backend = await tlsBackend({
    requestCert: true,
    rejectUnauthorized: true,
    ca: readFileSync(tls('ca.pem')),
  })
  const folder = temporaryFolder()
  const destination = { tls: { ca: tls('ca.pem'), cert: `${folder}/client.pem`, key: tls('client.key') } }
  const rig = forward(logOfTurns(1), backend.url, { destination })
  await until(() => rig.clock.waits.length >= 2)
  expect(rig.forwarder.status()).toMatchObject({
    state: 'blocked',
    reason: `tls.cert: ${folder}/client.pem can't be read: ENOENT`,
  })
  writeFileSync(`${folder}/client.pem`, readFileSync(tls('client.pem')))
  await idle(rig)
  expect(backend.seen).toEqual(['client'])
})

test('https goes through a tunnel of the proxy, http is forwarded by it, and its password is shown to nobody else', async () => {
  const through = await proxy('user:hunter2')
  const secure = await tlsBackend()
  const plain = await startBackend()
  const tunnelled = forward(logOfTurns(1), secure.url, {
    destination: { proxy: through.url, tls: { ca: tls('ca.pem') } },
  })
  await idle(tunnelled)
  const forwarded = forward(logOfTurns(1), plain.url, { destination: { proxy: through.url } })
  await idle(forwarded)
  expect(through.seen).toEqual([`CONNECT ${new URL(secure.url).host}`, `POST ${plain.url}/v1/traces`])
  expect(secure.seen).toHaveLength(1)
  expect(plain.taken).toHaveLength(3)
  expect(JSON.stringify([tunnelled.lines, tunnelled.forwarder.status(), forwarded.lines])).not.toContain('hunter2')
})

test('a proxy that wants a password blocks, one that is away is waited for', async () => {
  const secure = await tlsBackend()
  const asking = await proxy('user:password')
  const blocked = forward(logOfTurns(1), secure.url, {
    destination: { proxy: asking.url.replace('user:password@', '') },
  })
  await until(() => blocked.clock.waits.length >= 1)
  expect(blocked.forwarder.status()).toMatchObject({ state: 'blocked', reason: 'the proxy answers 407' })
  const away = forward(logOfTurns(1), secure.url, { destination: { proxy: 'http://127.0.0.1:9' } })
  await until(() => away.clock.waits.length >= 1)
  expect(away.forwarder.status()).toMatchObject({ state: 'retrying', reason: 'ECONNREFUSED' })
  expect(secure.seen).toEqual([])
})
