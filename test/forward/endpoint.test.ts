// Where spans are sent, and that it is never ourselves.
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { isOnLoopback, isOwnListener, signalUrl } from '../../collector/forward/endpoint.ts'

test.each([
  ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
  ['http://127.0.0.1:4318/', 'http://127.0.0.1:4318/v1/traces'],
  ['https://tempo.example/otlp', 'https://tempo.example/otlp/v1/traces'],
  ['https://tempo.example/otlp/v1/traces', 'https://tempo.example/otlp/v1/traces'],
  ['https://tempo.example/v1/traces/?key=1#x', 'https://tempo.example/v1/traces?key=1'],
])('%s is posted to %s', (endpoint, url) => {
  const found = signalUrl(endpoint)
  expect(found.ok && found.url.href).toBe(url)
})

test.each(['', 'tempo.example:4318', 'file:///etc/hosts', 'http://user:pass@tempo.example'])(
  '%s is refused',
  (endpoint) => {
    expect(signalUrl(endpoint).ok).toBe(false)
  },
)

const loopback = [{ host: '127.0.0.1', port: 4318 }]

test.each([
  'http://127.0.0.1:4318',
  'http://localhost:4318/v1/traces',
  'http://LOCALHOST.:4318',
  'http://spanseal.localhost:4318',
  'http://[::1]:4318',
  'http://[::ffff:127.0.0.1]:4318',
  'http://127.1:4318',
  'http://2130706433:4318',
  'http://0.0.0.0:4318',
])('%s is our own listener', (url) => {
  expect(isOwnListener(url, loopback)).toBe(true)
})

test.each(['http://127.0.0.1:4319', 'http://tempo.example:4318', 'http://10.1.2.3:4318', 'https://127.0.0.1'])(
  '%s is not',
  (url) => {
    expect(isOwnListener(url, loopback)).toBe(false)
  },
)

test('a listener on every address is reached by each address of this machine', () => {
  const [address] = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const host = address?.family === 'IPv6' ? `[${address.address}]` : address?.address
  expect(isOwnListener(`http://${host}:4318`, [{ host: '0.0.0.0', port: 4318 }])).toBe(true)
  expect(isOwnListener('http://192.0.2.7:4318', [{ host: '::', port: 4318 }])).toBe(false)
})

test('default ports count', () => {
  expect(isOwnListener('https://localhost', [{ host: '::1', port: 443 }])).toBe(true)
  expect(isOwnListener('http://localhost', [{ host: 'localhost', port: 80 }])).toBe(true)
})

test('loopback is told from every other address', () => {
  for (const url of ['http://localhost:4318', 'http://127.8.8.8', 'http://[::1]:4318', 'http://LOCALHOST./v1/traces'])
    expect(isOnLoopback(new URL(url)), url).toBe(true)
  for (const url of ['http://tempo.example', 'http://10.0.0.1', 'http://127.0.0.1.example', 'http://0.0.0.0:4318'])
    expect(isOnLoopback(new URL(url)), url).toBe(false)
})
