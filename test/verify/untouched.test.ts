// What nobody touched verifies, and the report says how much that means.
import { afterAll, describe, expect, it } from 'vitest'
import { renderReport, verifyHome } from '../../collector/verify/index.ts'
import { freshFolder, removeFolders, sampleLog } from './support.ts'

afterAll(removeFolders)

describe('an untouched home', () => {
  it('is intact with both pins', async () => {
    const log = sampleLog()
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    console.log(renderReport(report))
    expect(report.findings.map(({ code }) => code)).toEqual(['approval.unauthenticated'])
    expect(report).toMatchObject({ status: 'intact', exit: 0 })
  })
})
