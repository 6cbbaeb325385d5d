/** Fields of a part as its JSON Schema describes them, and what every form of a part is given. */
import { useEffect, useState } from 'react'
import { ConfigForm } from '../../../forms/config-form.tsx'
import type { FieldErrors } from '../../../lib/field-errors.ts'
import type { PartKind } from '../../draft/ids.ts'
import type { Fields } from '../../draft/values.ts'
import { SPEC_SCHEMAS } from '../state/specs.ts'

/** A part as its form began and as it stands now: the same fields of both, so that what differs is what was edited. */
export interface Edited {
  before: Fields
  after: Fields
  /** Nothing that is needed is blank. */
  isComplete: boolean
}

export interface FormProps {
  name: string
  /** As the draft leaves it; empty for a new part. */
  spec: Fields
  /** What was typed here before and is in no draft; absent: nothing. */
  typed?: Fields | undefined
  /** It was sent: what is missing is said, though its field was not left yet. */
  isTried?: boolean
  isNew: boolean
  /** Pointers of secrets that are stored. */
  configured: readonly string[]
  errors: FieldErrors
  onEdit: (edited: Edited) => void
}

/** Some fields of a part as its schema describes them. */
export function SchemaForm({
  kind,
  fields,
  spec,
  typed,
  isTried = false,
  configured,
  errors,
  onEdit,
}: FormProps & { kind: PartKind; fields: readonly string[] }) {
  const [before] = useState(() => only(spec, fields))
  const [value, setValue] = useState(() => (typed ? only(typed, fields) : before))
  const missing = (of: Fields) =>
    ((SPEC_SCHEMAS[kind] as { required?: string[] }).required ?? []).filter(
      (field) => fields.includes(field) && !isGiven(of[field]),
    )
  const tell = (after: Fields) => onEdit({ before, after, isComplete: missing(after).length === 0 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed before is told once.
  useEffect(() => {
    if (typed) tell(value)
  }, [])
  return (
    <ConfigForm
      schema={schemaOfFields(kind, fields, configured)}
      value={value}
      errors={
        isTried
          ? { ...Object.fromEntries(missing(value).map((field) => [field, NEEDED])), ...errors }
          : errors
      }
      idPrefix={kind}
      onChange={(after) => {
        setValue(after)
        tell(after)
      }}
    />
  )
}

/** Said at a field that must be filled in and is not. */
const NEEDED = 'Fill this in'

const isGiven = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== undefined

export const only = (spec: Fields, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.filter((field) => isGiven(spec[field])).map((field) => [field, spec[field]]))

/** The schema of some fields; a stored secret says so. */
function schemaOfFields(kind: PartKind, fields: readonly string[], configured: readonly string[]) {
  // Of several schemas, whose types have no field in common.
  const { properties, required = [] } = SPEC_SCHEMAS[kind] as unknown as {
    properties: Record<string, { description?: string }>
    required?: string[]
  }
  const shown = fields.map((field): [string, object] => {
    const property = properties[field]!
    const note = configured.includes(`/${field}`) ? ' Stored. Leave empty to keep.' : ''
    return [
      field,
      { title: titleOf(field), ...property, description: `${property.description ?? ''}${note}` },
    ]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(shown),
    required: required.filter((field) => fields.includes(field)),
  }
}

const titleOf = (field: string): string => {
  const words = field.replaceAll('_', ' ').replace(/\burl\b/, 'address')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
