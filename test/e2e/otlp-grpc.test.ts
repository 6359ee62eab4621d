// The OTLP/gRPC port of the built collector: who is let in, what is recorded, and what a taken port costs. Real exporters are in
// otel-sdk3/ and peers/; the wire itself is in receive/otlp-grpc.test.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type SecureClientSessionOptions } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { framed } from '../../collector/receive/otlp/grpc-wire.ts'
import { encodeRequest } from '../receive/otlp-support.ts'
import { Collector, preToolUse } from '../support/collector.ts'

const tlsDir = new URL('../fixtures/tls/', import.meta.url).pathname
const pem = (name: string) => readFileSync(`${tlsDir}${name}`)
const TOKEN = 'a-token-of-the-test-0123456789'
const spans = [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1), name: 'x' }]
const body = framed(encodeRequest({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))

/** grpc-status of one call, or the error's code where there was no answer. */
function send(url: string, options: SecureClientSessionOptions = {}, authorization?: string): Promise<string> {
  return new Promise((resolve) => {
    const session = connect(url, options)
    const done = (outcome: string) => {
      resolve(outcome)
      session.destroy()
    }
    session.on('close', () => done('closed'))
    session.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message))
    const stream = session.request({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'content-type': 'application/grpc',
      ...(authorization !== undefined && { authorization }),
    })
    stream.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message))
    for (const event of ['response', 'trailers'] as const)
      stream.on(event, (headers: Record<string, unknown>) => {
        if (headers['grpc-status'] !== undefined) done(String(headers['grpc-status']))
      })
    stream.resume()
    stream.end(body)
  })
}

const imported = (collector: Collector) => collector.records().filter(({ type }) => type === 'spans.imported')

it('is off unless it is asked for, and then on loopback; what comes in is receipt only', async () => {
  const without = await new Collector().start()
  expect(without.endpoint().otlp_grpc).toBeUndefined()
  await without.remove()

  const collector = await new Collector({ config: 'version: 1\notlp: {port: 0, grpc: {port: 0}}\n' }).start()
  const url = String(collector.endpoint().otlp_grpc)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await send(url)).toBe('0')
  // Durable before the answer.
  expect(imported(collector)).toMatchObject([{ tier: 'T3', source: { kind: 'otlp' }, body: { encoding: 'protobuf' } }])
  expect((await collector.sql('SELECT name, receipt_only FROM spans')).rows).toEqual([['x', true]])
  const { otlp, otlp_grpc } = (await collector.status()) as { otlp?: string; otlp_grpc?: string }
  expect([otlp, otlp_grpc]).toEqual([collector.endpoint().otlp, url])
  expect((await collector.verify()).findings).toEqual([])
  await collector.remove()
})

it('beyond this machine takes who shows the token or the certificate, over TLS only', async () => {
  const tls = `cert_file: ${tlsDir}server.pem, key_file: HOME/server.key`
  const ca = pem('ca.pem')
  const opened = async (options: string) => {
    const collector = new Collector()
    writeFileSync(`${collector.root}/token`, `${TOKEN}\n`, { mode: 0o600 })
    writeFileSync(`${collector.root}/server.key`, pem('server.key'), { mode: 0o600 })
    const otlp = options.replaceAll('HOME', collector.root)
    writeFileSync(
      `${collector.root}/config.yaml`,
      `version: 1\notlp: {host: 0.0.0.0, port: 0, grpc: {port: 0}, ${otlp}}\n`,
    )
    await collector.start()
    return { collector, url: String(collector.endpoint().otlp_grpc).replace('0.0.0.0', 'localhost') }
  }

  const byToken = await opened(`tls: {${tls}}, token_file: HOME/token`)
  expect(byToken.url).toMatch(/^https:/)
  expect(await send(byToken.url, { ca }, `Bearer ${TOKEN}`)).toBe('0')
  expect(await send(byToken.url, { ca }, `Bearer ${TOKEN}x`)).toBe('16')
  expect(await send(byToken.url, { ca })).toBe('16')
  expect(await send(byToken.url.replace('https', 'http'))).not.toMatch(/^\d+$/)
  expect(imported(byToken.collector)).toHaveLength(1)
  await byToken.collector.remove()

  const byCertificate = await opened(`tls: {${tls}, client_ca_file: ${tlsDir}ca.pem}`)
  expect(await send(byCertificate.url, { ca, cert: pem('client.pem'), key: pem('client.key') })).toBe('0')
  expect(await send(byCertificate.url, { ca, cert: pem('stranger.pem'), key: pem('stranger.key') })).not.toBe('0')
  expect(await send(byCertificate.url, { ca }, `Bearer ${TOKEN}`)).not.toBe('0')
  expect(imported(byCertificate.collector)).toHaveLength(1)
  await byCertificate.collector.remove()
})

it('a port that another program has costs gRPC and nothing else, and is recorded', async () => {
  const other = createServer()
  await new Promise<void>((next) => other.listen(0, '127.0.0.1', next))
  const { port } = other.address() as AddressInfo
  const collector = await new Collector({ config: `version: 1\notlp: {port: 0, grpc: {port: ${port}}}\n` }).start()
  expect(collector.stderr).toContain(
    `127.0.0.1 port ${port} is taken by another program: no OTLP/gRPC is received; hooks are not affected. Set another otlp.grpc.port`,
  )
  expect((await collector.hook('PreToolUse', preToolUse('taken', 'c1'))).body).toBe('spanseal/1 pass\n')
  expect((await collector.status()) as object).toMatchObject({ otlp: collector.endpoint().otlp, otlp_grpc: null })
  expect(collector.records().filter(({ type, run }) => type === 'gap' && run === undefined)).toMatchObject([
    { body: { kind: 'otlp_port_taken' } },
  ])
  await collector.remove()
  other.close()
})

it('calls under way when it stops are either on disk or not answered OK', async () => {
  const collector = await new Collector({ config: 'version: 1\notlp: {port: 0, grpc: {port: 0}}\n' }).start()
  const url = String(collector.endpoint().otlp_grpc)
  let taken = 0
  const senders = Array.from({ length: 4 }, async () => {
    for (;;) {
      if ((await send(url)) !== '0') return
      taken++
    }
  })
  while (taken < 10) await new Promise((next) => setTimeout(next, 5))
  await collector.stop()
  await Promise.all(senders)
  expect(imported(collector).length).toBeGreaterThanOrEqual(taken)
  expect(collector.records().at(-1)?.type).toBe('collector.stopped')
  await collector.remove()
})
