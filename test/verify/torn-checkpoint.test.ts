// What a power cut leaves of the checkpoint that was being written: no finding, unless something was said by it.
import { appendFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { verifyHome } from '../../collector/verify/index.ts'
import { homePaths } from '../../conventions/home.ts'
import { freshFolder, removeFolders, sampleLog } from './support.ts'

afterAll(removeFolders)

async function broken(damage: (list: string, newest: string) => void): Promise<string[]> {
  const root = sampleLog().write(freshFolder())
  const { checkpoints, checkpoint } = homePaths(root)
  damage(checkpoints, checkpoint)
  return (await verifyHome({ root })).findings.filter(({ severity }) => severity === 'broken').map(({ code }) => code)
}

it.each(['"spanse', '"spanse\n', '"sp\0\0\0\n', '\0\0\0\0', '\0\0\0\0\n'])(
  'left behind the newest is nothing: %j',
  async (rest) => {
    expect(await broken((list) => appendFileSync(list, rest))).toEqual([])
  },
)

it.each(['"spanse\n', '\0\0\0\0'])('in the middle of the list is broken: %j', async (rest) => {
  expect(await broken((list) => appendFileSync(list, `${rest}\n${JSON.stringify(sampleLog().notes[0])}\n`))).toContain(
    'checkpoint.signature',
  )
})

it('where the newest checkpoint names it is broken', async () => {
  const codes = await broken((list, newest) => {
    appendFileSync(list, '"sp\0\0\0\n')
    writeFileSync(newest, 'another')
  })
  expect(codes).toContain('checkpoint.signature')
})
