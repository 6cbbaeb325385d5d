/** Observations that agents and people record with POST /remember (SPEC.md, Ingest and reads). */
import { isLabelName } from '../ingest/label.ts'
import { oneLine, TEXT_MAX } from '../ingest/template.ts'
import type { MappedEvent, PushConnector } from './connector.ts'

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
