// Constraints that can't be read again out of the vault are not forgotten: every change of a file waits from then on.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Run } from '../../collector/record/state.ts'
import { addConstraints } from '../../collector/record/state.ts'
import { readConstraints } from '../../conventions/constraint.ts'
import { TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
let run: Run
beforeEach(async () => {
  t = await new TestPipeline().start()
  await t.claim({ event: 'prompt', prompt: "Don't touch a.ts." })
  run = [...t.log.state.runs.values()][0] as Run
})
afterEach(() => t.close())

const said = { kinds: ['no-push' as const], in_force: 2, refused: 0, lifts: 0 }

it('are remembered', () => {
  addConstraints(run, said, readConstraints('[{"kind":"no-push","target":null}]'))
  expect(run.constraints.map(({ kind }) => kind)).toEqual(['no-modify', 'no-push'])
  expect(run.constraintsLost).toBe(false)
})

it.each(['', '[]', '{}', '[{"kind":"no-push"}]', '[{"kind":"nothing","target":null}]'])(
  'are lost where the vault says %j',
  (text) => {
    addConstraints(run, said, readConstraints(text))
    expect(run.constraints.map(({ kind }) => kind)).toEqual(['no-modify'])
    expect(run.constraintsLost).toBe(true)
  },
)
