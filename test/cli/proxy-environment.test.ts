// Which proxy a destination gets from a person's shell.
import { expect, it } from 'vitest'
import { readOtelEnvironment } from '../../collector/cli/otel-environment.ts'
import { proxyFor } from '../../collector/cli/proxy-environment.ts'

const both = { HTTPS_PROXY: 'http://secure:1', http_proxy: 'http://plain:2' }

it.each([
  ['https://tempo.example', {}, 'http://secure:1'],
  ['http://tempo.example', {}, 'http://plain:2'],
  ['http://127.0.0.1:4318', {}, undefined],
  ['http://localhost:4318', {}, undefined],
  ['http://[::1]:4318', {}, undefined],
  ['http://127.tempo.example:4318', {}, 'http://plain:2'],
  ['https://tempo.example', { NO_PROXY: 'other.example' }, 'http://secure:1'],
  ['https://tempo.example', { NO_PROXY: 'a, Tempo.Example' }, undefined],
  ['https://a.tempo.example', { no_proxy: '.tempo.example' }, undefined],
  ['https://a.tempo.example', { no_proxy: 'tempo.example' }, undefined],
  ['https://nottempo.example', { no_proxy: 'tempo.example' }, 'http://secure:1'],
  ['https://tempo.example:8443', { no_proxy: 'tempo.example:443' }, 'http://secure:1'],
  ['https://tempo.example', { no_proxy: 'tempo.example:443' }, undefined],
  ['https://10.0.0.7', { no_proxy: '10.0.0.7' }, undefined],
  ['https://[fd00::7]', { no_proxy: '[fd00::7]' }, undefined],
  ['https://tempo.example', { no_proxy: '*' }, undefined],
  ['https://tempo.example', { HTTPS_PROXY: 'secure:1' }, 'http://secure:1'],
  ['https://tempo.example', { HTTPS_PROXY: '' }, undefined],
])('%s with %o: %s', (url, env, proxy) => {
  expect(proxyFor(url, { ...both, ...env })).toBe(proxy)
})

it('is written down with the destination; one that is not http is named and left out', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://tempo.example', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }
  expect(readOtelEnvironment({ ...env, ...both })).toEqual({
    destination: { url: 'https://tempo.example', protocol: 'http/protobuf', headers: {}, proxy: 'http://secure:1' },
    warnings: [],
  })
  const socks = readOtelEnvironment({ ...env, HTTPS_PROXY: 'socks5://user:hunter2@x' })
  expect(socks.destination).not.toHaveProperty('proxy')
  expect(socks.warnings.join()).toContain('only http and https proxies')
  expect(socks.warnings.join()).not.toContain('hunter2')
})
