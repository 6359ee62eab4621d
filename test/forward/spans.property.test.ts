// What holds for every lawful log, wherever sending was interrupted.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SpanFold } from '../../collector/forward/spans.ts'
import type { LogEntry } from '../../conventions/log.ts'
import { play, scripts } from './scripts.ts'
import { expectWholeTraces } from './support.ts'

/** The checkpoint that was used for an entry the first time, which is the one it must be given again. */
const checkpointOf = (entry: LogEntry) => `checkpoint ${entry.record.log.seq}`

test('every trace of a finished log has one root, every parent is there, no span id comes twice', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const fold = new SpanFold()
      expectWholeTraces(play(script).entries.flatMap((entry) => fold.apply(entry, checkpointOf(entry))))
    }),
    { numRuns: 100 },
  )
})

test('every decided call has its execute_tool span exactly once per trace', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const { entries } = play(script)
      const fold = new SpanFold()
      const sent = entries.flatMap((entry) => fold.apply(entry)).map(({ spanId }) => spanId)
      for (const { record } of entries) {
        if (record.type !== 'tool.decided' || record.trace?.parent === undefined) continue
        expect(sent.filter((spanId) => spanId === record.trace?.parent)).toHaveLength(1)
      }
    }),
    { numRuns: 100 },
  )
})

test('a new fold that starts over anywhere gives the same spans with the same bodies', () => {
  fc.assert(
    fc.property(scripts, fc.nat(), (script, at) => {
      const { entries } = play(script)
      const cut = at % entries.length
      const first = new SpanFold()
      const whole = entries.map((entry) => first.apply(entry, checkpointOf(entry)))
      const second = new SpanFold()
      for (const entry of entries.slice(0, cut)) second.skip(entry)
      const rest = entries.slice(cut).map((entry) => second.apply(entry, checkpointOf(entry)))
      expect(JSON.stringify(rest)).toBe(JSON.stringify(whole.slice(cut)))
    }),
    { numRuns: 100 },
  )
})
