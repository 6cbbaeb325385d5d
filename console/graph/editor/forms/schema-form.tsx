/** Fields of a part as its JSON Schema describes them, and what every form of a part is given. */
import { useEffect, useState } from 'react'
import { ConfigForm } from '../../../forms/config-form.tsx'
import { blankFaults, type FieldErrors, isGiven } from '../../../lib/field-errors.ts'
import type { PartKind } from '../../draft/ids.ts'
import type { Fields } from '../../draft/values.ts'
import { SPEC_SCHEMAS } from '../state/specs.ts'

/** A part as its form began and as it stands now: the same fields of both, so that what differs is what was edited. */
export interface Edited {
  before: Fields
  after: Fields
  /** What is blank and needed, or cannot be so, by field; nothing: it can go into the draft. */
  missing: FieldErrors
  /** The form filled it in itself, such as defaults of its connector: nobody typed anything yet. */
  isOwn?: boolean
  /** A name for a new part, made from what it does; absent: none can be made. @param taken names there are */
  propose?: (taken: readonly string[]) => string
}

export interface FormProps {
  name: string
  /** As the draft leaves it; empty for a new part. */
  spec: Fields
  /** What was typed here before and is in no draft; absent: nothing. */
  typed?: Fields | undefined
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
  isNew,
  configured,
  errors,
  onEdit,
}: FormProps & { kind: PartKind; fields: readonly string[] }) {
  const [before] = useState(() => only(spec, fields))
  const [value, setValue] = useState(() => (typed ? only(typed, fields) : before))
  const { required = [] } = SPEC_SCHEMAS[kind] as { required?: string[] }
  // What is stored and not shown is there.
  const needed = required.filter((field) => fields.includes(field) && !configured.includes(`/${field}`))
  const told = (after: Fields) => onEdit({ before, after, missing: blankFaults(after, needed) })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed before, or what a new part lacks, is told once.
  useEffect(() => {
    if (typed || isNew) told(value)
  }, [])
  return (
    <ConfigForm
      schema={schemaOfFields(kind, fields, configured)}
      value={value}
      errors={errors}
      idPrefix={kind}
      onChange={(after) => {
        setValue(after)
        told(after)
      }}
    />
  )
}

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
