/**
 * The fields of a part. Triggers, agents and sources have controls of their own, shared with their
 * pages; every other field is made of the JSON Schema of the part, so that none is left out.
 */
import type { PartKind } from '../../draft/ids.ts'
import { SPEC_SCHEMAS } from '../state/specs.ts'
import { AgentForm } from './agent-form.tsx'
import { type FormProps, SchemaForm } from './schema-form.tsx'
import { SourceFields } from './source-fields.tsx'
import { TriggerForm } from './trigger-form.tsx'

export function PartForm({ kind, ...props }: FormProps & { kind: PartKind }) {
  if (kind === 'trigger') return <TriggerForm {...props} />
  if (kind === 'agent') return <AgentForm {...props} />
  if (kind === 'source') return <SourceFields {...props} />
  return <SchemaForm {...props} kind={kind} fields={Object.keys(SPEC_SCHEMAS[kind].properties)} />
}
