// Every generated file of the project: path from its root, and text. A test fails when one is stale.
import { generatedFiles as contractFiles } from '../conventions/generate.ts'
import { dashboardFiles } from '../dashboards/build.ts'
import { codingPack } from './gate/packs/generate.ts'
import { reportSchema } from './verify/report-schema.ts'

export function generatedFiles(): Map<string, string> {
  return new Map([
    ...contractFiles(),
    ['collector/gate/packs/coding.json', codingPack()],
    ['docs/schema/report.schema.json', reportSchema()],
    ...dashboardFiles(),
  ])
}
