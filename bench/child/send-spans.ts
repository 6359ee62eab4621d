// Sends span bodies to one receiver, paced or as fast as they are taken. Its only argument is a SendOptions as JSON; prints a Sent.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SendOptions, Sent } from '../children.ts'
import { SPANS_PER_BODY, SpanBody } from '../otlp-body.ts'
import { percentile } from '../stats.ts'

const options: SendOptions = JSON.parse(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: options.connections })
const url = `${options.url}/v1/traces`

function post(body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const headers = { 'content-type': 'application/x-protobuf', 'content-length': body.length }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      incoming.resume()
      incoming.on('error', reject)
      incoming.on('end', () => {
        if (incoming.statusCode === 200) resolve(performance.now() - began)
        else reject(new Error(`the receiver answered ${incoming.statusCode}`))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const began = performance.now()
const latencies: number[] = []
let next = 0
const worker = async () => {
  const body = new SpanBody()
  while (next < options.requests) {
    const n = next++
    if (options.rate !== undefined) {
      const due = began + (n * SPANS_PER_BODY * 1000) / options.rate
      await sleep(Math.max(0, due - performance.now()))
    }
    latencies.push(await post(body.renew()))
  }
}
await Promise.all(Array.from({ length: options.connections }, worker))
agent.destroy()
const sent: Sent = {
  spans: latencies.length * SPANS_PER_BODY,
  seconds: (performance.now() - began) / 1000,
  p50: percentile(latencies, 50),
  p99: percentile(latencies, 99),
}
console.log(JSON.stringify(sent))
