// Runs a verifier of somebody else to its end.
import { execFile } from 'node:child_process'

export interface Answer {
  status: number
  stdout: string
  stderr: string
}

/** Milliseconds. A verifier that takes longer hangs. */
const HANG_MS = 60_000

export function runProgram(command: string, args: string[]): Promise<Answer> {
  return new Promise((done) => {
    execFile(command, args, { timeout: HANG_MS, env: { PATH: '/usr/bin:/bin' } }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr })
    })
  })
}
