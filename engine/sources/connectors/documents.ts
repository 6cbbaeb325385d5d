/**
 * Reference documents: declarative, the config is the data; re-materialised on edit and always
 * surfaced whatever the window of a read (SPEC.md, Sources and labels 1).
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { ReferenceConfig } from '../../../schemas/types.ts'
import { compileLabels, isLabelName, oneLine, TEXT_MAX } from '../../log/ingest/label.ts'
import type { MappedEvent, PushConnector, ReferenceConnector } from './connector.ts'

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

/* Observations that agents and people record with POST /remember (SPEC.md, Ingest and reads). */

const TYPES = new Set(['observation', 'aggregation', 'decision'])
const EVENT_TYPE_MAX = 200

export const memory: PushConnector = {
  kind: 'memory',
  label: 'Memory',
  mode: 'push',
  description: 'Observations that agents and people record about an entity; they stay on its timeline.',
  sourceType: 'agent_memory',
  configSchema: 'connector-memory.json',
  provides: [
    { name: 'key', help: 'Entity value the memory is about.', primary: true },
    { name: 'label', help: 'Label of the entity, key when absent.' },
    { name: 'memory_type', help: 'observation, aggregation, decision, or custom:<other>.' },
    { name: 'content', help: 'What was recorded.' },
  ],
  compile: () => (item) => [remembered(objectOf(item.value))],
  note: () => 'Record with POST /remember.',
}

/** The entity is stamped, because its label differs from memory to memory. */
function remembered(payload: Record<string, unknown>): MappedEvent {
  const label = typeof payload.label === 'string' && isLabelName(payload.label) ? payload.label : 'key'
  const key = typeof payload.key === 'number' ? String(payload.key) : payload.key
  const type = textOf(payload.memory_type) || 'observation'
  return {
    eventType: TYPES.has(type) ? type : oneLine(`custom:${type}`, EVENT_TYPE_MAX),
    text: oneLine(textOf(payload.content), TEXT_MAX),
    context: { ...objectOf(payload.fields), ...payload },
    ...(typeof key === 'string' ? { stamped: { [label]: key }, entityLabel: label } : {}),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function objectOf(value: unknown): Record<string, unknown> {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : {}
}
