// `spanseal reload` and what `verify` tells a running collector, as a person runs them.
import { writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { TempUser } from '../support/cli.ts'

let user: TempUser
afterEach(() => user.remove())

test('reload says what changed; with an error it exits 2, names the field, and nothing changes; without a collector it exits 1', async () => {
  user = new TempUser().withConfig()
  const none = await user.run(['reload'])
  expect(none).toMatchObject({ status: 1, stdout: '' })
  expect(none.stderr).toContain('spanseal up')
  await user.run(['up'])
  expect(await user.run(['reload'])).toMatchObject({ status: 0, stderr: 'nothing has changed\n' })
  const { policy } = (await user.json(['status'])) as { policy: { hash: string } }

  writeFileSync(`${user.home}/policy.yaml`, 'version: 1\nextends: builtin:coding\nrules: []\n')
  writeFileSync(`${user.home}/config.yaml`, 'version: 1\notlp: { port: 0 }\nforward: [{name: a, url: no}]\n')
  const refused = await user.run(['reload'])
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain('config.yaml: forward.0.url: must be an http or https URL')
  expect(await user.json(['status'])).toMatchObject({ policy: { hash: policy.hash } })
  expect(JSON.parse((await user.run(['reload', '--json'])).stdout)).toMatchObject({ outcome: 'refused' })

  writeFileSync(
    `${user.home}/config.yaml`,
    'version: 1\notlp: { port: 0 }\nforward: [{name: a, url: "http://127.0.0.1:9"}]\n',
  )
  const changed = await user.run(['reload'])
  expect(changed.status).toBe(0)
  expect(changed.stderr).toMatch(/^a new config(?: and policy)? is in force\n$/)
  expect(await user.json(['status'])).toMatchObject({ forward: [{ name: 'a' }] })
})

test('the metrics say what the last verify of the home said, over a restart', async () => {
  user = new TempUser().withConfig()
  await user.run(['up'])
  const shown = async () => {
    const { otlp } = (await user.json(['status'])) as { otlp: string }
    const text = await (await fetch(`${otlp}/metrics`)).text()
    return text.split('\n').filter((line) => /^spanseal_verify_status.* 1$/.test(line))
  }
  expect(await shown()).toEqual([])
  expect((await user.run(['verify'])).status).toBe(0)
  expect(await shown()).toEqual(['spanseal_verify_status{spanseal_verify_status="self_consistent"} 1'])
  await user.run(['down'])
  await user.run(['up'])
  expect(await shown()).toEqual(['spanseal_verify_status{spanseal_verify_status="self_consistent"} 1'])
})
