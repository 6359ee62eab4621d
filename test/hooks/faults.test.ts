// What the installed hooks make of every way a collector can fail: real processes against a stand-in collector.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeAnswer } from '../../conventions/wire.ts'
import { type Installed, install, type Kind, run, SHORT } from './support/installed.ts'
import { type Behaviour, head, reply, standIn } from './support/stand-in.ts'

const PASS = encodeAnswer({ kind: 'pass' })

/** Faults in which the stand-in listens. In each of them the text for "pass" is sent wherever that could mislead a hook. */
const LISTENING: Record<string, Behaviour> = {
  'status 500': reply('500 Internal Server Error', PASS),
  'status 403': reply('403 Forbidden', PASS),
  'status 302': (socket) =>
    socket.end(`HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: ${PASS.length}\r\n\r\n${PASS}`),
  'status 204': (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
  'status 201': reply('201 Created', PASS),
  'closed before an answer': (socket) => socket.end(),
  'empty 200': reply('200 OK', ''),
  'garbage instead of HTTP': (socket) => socket.end('hello\n'),
  'bare answer without HTTP': (socket) => socket.end(PASS),
  'garbage in a 200': reply('200 OK', 'spanseal/1 maybe\n'),
  'another version': reply('200 OK', 'spanseal/2 pass\n'),
  'pass with something after it': reply('200 OK', `${PASS}x`),
  'pass with something before it': reply('200 OK', `\n${PASS}`),
  'pass without its line feed': reply('200 OK', PASS.trimEnd()),
  'block without words': reply('200 OK', 'spanseal/1 block\n'),
  'an HTML page that holds the text': reply('200 OK', `<html>\n${PASS}\n200 end\n</html>`, 'text/html'),
  'a page that ends like an answer': reply('200 OK', `<html>\n${PASS}\n200 end`, 'text/html'),
  'an answer cut short': (socket) => socket.end(head('200 OK', PASS.length) + PASS.slice(0, 8)),
  'a length beyond what is sent': (socket) => socket.end(head('200 OK', PASS.length + 50) + PASS),
  'a chunked answer cut short': (socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${PASS.length.toString(16)}\r\n${PASS}\r\n`),
  'no answer at all': () => {},
  'headers that never end': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
  'a body that never ends': (socket) => drip(socket, head('200 OK', 100_000), 'spanseal/1 pass\n'),
  'hold with a broken id': reply('200 OK', 'spanseal/1 hold ../x\nwait\n'),
  'hold, then nothing': (socket, request) => {
    if (request.method === 'POST')
      reply('200 OK', encodeAnswer({ kind: 'hold', approval: 'a1', text: 'ask' }))(socket, request)
  },
  'hold, then an error': (socket, request) =>
    request.method === 'POST'
      ? reply('200 OK', encodeAnswer({ kind: 'hold', approval: 'a1', text: 'ask' }))(socket, request)
      : reply('500 Oops', PASS)(socket, request),
  'hold for ever': reply('200 OK', encodeAnswer({ kind: 'hold', approval: 'a1', text: 'ask' })),
  'it says that it failed': reply('200 OK', encodeAnswer({ kind: 'fail', text: 'the disk is full' })),
}

function drip(socket: Parameters<Behaviour>[0], first: string, again: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write(again), 100)
  socket.on('close', () => clearInterval(timer))
}

const MODES = [
  { mode: 'enforce', failMode: 'closed', PreToolUse: 2, ConfigChange: 2, PostToolUse: 1, UserPromptSubmit: 1 },
  { mode: 'enforce', failMode: 'open', PreToolUse: 0, ConfigChange: 0, PostToolUse: 1, UserPromptSubmit: 1 },
  { mode: 'observe', failMode: 'closed', PreToolUse: 0, ConfigChange: 0, PostToolUse: 0, UserPromptSubmit: 0 },
] as const
const EVENTS = ['PreToolUse', 'PostToolUse'] as const

describe.each<Kind>(['sh', 'node'])('the %s hook', (kind) => {
  let installed: Installed
  beforeEach(async () => {
    installed = await install()
  })
  afterEach(() => installed.remove())

  /** Every mode and event at once: the slow faults wait side by side. */
  async function everyWay() {
    await Promise.all(
      MODES.flatMap((row) =>
        EVENTS.map(async (event) => {
          const command = installed.command(kind, { mode: row.mode, failMode: row.failMode, deadlines: SHORT })
          const ran = await run(command, event)
          const way = `${row.mode} ${row.failMode} ${event}: ${ran.stderr}`
          expect(ran.stdout, way).toBe('')
          expect(ran.status, way).toBe(row[event])
          if (row.mode === 'observe') return expect(ran.stderr, way).toBe('')
          expect(ran.stderr, way).toContain(
            `${process.execPath}' '${installed.dir}/cli.mjs' --home '${installed.dir}' doctor`,
          )
          expect(ran.stderr, way).toContain("' uninstall\n")
        }),
      ),
    )
  }

  it.each(Object.keys(LISTENING))('fails as it was installed to: %s', async (fault) => {
    const server = await standIn(installed.socket, LISTENING[fault] ?? (() => {}))
    await everyWay()
    expect(server.received.length).toBeGreaterThanOrEqual(6)
    await server.close()
  })

  it('fails as it was installed to: hung up on before anything was read', async () => {
    const server = createServer((socket) => socket.destroy()).listen(installed.socket)
    await new Promise((resolve) => server.on('listening', resolve))
    await everyWay()
    await new Promise((resolve) => server.close(resolve))
  })

  it('fails as it was installed to: no socket', () => everyWay())

  it('fails as it was installed to: a file in the socket’s place', async () => {
    writeFileSync(installed.socket, 'not a socket')
    await everyWay()
  })

  it('fails as it was installed to: a socket nobody listens on', async () => {
    const server = createServer().listen(installed.socket)
    await new Promise((resolve) => server.on('listening', resolve))
    // Node would remove the file with the server; a crashed collector leaves it.
    renameSync(installed.socket, `${installed.socket}.kept`)
    await new Promise((resolve) => server.close(resolve))
    renameSync(`${installed.socket}.kept`, installed.socket)
    await everyWay()
    rmSync(installed.socket)
  })

  it('fails as it was installed to: the runtime is gone', async () => {
    const command = installed.command(kind, { runtime: '/nowhere/node' })
    const ran = await run(command, 'PreToolUse')
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toContain('could not be started')
  })

  it.each(['ConfigChange', 'UserPromptSubmit'] as const)('%s follows the same table', async (event) => {
    for (const row of MODES) {
      const ran = await run(installed.command(kind, { mode: row.mode, failMode: row.failMode }), event)
      expect(ran).toMatchObject({ status: row[event], stdout: '' })
    }
  })

  it('pass: exit 0 and not a word, for an exact and for a chunked reply', async () => {
    let chunked = false
    const server = await standIn(installed.socket, (socket, request) => {
      if (!chunked) return reply('200 OK', PASS)(socket, request)
      socket.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n${PASS.slice(0, 8)}\r\n8\r\n${PASS.slice(8)}\r\n0\r\n\r\n`,
      )
    })
    for (chunked of [false, true]) {
      for (const event of EVENTS) {
        expect(await run(installed.command(kind), event)).toEqual({ status: 0, stdout: '', stderr: '' })
      }
    }
    await server.close()
  })

  it('block: exit 2 and exactly the words, also when failures are let through', async () => {
    const text = 'Denied by coding.secrets: «$(id)» `x` %s \\n\nsecond line 🌍'
    const server = await standIn(installed.socket, reply('200 OK', encodeAnswer({ kind: 'block', text })))
    for (const failMode of ['closed', 'open'] as const) {
      const ran = await run(installed.command(kind, { failMode }), 'PreToolUse')
      expect(ran).toEqual({ status: 2, stdout: '', stderr: `${text}\n` })
    }
    // Exit 2 would erase a prompt: only gate events can be blocked.
    const prompt = await run(installed.command(kind), 'UserPromptSubmit')
    expect(prompt).toMatchObject({ status: 1, stdout: '' })
    const observed = await run(installed.command(kind, { mode: 'observe' }), 'PreToolUse')
    expect(observed).toEqual({ status: 0, stdout: '', stderr: '' })
    await server.close()
  })

  it.each([
    [{ kind: 'pass' } as const, 0, ''],
    [{ kind: 'block', text: 'rejected' } as const, 2, 'rejected\n'],
  ])('hold: says so, waits, and takes the answer (%j)', async (answer, status, words) => {
    const server = await standIn(installed.socket, (socket, request) =>
      request.path === '/hook/wait/appr-7'
        ? setTimeout(() => reply('200 OK', encodeAnswer(answer))(socket, request), 300)
        : reply('200 OK', encodeAnswer({ kind: 'hold', approval: 'appr-7', text: 'git push' }))(socket, request),
    )
    const ran = await run(installed.command(kind), 'PreToolUse')
    expect(ran).toEqual({ status, stdout: '', stderr: `[spanseal] waiting for a person: git push\n${words}` })
    expect(server.received.map(({ method }) => method)).toEqual(['POST', 'GET'])
    await server.close()
  })

  it('sends the payload as it came, and says in the address what it is', async () => {
    const server = await standIn(installed.socket, reply('200 OK', PASS))
    const payload = Buffer.concat([
      Buffer.from('{"a":"日本 \u0000 \r\n'),
      Buffer.from([0xff, 0xfe, 0x00]),
      Buffer.alloc(5_000_000, 'x'),
    ])
    expect(await run(installed.command(kind), 'PreToolUse', payload)).toMatchObject({ status: 0 })
    expect(await run(installed.command(kind, { mode: 'observe', failMode: 'open' }), 'Stop', '')).toMatchObject({
      status: 0,
    })
    const [first, second] = server.received
    expect(first?.body.equals(payload)).toBe(true)
    expect(first?.path).toBe(`/hook/claude-code/PreToolUse?mode=enforce&fail=closed&hook=${kind}`)
    expect(first?.headers).not.toMatch(/expect:/i)
    expect(second?.body.length).toBe(0)
    expect(second?.path).toBe(`/hook/claude-code/Stop?mode=observe&fail=open&hook=${kind}`)
    await server.close()
  })

  it('starts the collector when none answers, and then sends the whole payload', async () => {
    const log = `${installed.dir}/started.json`
    installed.setCli(`
      import { writeFileSync } from 'node:fs'
      import { spawn } from 'node:child_process'
      writeFileSync(${JSON.stringify(log)}, JSON.stringify({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd() }))
      console.log('this must not reach the agent')
      const server = \`
        const http = require('node:http')
        const server = http.createServer((request, response) => {
          let size = 0
          request.on('data', (chunk) => { size += chunk.length })
          request.on('end', () => {
            response.end(size === 3000000 ? 'spanseal/1 pass\\\\n' : 'spanseal/1 block\\\\nonly ' + size + ' bytes came\\\\n')
            setTimeout(() => process.exit(), 100)
          })
        }).listen(${JSON.stringify(installed.socket)}, () => process.send('ready'))
      \`
      const child = spawn(process.execPath, ['-e', server], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
      child.on('message', () => { child.disconnect(); child.unref() })
    `)
    const ran = await run(installed.command(kind), 'PreToolUse', Buffer.alloc(3_000_000, 'y'), {
      cwd: installed.dir,
      env: { PATH: '/usr/bin:/bin', HOME: '/tmp', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://evil', SECRET: 'x' },
    })
    expect(ran).toEqual({ status: 0, stdout: '', stderr: '' })
    const started = JSON.parse(readFileSync(log, 'utf8'))
    expect(started.argv).toEqual(['--home', installed.dir, 'up', '--from-hook'])
    expect(started.cwd).toBe('/')
    expect(started.env).toEqual({ PATH: '/usr/bin:/bin', HOME: installed.dir })
  })

  it('says the last words of a collector that did not start', async () => {
    const ran = await run(installed.command(kind), 'PreToolUse')
    expect(ran.stderr).toContain('could not be started: no collector in this test\n')
    expect(ran.stderr).not.toContain('first line')
  })

  it('does not wait for ever for a collector that does not come up', async () => {
    installed.setCli('setInterval(() => {}, 1000)')
    const ran = await run(installed.command(kind, { deadlines: { answer: 1, start: 1, wait: 1 } }), 'PreToolUse')
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toContain('no reason given within 1 s')
  })

  it('still blocks when it is asked to end while it waits', async () => {
    const server = await standIn(installed.socket, () => {})
    const command = installed.command(kind, { deadlines: { answer: 2, start: 1, wait: 1 } })
    const ran = await run(command, 'PreToolUse', '{}', { killAfterMs: 1000 })
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    await server.close()
  })

  it.each(['', "''", "'a b'", "'../x'"])('refuses to be called with %j for its event', async (event) => {
    const ran = await run(installed.command(kind), event)
    expect(ran).toMatchObject({ status: 1, stdout: '' })
  })
})

it('the sh hook without its curl fails as it was installed to', async () => {
  const installed = await install()
  for (const row of MODES) {
    for (const event of EVENTS) {
      const command = installed.command('sh', { ...row, curl: '/nowhere/curl' })
      const ran = await run(command, event)
      expect(ran).toMatchObject({ status: row[event], stdout: '' })
      if (row.mode === 'enforce') expect(ran.stderr).toContain('curl is missing')
    }
  }
  installed.remove()
})

it('the node hook without its settings blocks a call and only reports other events', async () => {
  const installed = await install()
  const command = installed.command('node')
  rmSync(`${installed.dir}/bin 0/hook.json`)
  expect(await run(command, 'PreToolUse')).toMatchObject({ status: 2, stdout: '' })
  expect(await run(command, 'PostToolUse')).toMatchObject({ status: 1, stdout: '' })
  for (const text of ['', '{}', 'null', '{"home":"/x","mode":"enforce"}']) {
    writeFileSync(`${installed.dir}/bin 0/hook.json`, text)
    expect(await run(command, 'PreToolUse')).toMatchObject({ status: 2, stdout: '' })
  }
  installed.remove()
})
