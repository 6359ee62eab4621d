// Generates what the registry says: `npm run generate`. CI regenerates and fails on a difference.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import { attributesPage, dataLeavingPage, HEAD, recordSchema, requestSchema } from './generate-docs.ts'
import { metricsPage, metricsTable } from './generate-metrics.ts'
import { pricesPage, pricesTable } from './generate-prices.ts'
import { commandsDoc } from './stability.ts'

const CLASSES = ['id', 'enum', 'number', 'person', 'content'] as const
const registrySchema = z.object({
  groups: z.array(
    z.object({
      id: z.string(),
      brief: z.string(),
      attributes: z.array(
        z.object({
          id: z.string(),
          type: z.enum(['string', 'int', 'boolean', 'string[]']),
          brief: z.string(),
          annotations: z.object({ class: z.enum(CLASSES) }),
        }),
      ),
    }),
  ),
})
export type Registry = z.infer<typeof registrySchema>

// Run from the project's root, as npm does.
const path = (name: string) => `conventions/${name}`

/** The registry as written in conventions/registry/attributes.yaml. Throws on a malformed file. */
export function readRegistry(): Registry {
  return registrySchema.parse(parse(readFileSync(path('registry/attributes.yaml'), 'utf8')))
}

/** Text of conventions/attributes.ts: one ATTR_ constant per attribute. */
export function constantsOf(registry: Registry): string {
  const lines = ['// Generated from conventions/registry/attributes.yaml by conventions/generate.ts. Do not edit.', '']
  // Labels of metrics are named in conventions/metrics.ts.
  for (const group of registry.groups.filter(({ id }) => !id.endsWith('.metric'))) {
    for (const { id, brief } of group.attributes) {
      lines.push(`/** ${brief} */`, `export const ATTR_${id.toUpperCase().replaceAll('.', '_')} = '${id}'`)
    }
  }
  return `${lines.join('\n')}\n`
}

/** Every generated file: path from the project's root, and its text. */
export function generatedFiles(): Map<string, string> {
  const registry = readRegistry()
  return new Map([
    ['conventions/attributes.ts', constantsOf(registry)],
    ['conventions/metrics.ts', metricsTable(registry)],
    ['conventions/shipped-prices.ts', pricesTable()],
    ['docs/prices.md', pricesPage(HEAD)],
    ['docs/commands.md', commandsDoc()],
    ['docs/metrics.md', metricsPage(registry, HEAD)],
    ['docs/attributes.md', attributesPage(registry)],
    ['docs/data-leaving.md', dataLeavingPage(registry)],
    ['docs/schema/record.schema.json', recordSchema()],
    ['docs/schema/request.schema.json', requestSchema()],
  ])
}
