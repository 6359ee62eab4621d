// Neither a hostile project nor an odd home changes what the installed hooks do. Aliases, functions, PATH, proxies, .curlrc,
// NODE_OPTIONS and shadowed modules are set up as a project could.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { encodeAnswer } from '../../conventions/wire.ts'
import { GATE_EVENTS } from '../../hooks/gate-events.ts'
import { adapters } from '../../hooks/index.ts'
import { shellQuote } from '../../hooks/sh/quote.ts'
import { renderShHook } from '../../hooks/sh/render.ts'
import { install, type Kind, run } from './support/installed.ts'
import { reply, standIn } from './support/stand-in.ts'

const SHELLS = ['/bin/dash', '/bin/bash --posix', '/bin/busybox sh'].filter((shell) =>
  existsSync(shell.split(' ')[0] ?? ''),
)
const KINDS: { kind: Kind; shell?: string }[] = [
  { kind: 'node' },
  { kind: 'sh' },
  ...SHELLS.map((shell) => ({ kind: 'sh' as const, shell })),
]

/** A project that tries everything a project can: each trap leaves `touched` behind when it is sprung. */
function hostileProject(dir: string): { cwd: string; env: Record<string, string>; touched: string } {
  const cwd = `${dir}/project`
  const touched = `${dir}/touched`
  const evil = `${dir}/evil`
  mkdirSync(`${cwd}/node_modules/net`, { recursive: true })
  mkdirSync(`${cwd}/node_modules/node:net`, { recursive: true })
  mkdirSync(evil)
  const script = `#!/bin/sh\ntouch ${shellQuote(touched)}\nprintf 'spanseal/1 pass\\n\\n200 end'\n`
  for (const name of ['curl', 'env', 'sh', 'node', 'printf', 'cd', 'wait', 'kill', 'sleep']) {
    for (const folder of [cwd, evil]) {
      writeFileSync(`${folder}/${name}`, script)
      chmodSync(`${folder}/${name}`, 0o755)
    }
  }
  const module = `require('fs').writeFileSync(${JSON.stringify(touched)}, ''); process.exit(0)`
  writeFileSync(`${cwd}/node_modules/net/index.js`, module)
  writeFileSync(`${evil}/preload.cjs`, module)
  writeFileSync(`${evil}/rc`, `touch ${shellQuote(touched)}; alias curl=true; alias exit=true; set -n\n`)
  for (const name of ['.curlrc', '_curlrc', '.config/curlrc']) {
    mkdirSync(`${evil}/.config`, { recursive: true })
    writeFileSync(`${evil}/${name}`, `output = ${touched}\nproxy = http://127.0.0.1:9\nfail\n`)
    writeFileSync(`${cwd}/.curlrc`, `output = ${touched}\n`)
  }
  writeFileSync(`${cwd}/.env`, 'NODE_OPTIONS=--require=./x')
  return {
    cwd,
    touched,
    env: {
      PATH: `${evil}:${cwd}:/usr/bin:/bin`,
      HOME: evil,
      CURL_HOME: evil,
      XDG_CONFIG_HOME: `${evil}/.config`,
      SPANSEAL_HOME: evil,
      NODE_OPTIONS: `--require=${evil}/preload.cjs`,
      NODE_PATH: `${cwd}/node_modules`,
      BASH_ENV: `${evil}/rc`,
      ENV: `${evil}/rc`,
      IFS: '/ e',
      PS4: `$(touch ${shellQuote(touched)})`,
      http_proxy: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      all_proxy: 'http://127.0.0.1:9',
      no_proxy: '',
      SSLKEYLOGFILE: touched,
      LC_ALL: 'C.UTF-8',
      mode: 'observe',
      gate: 'no',
      status: '0',
      socket: '/nowhere',
      curl: `${evil}/curl`,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    },
  }
}

it.each(KINDS)('a hostile project changes nothing: $kind $shell', async ({ kind, shell }) => {
  const installed = await install()
  const { cwd, env, touched } = hostileProject(installed.dir)
  const command = installed.command(kind, shell === undefined ? {} : { shell })
  let answer = encodeAnswer({ kind: 'pass' })
  const server = await standIn(installed.socket, (socket, request) => reply('200 OK', answer)(socket, request))
  expect(await run(command, 'PreToolUse', '{"x":1}', { cwd, env })).toEqual({ status: 0, stdout: '', stderr: '' })
  answer = encodeAnswer({ kind: 'block', text: 'no' })
  expect(await run(command, 'PreToolUse', '{"x":1}', { cwd, env })).toEqual({ status: 2, stdout: '', stderr: 'no\n' })
  expect(server.received.map(({ body }) => body.toString())).toEqual(['{"x":1}', '{"x":1}'])
  await server.close()
  const down = await run(command, 'PreToolUse', '{}', { cwd, env })
  expect(down).toMatchObject({ status: 2, stdout: '' })
  expect(down.stderr).toContain('no collector in this test')
  expect(existsSync(touched)).toBe(false)
  installed.remove()
})

it.skipIf(!existsSync('/bin/bash'))('functions out of the environment change nothing where sh is bash', async () => {
  const installed = await install()
  const touched = `${installed.dir}/touched`
  const functions = ['printf', 'cd', 'wait', 'kill'].map((name) =>
    shellQuote(`BASH_FUNC_${name}%%=() { /usr/bin/touch ${shellQuote(touched)}; }`),
  )
  const shell = `/usr/bin/env ${functions.join(' ')} /bin/bash --posix`
  const ran = await run(installed.command('sh', { shell }), 'PreToolUse')
  expect(ran).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('no collector in this test') })
  expect(existsSync(touched)).toBe(false)
  installed.remove()
})

it.each(KINDS)('no environment at all changes nothing: $kind $shell', async ({ kind, shell }) => {
  const installed = await install()
  const server = await standIn(installed.socket, reply('200 OK', encodeAnswer({ kind: 'block', text: 'no' })))
  const command = installed.command(kind, shell === undefined ? {} : { shell })
  expect(await run(command, 'PreToolUse', '{}', { env: {} })).toEqual({ status: 2, stdout: '', stderr: 'no\n' })
  await server.close()
  installed.remove()
})

const HOMES = ['with space', 'it\'s "quoted" `x` $HOME', 'hömé 日本 🌍', "a'b\nline", '$(touch pwned);&|<>*?[x] @MODE@']

it.each(HOMES.flatMap((name) => [{ kind: 'sh', name } as const, { kind: 'node', name } as const]))(
  'works in a home called $name: $kind',
  async ({ kind, name }) => {
    const installed = await install(name)
    const server = await standIn(installed.socket, reply('200 OK', encodeAnswer({ kind: 'pass' })))
    expect(await run(installed.command(kind), 'PreToolUse')).toEqual({ status: 0, stdout: '', stderr: '' })
    await server.close()
    const down = await run(installed.command(kind), 'PreToolUse')
    expect(down.status).toBe(2)
    expect(down.stderr).toContain('no collector in this test')
    expect(down.stderr).toContain(`--home ${shellQuote(installed.dir)} doctor`)
    installed.remove()
  },
)

it('the template takes exactly its values', () => {
  const paths = { home: '/h', userHome: '/u', hookSocket: '/s', runtime: '/n', cli: '/c', curl: '/usr/bin/curl' }
  const settings = { ...paths, mode: 'enforce' as const, failMode: 'closed' as const }
  expect(() => renderShHook('@HOME@ @OTHER@', settings)).toThrow('OTHER')
  expect(() => renderShHook('@HOME@', settings)).toThrow('does not use')
  expect(() => shellQuote('a\0b')).toThrow(RangeError)
})

it('the hooks know the events that wait for an answer', () => {
  const gates = [...adapters.values()].flatMap(({ events }) =>
    Object.entries(events).flatMap(([event, rule]) => (rule.gate ? [event] : [])),
  )
  expect([...GATE_EVENTS].sort()).toEqual([...new Set(gates)].sort())
})
