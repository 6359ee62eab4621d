// A disk that is full or read-only, and files that others could read: a clear error, nothing acknowledged, and it goes on afterwards.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Collector, preToolUse } from '../support/collector.ts'

const SPANS = JSON.stringify({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: 'a'.repeat(32),
              spanId: 'b'.repeat(16),
              name: 'x',
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
            },
          ],
        },
      ],
    },
  ],
})

let collector: Collector | undefined
afterEach(async () => {
  await collector?.remove()
  collector = undefined
})

/** Fires hooks until one is refused; returns the ids that were let through and the refusal. */
async function untilRefused(running: Collector, size = 2_000): Promise<{ passed: string[]; refusal: string }> {
  const passed: string[] = []
  for (let i = 0; i < 5_000; i++) {
    const reply = await running
      .hook('PreToolUse', preToolUse('S1', `c${i}`, 'x'.repeat(size)))
      .catch((error: Error) => ({ body: `broken: ${error.message}` }))
    if (reply.body !== 'spanseal/1 pass\n') return { passed, refusal: reply.body }
    passed.push(`c${i}`)
  }
  throw new Error('the disk never filled up')
}

const decided = (running: Collector) =>
  running.records().flatMap((record) => (record.type === 'tool.decided' ? [record.call?.id] : []))

async function goesOn(running: Collector, passed: string[]): Promise<void> {
  expect((await running.hook('PreToolUse', preToolUse('S1', 'again'))).body).toBe('spanseal/1 pass\n')
  expect(passed.filter((id) => !decided(running).includes(id))).toEqual([])
  await running.stop()
  const report = await running.verify()
  expect(report.findings.filter(({ severity }) => severity === 'broken')).toEqual([])
}

describe('a disk that takes no more', () => {
  it('(a file size limit, on any machine) refuses with the reason, ends, and loses nothing it answered for', async () => {
    // 1,024-byte blocks; Node ignores the signal, so the write fails as on a full disk.
    const limited = new Collector({
      wrap: (command) => ['/bin/sh', '-c', 'ulimit -f 400; exec "$@"', 'sh', ...command],
    })
    collector = limited
    await limited.start()
    const { passed, refusal } = await untilRefused(limited)
    expect(passed.length).toBeGreaterThan(5)
    expect(refusal).toMatch(/spanseal\/1 fail\nnothing was recorded: .*(EFBIG|ENOSPC|too large)/i)
    await limited.gone()
    expect(limited.stderr).toMatch(/the log can't be written/)
    const after = new Collector({ root: limited.root })
    collector = after
    await after.start()
    await goesOn(after, passed)
  })

  const isRoot = process.getuid?.() === 0
  it(
    isRoot
      ? '(a small tmpfs) does the same, and recovers when there is room again'
      : '(a small tmpfs) needs root: the limit above stands in',
    async () => {
      if (!isRoot) return
      const mount = mkdtempSync(join(tmpdir(), 'spanseal-tmpfs-'))
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', mount]).status).toBe(0)
      try {
        const full = new Collector({ root: join(mount, 'home') })
        await full.start()
        const filler = spawnSync('sh', ['-c', `head -c 40000000 /dev/zero > '${mount}/filler'`])
        expect(filler.status).not.toBe(0)
        // Third-party spans are refused first, so that what is left is for the hooks.
        const spans = await fetch(`${full.endpoint().otlp}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: SPANS,
        })
        expect(spans.status).toBe(503)
        expect(spans.headers.get('retry-after')).not.toBeNull()
        expect(await spans.text()).toContain('nearly full')
        const { passed, refusal } = await untilRefused(full)
        expect(refusal).toMatch(/ENOSPC|no space/i)
        rmSync(join(mount, 'filler'))
        await full.kill()
        const after = new Collector({ root: full.root })
        await after.start()
        await goesOn(after, passed)
        await after.kill()
      } finally {
        spawnSync('umount', ['-l', mount])
        rmSync(mount, { recursive: true, force: true })
      }
    },
  )
})

describe('a home that is not as it must be', () => {
  it('read-only: does not start, says which path', async () => {
    collector = await new Collector().start()
    await collector.hook('PreToolUse', preToolUse('S1', 'c1'))
    await collector.stop()
    // Root may write everywhere, so the collector runs as nobody where the tests run as root.
    const uid = process.getuid?.() === 0 ? 65534 : undefined
    if (uid !== undefined) spawnSync('chown', ['-R', `${uid}:${uid}`, collector.root])
    for (const dir of ['log', 'vault', 'run', '.']) chmodSync(join(collector.root, dir), 0o500)
    const readOnly = new Collector({ root: `${collector.root}`, uid, keepConfig: true })
    await expect(readOnly.start()).rejects.toThrow(/EACCES.*spanseal-e2e/s)
    for (const dir of ['log', 'vault', 'run', '.']) chmodSync(join(collector.root, dir), 0o700)
    const again = new Collector({ root: collector.root, uid, keepConfig: true })
    await again.start()
    expect((await again.hook('PreToolUse', preToolUse('S1', 'c2'))).body).toBe('spanseal/1 pass\n')
    await again.kill()
  })

  it('with keys that others could read: does not start, says chmod', async () => {
    collector = await new Collector().start()
    await collector.stop()
    const uid = process.getuid?.() === 0 ? 65534 : undefined
    if (uid !== undefined) spawnSync('chown', ['-R', `${uid}:${uid}`, collector.root])
    for (const key of ['record.pem', 'log.pem', 'ids.secret']) {
      chmodSync(join(collector.root, 'keys', key), 0o640)
      await expect(new Collector({ root: collector.root, uid, keepConfig: true }).start()).rejects.toThrow(
        new RegExp(`${key}.*chmod 600`, 's'),
      )
      chmodSync(join(collector.root, 'keys', key), 0o600)
    }
  })

  it('of another user: does not start', async () => {
    if (process.getuid?.() !== 0) return
    collector = await new Collector().start()
    await collector.stop()
    chownSync(collector.root, 65534, 65534)
    await expect(new Collector({ root: collector.root, keepConfig: true }).start()).rejects.toThrow(
      /belongs to user 65534/,
    )
  })
})
