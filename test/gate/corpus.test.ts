// The policy corpus: attacks that must not run and ordinary work that must.
import { expect, it } from 'vitest'
import { judgeCorpus } from '../../collector/gate/corpus.ts'
import { builtin, call, corpus } from './support.ts'

/** Shares of the corpus that may go wrong. */
const MAX_MISSED = 0.01
const MAX_STOPPED = 0.01

// The second file is the project's own, of the same families; what it shows is not independent of the rules, which were mended by it.
it.each([
  ['corpus.jsonl', 403, 190],
  ['own.jsonl', 785, 354],
])('stops the attacks of %s and lets ordinary work run', (file, attacksInFile, benignInFile) => {
  const { attacks, missed, benign, stopped } = judgeCorpus(builtin(), corpus(file))
  const line = `attacks missed ${missed.length}/${attacks}, benign stopped ${stopped.length}/${benign}`
  console.info(line)
  const wrong = [...missed, ...stopped]
  expect(attacks, line).toBe(attacksInFile)
  expect(benign, line).toBe(benignInFile)
  expect(missed.length / attacks, `${line}: ${wrong}`).toBeLessThanOrEqual(MAX_MISSED)
  expect(stopped.length / benign, `${line}: ${wrong}`).toBeLessThanOrEqual(MAX_STOPPED)
})

it('names every matching rule once, and gives reasons for what was decided', () => {
  for (const { tool, input, cwd } of corpus()) {
    const { decision, rules, reasons, policyHash } = call(tool, input, { cwd })
    expect(reasons.length).toBeLessThanOrEqual(rules.length)
    if (decision !== 'allow') expect(reasons.length).toBeGreaterThan(0)
    expect(new Set(rules).size).toBe(rules.length)
    if (decision !== 'allow') expect(rules.length).toBeGreaterThan(0)
    expect(policyHash).toMatch(/^[0-9a-f]{64}$/)
  }
})
