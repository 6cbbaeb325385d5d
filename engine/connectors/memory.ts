/** Observations that agents and people record with POST /remember. */
import { oneLine } from '../ingest/template.ts'
import type { PushConnector } from './connector.ts'

const TYPES = new Set(['observation', 'aggregation', 'decision'])
const TEXT_MAX = 4_096

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
  compile:
    () =>
    ({ value }) => {
      const payload = (value !== null && typeof value === 'object' ? value : {}) as Record<string, unknown>
      const fields = (
        payload.fields !== null && typeof payload.fields === 'object' ? payload.fields : {}
      ) as Record<string, unknown>
      const label =
        typeof payload.label === 'string' && /^[A-Za-z0-9_]{1,64}$/.test(payload.label)
          ? payload.label
          : 'key'
      const key = typeof payload.key === 'string' ? payload.key : ''
      const type =
        typeof payload.memory_type === 'string' && payload.memory_type !== ''
          ? payload.memory_type
          : 'observation'
      return [
        {
          eventType: TYPES.has(type) ? type : oneLine(`custom:${type}`, 200),
          text: oneLine(typeof payload.content === 'string' ? payload.content : '', TEXT_MAX),
          context: { ...fields, ...payload },
          stamped: key === '' ? {} : { [label]: key },
          entityLabel: label,
        },
      ]
    },
  note: () => 'Record with POST /remember.',
}
