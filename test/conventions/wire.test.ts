// The answer a hook gets: a cut, foreign or doubled reply is never an answer.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAnswer, encodeAnswer, type HookAnswer } from '../../conventions/wire.ts'

const words = fc
  .string({ minLength: 1, maxLength: 40 })
  .map((text) => text.trim())
  .filter((text) => text !== '')
const answers: fc.Arbitrary<HookAnswer> = fc.oneof(
  fc.constant({ kind: 'pass' as const }),
  fc.record({ kind: fc.constant('block' as const), text: words }),
  fc.record({ kind: fc.constant('fail' as const), text: words }),
  fc.record({ kind: fc.constant('hold' as const), approval: fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/), text: words }),
)

describe('an answer', () => {
  it('comes back', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer)
      }),
    )
  })

  it('is none when its end is cut', () => {
    fc.assert(
      fc.property(answers, fc.nat(), (answer, cut) => {
        const body = encodeAnswer(answer)
        const part = body.slice(0, cut % body.length)
        // Text may itself hold line feeds: a part can only be read as the same kind of answer, never as another.
        const read = decodeAnswer(part)
        if (read !== null) expect(read.kind).toBe(answer.kind)
        if (!('text' in answer) || !answer.text.includes('\n')) expect(read).toBeNull()
      }),
    )
  })

  it('passes only as one exact line', () => {
    expect(decodeAnswer('spanseal/1 pass\n')).toEqual({ kind: 'pass' })
    for (const body of [
      'spanseal/1 pass',
      'spanseal/1 pass\n\n',
      'spanseal/1 pass\nmore\n',
      ' spanseal/1 pass\n',
      'spanseal/2 pass\n',
      'spanseal/1 passed\n',
      'spanseal/1 pass\r\n',
    ]) {
      expect(decodeAnswer(body)).toBeNull()
    }
  })

  it.each([
    '',
    '{}',
    '<html>spanseal/1 pass\n</html>',
    'spanseal/1 block\n',
    'spanseal/1 block\n\n',
    'spanseal/1 hold \ntext\n',
    'spanseal/1 hold a b\ntext\n',
    'spanseal/1 allow\ntext\n',
  ])('is not %j', (body) => expect(decodeAnswer(body)).toBeNull())

  it('has its published text', () => {
    expect(encodeAnswer({ kind: 'block', text: ' no\nway \n' })).toBe('spanseal/1 block\nno\nway\n')
    expect(encodeAnswer({ kind: 'hold', approval: 'a-1', text: 'wait' })).toBe('spanseal/1 hold a-1\nwait\n')
    expect(encodeAnswer({ kind: 'fail', text: 'disk full' })).toBe('spanseal/1 fail\ndisk full\n')
  })
})
