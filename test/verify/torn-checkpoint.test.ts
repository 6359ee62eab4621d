// What a power cut leaves of the checkpoint that was being written: no finding, unless something was said by it.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { verifyHome } from '../../collector/verify/index.ts'
import { homePaths } from '../../conventions/home.ts'
import { freshFolder, removeFolders, sampleLog } from './support.ts'

afterAll(removeFolders)

async function broken(damage: (list: string) => void): Promise<string[]> {
  const root = sampleLog().write(freshFolder())
  damage(homePaths(root).checkpoints)
  return (await verifyHome({ root })).findings.filter(({ severity }) => severity === 'broken').map(({ code }) => code)
}

it.each(['"spanse', '"spanse\n', '"sp\0\0\0\n', '\0\0\0\0', '\0\0\0\0\n'])(
  'left behind the newest is nothing: %j',
  async (rest) => {
    expect(await broken((list) => appendFileSync(list, rest))).toEqual([])
  },
)

const lines = (list: string) => readFileSync(list, 'utf8').trimEnd().split('\n')

it('in the middle of the list is broken', async () => {
  const codes = await broken((list) => {
    const [first, ...more] = lines(list)
    writeFileSync(list, `${[first, '"sp\0\0', ...more].join('\n')}\n`)
  })
  expect(codes).toEqual(['checkpoint.signature'])
})

it('is broken where the newest checkpoint is the one it should hold', async () => {
  const codes = await broken((list) => writeFileSync(list, `${[...lines(list).slice(0, -1), '"sp\0\0'].join('\n')}\n`))
  expect(codes).toEqual(['checkpoint.signature'])
})
