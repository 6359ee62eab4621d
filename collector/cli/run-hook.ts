// Runs an installed hook as the agent does: its command line through /bin/sh, one payload on stdin.
import { spawn } from 'node:child_process'

export interface HookRun {
  /** Null when it was ended by a signal. */
  status: number | null
  stdout: string
  stderr: string
}

/** Resolves when the hook has ended. `env` is all the environment it gets. */
export function runHook(
  command: string,
  payload: object,
  options: { env: NodeJS.ProcessEnv; cwd: string; timeoutMs: number },
): Promise<HookRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { env: options.env, cwd: options.cwd, timeout: options.timeoutMs })
    const out = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8')
      child[name].on('data', (chunk: string) => {
        out[name] += chunk
      })
    }
    // A hook that leaves without reading its input breaks this pipe; its exit code says so.
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(payload))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, ...out }))
  })
}
