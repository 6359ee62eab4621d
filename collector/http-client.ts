// undici as a bundle of its own (http-client.cjs): most of a megabyte that the collector's start must not parse. transport.ts loads
// it with the first request.
export { Agent, ProxyAgent, request } from 'undici'
