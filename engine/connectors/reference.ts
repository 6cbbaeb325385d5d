/**
 * Reference documents: declarative, the config is the data; re-materialised on edit and always
 * surfaced whatever the window of a read (SPEC.md, Sources and labels 1).
 */
import type { ReferenceConfig } from '../../schemas/types.ts'
import { compileLabels } from '../ingest/label.ts'
import { oneLine } from '../ingest/template.ts'
import type { ReferenceConnector } from './connector.ts'

const EXCERPT = 280

export const reference: ReferenceConnector = {
  kind: 'reference',
  label: 'Reference documents',
  mode: 'reference',
  description: 'Runbooks, ownership, limits: documents a read surfaces for an entity, whatever its window.',
  sourceType: 'reference',
  configSchema: 'connector-reference.json',
  provides: [
    { name: 'name', help: 'Document name.' },
    { name: 'format', help: 'json, csv, md or txt.' },
  ],
  validate: (config) => {
    const seen = new Set<string>()
    return (config as unknown as ReferenceConfig).attachments.flatMap(({ name }, i) => {
      const repeats = seen.has(name)
      seen.add(name)
      return repeats ? [`attachments[${i}].name repeats ${name}`] : []
    })
  },
  documents: (config) => {
    const { attachments, labels } = config as unknown as ReferenceConfig
    const declared = compileLabels(labels ?? [])
    return attachments.map(({ name, format = 'txt', content, labels: own = {} }) => {
      const { strings, numbers } = declared({ name, format, ...own })
      return {
        text: `${oneLine(name, 200)} (${format}) ${oneLine(content, EXCERPT)}`,
        raw: Buffer.from(JSON.stringify({ name, format, content, labels: own })),
        labels: { ...own, ...Object.fromEntries(strings), ...numbers },
      }
    })
  },
}
