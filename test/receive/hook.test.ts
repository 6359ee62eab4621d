// The hook door on a socket of its own: what it asks, what it leaves to others, and requests that break off.
import { mkdtempSync, rmSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type HookQuery, hookListener } from '../../collector/receive/hook.ts'
import { type Listening, listenOnSocket } from '../../collector/receive/listen.ts'
import { MAX_HOOK_BYTES } from '../../conventions/limits.ts'

let folder: string
let door: Listening
let asked: { query: HookQuery; payload: string }[]
const wait = vi.fn()
beforeEach(async () => {
  folder = mkdtempSync(`${tmpdir()}/sph-`)
  asked = []
  wait.mockReset()
  const native = async (query: HookQuery, payload: Uint8Array) => {
    asked.push({ query, payload: Buffer.from(payload).toString() })
    if (query.event === 'Broken') throw new Error('should never fail')
    return { kind: 'block', text: 'no' } as const
  }
  const other = (_: unknown, outgoing: { end(text: string): void }) => outgoing.end('other')
  door = await listenOnSocket(`${folder}/hook.sock`, hookListener({ native, wait }, other))
})
afterEach(async () => {
  await door.close()
  rmSync(folder, { recursive: true })
})

function open(method: string, path: string): { call: ClientRequest; reply: Promise<string> } {
  const call = request({ socketPath: `${folder}/hook.sock`, method, path, agent: false })
  const reply = new Promise<string>((resolve) => {
    call.on('response', (response) => {
      let text = `${response.statusCode} `
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    call.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code}`))
  })
  return { call, reply }
}

function ask(method: string, path: string, body = ''): Promise<string> {
  const { call, reply } = open(method, path)
  call.end(body)
  return reply
}

it('asks with what the hook says of itself', async () => {
  expect(await ask('POST', '/hook/a/E?mode=observe&fail=open&hook=sh', 'payload')).toBe('200 spanseal/1 block\nno\n')
  expect(await ask('POST', '/hook/a/E', '')).toBe('200 spanseal/1 block\nno\n')
  const way = { agent: 'a', event: 'E' }
  expect(asked).toEqual([
    { query: { ...way, way: 'sh', mode: 'observe', failMode: 'open' }, payload: 'payload' },
    { query: { ...way, way: undefined, mode: 'enforce', failMode: 'closed' }, payload: '' },
  ])
})

it('refuses a way in that is not one of its hooks', async () => {
  for (const way of ['http', 'new', '']) expect(await ask('POST', `/hook/a/E?hook=${way}`)).toContain('another version')
  expect(asked).toEqual([])
})

it.each([
  ['GET', '/hook/a/E'],
  ['POST', '/hook/a'],
  ['POST', '/hook/a/'],
  ['POST', '/hook/a/E/more'],
  ['POST', '//hook/a/E'],
  ['POST', '/'],
  ['DELETE', '/hook/wait/1'],
  ['GET', '/v1/gate/wait/1'],
])('leaves %s %s to others', async (method, path) => {
  expect(await ask(method, path)).toBe('200 other')
  expect(asked).toEqual([])
})

it('answers a payload that is too large while it still comes, and keeps none of it', async () => {
  const { call, reply } = open('POST', '/hook/a/E')
  const piece = Buffer.alloc(1024 * 1024)
  for (let sent = 0; sent <= MAX_HOOK_BYTES; sent += piece.length) call.write(piece)
  expect(await reply).toContain('larger than')
  call.end(piece)
  expect(asked).toEqual([])
})

it('asks nothing for a request that breaks off', async () => {
  const socket = connect(`${folder}/hook.sock`)
  socket.write('POST /hook/a/E HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"half"')
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.destroy()
  // Whatever came before has been dealt with when this is answered.
  expect(await ask('POST', '/hook/a/E', 'whole')).toContain('block')
  expect(asked.map(({ payload }) => payload)).toEqual(['whole'])
})

it('breaks the connection when it can not answer: no hook takes that for an answer', async () => {
  expect(await ask('POST', '/hook/a/Broken')).toBe('ECONNRESET')
})

it('waits for a person until the hook is gone', async () => {
  wait.mockResolvedValueOnce({ kind: 'pass' }).mockResolvedValueOnce(null)
  expect(await ask('GET', '/hook/wait/A-1')).toBe('200 spanseal/1 pass\n')
  expect(await ask('GET', '/hook/wait/A-2')).toContain('Nothing is held by that id')
  expect(wait.mock.calls.map(([id]) => id)).toEqual(['A-1', 'A-2'])

  const left = new Promise<void>((resolve) => {
    wait.mockImplementationOnce((_: string, gone: AbortSignal) => {
      gone.addEventListener('abort', () => resolve())
      return new Promise(() => {})
    })
  })
  const { call, reply } = open('GET', '/hook/wait/A-3')
  call.end()
  await vi.waitFor(() => expect(wait).toHaveBeenCalledTimes(3))
  call.destroy()
  await left
  await reply
})
