// A temporary user who can install http hooks: private settings, a free port, and a stand-in for the agent that only says its version.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { createServer } from 'node:net'
import { TempUser } from './cli.ts'

export interface HttpReply {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

interface Entry {
  type: string
  url: string
  headers: Record<string, string>
  timeout: number
  onFailure?: string
}

export class FastUser extends TempUser {
  readonly settings = `${this.userHome}/.claude/settings.json`
  port = 0

  /** Takes a free port and puts an agent of this version in the usual place. `settings`: what the person has already. */
  async ready(version = '2.1.332', settings = '{}\n'): Promise<this> {
    this.port = await freePort()
    this.agent(`${this.userHome}/.local/bin`, `echo "${version} (Claude Code)"`)
    mkdirSync(`${this.userHome}/.claude`, { recursive: true })
    writeFileSync(this.settings, settings, { mode: 0o600 })
    return this
  }

  /** Puts a stand-in for the agent there. */
  agent(folder: string, script: string): void {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/claude`, `#!/bin/sh\n${script}\n`)
    chmodSync(`${folder}/claude`, 0o755)
  }

  get initFast(): string[] {
    return ['init', '--yes', '--otlp-port', '0', '--fast', '--fast-port', String(this.port)]
  }

  /** Our entry for an event. */
  entry(event: string, file = this.settings): Entry {
    return JSON.parse(readFileSync(file, 'utf8')).hooks[event].at(-1).hooks[0]
  }

  /** Posts a payload as the installed http hook does; `change` makes it another request. */
  post(event: string, payload: object | string, change: Partial<Posted> = {}): Promise<HttpReply> {
    const { url, headers } = this.entry(change.as ?? event)
    const to = new URL(change.path ?? url, url)
    const options = {
      method: change.method ?? 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...change.headers },
      signal: change.signal,
    }
    return new Promise((resolve, reject) => {
      const call = request(to, options, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      })
      call.on('error', reject)
      if (options.method !== 'POST') call.end()
      else call.end(typeof payload === 'string' ? payload : JSON.stringify(payload))
    })
  }
}

interface Posted {
  /** Event whose entry is used. */
  as: string
  method: string
  path: string
  headers: Record<string, string>
  signal: AbortSignal
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** Another program on a port, which answers everything so. */
export function otherProgram(port: number, reply = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n') {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.end(reply))
  })
  return new Promise<{ close(): Promise<void> }>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve({ close: () => new Promise((done) => server.close(() => done())) }))
  })
}
