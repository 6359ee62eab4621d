// Starts the collector from the Node hook: clean environment, own folder, its words kept for the message.
import { spawn } from 'node:child_process'
import type { HookSettings } from '../sh/render.ts'

/** Milliseconds to wait for the words of a process that has ended. */
const LAST_WORDS_MS = 200

export type Started = { ok: true } | { ok: false; reason: string }

/** Runs `up --from-hook` and waits until it says that the collector answers. The last line it wrote on stderr is the reason. */
export function startCollector(settings: HookSettings, seconds: number): Promise<Started> {
  return new Promise((resolve) => {
    const up = spawn(settings.runtime, [settings.cli, '--home', settings.home, 'up', '--from-hook'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', HOME: settings.userHome },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let words = ''
    up.stderr.setEncoding('utf8')
    up.stderr.on('data', (chunk: string) => {
      words += chunk
    })
    const timer = setTimeout(() => up.kill('SIGKILL'), seconds * 1000)
    const finish = (started: Started) => {
      clearTimeout(timer)
      up.stderr.destroy()
      resolve(started)
    }
    up.on('error', (error) => finish({ ok: false, reason: error.message }))
    up.on('exit', (status) => {
      if (status === 0) return finish({ ok: true })
      // Its last words may still be in the pipe; something it left behind may hold the pipe open for ever.
      const failed = () => finish({ ok: false, reason: lastLine(words) ?? `no reason given within ${seconds} s` })
      up.stderr.on('close', failed)
      setTimeout(failed, LAST_WORDS_MS)
    })
  })
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1) || undefined
}
