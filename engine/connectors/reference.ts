/**
 * Reference documents: declarative, the config is the data; re-materialised on edit and always
 * surfaced whatever the window of a read (SPEC.md, Sources and labels 1).
 */
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type { ReferenceConfig } from '../../schemas/types.ts'
import { compileLabels, isLabelName } from '../ingest/label.ts'
import { oneLine } from '../ingest/template.ts'
import type { ReferenceConnector } from './connector.ts'

const NAME_MAX = 200
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
  validate: (config: FieldsOf<ReferenceConfig>) => attachmentFaults(config.attachments),
  documents: (config: FieldsOf<ReferenceConfig>) => {
    const { attachments, labels = [] } = config
    const resolve = compileLabels(labels)
    return attachments.map(({ name, format = 'txt', content, labels: own = {} }) => {
      const { strings, numbers } = resolve({ name, format, ...own }, own)
      return {
        text: `${oneLine(name, NAME_MAX)} (${format}) ${oneLine(content, EXCERPT)}`,
        raw: Buffer.from(JSON.stringify({ name, format, content, labels: own })),
        labels: { ...Object.fromEntries(strings), ...numbers },
      }
    })
  },
}

function attachmentFaults(attachments: ReferenceConfig['attachments']): string[] {
  const seen = new Set<string>()
  return attachments.flatMap(({ name, labels = {} }, i) => {
    const faults = Object.keys(labels)
      .filter((label) => !isLabelName(label))
      .map((label) => `attachments[${i}].labels has a reserved name: ${label}`)
    if (seen.has(name)) faults.push(`attachments[${i}].name repeats ${name}`)
    seen.add(name)
    return faults
  })
}
