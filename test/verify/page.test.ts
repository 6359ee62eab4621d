// The verifier's page as it is built: one file that asks for nothing else. That it works is tested in a real browser (test/e2e/browser).
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TempUser } from '../support/cli.ts'

let user: TempUser
let page: string
beforeAll(async () => {
  user = new TempUser()
  expect((await user.run(['verify', '--html', 'page.html'])).status).toBe(0)
  page = readFileSync(`${user.project}/page.html`, 'utf8')
})
afterAll(() => user.remove())

const source = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

it('allows its own script and style by their hashes, and nothing else', () => {
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? []
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ])
  expect(page.match(/<script/g)).toHaveLength(1)
})

it('names no other file, and holds nothing of Node', () => {
  const [markup = ''] = page.split('<script>')
  expect(markup).not.toMatch(/\s(?:src|href|action|srcset)=|url\(|@import/)
  expect(page).not.toMatch(/"node:|\bprocess\.getBuiltinModule|\bBuffer\./)
})

it('says where it could not be written', async () => {
  const { status, stderr } = await user.run(['verify', '--html', '/nowhere/page.html'])
  expect(status).toBe(1)
  expect(stderr).toContain("/nowhere/page.html can't be written")
})
