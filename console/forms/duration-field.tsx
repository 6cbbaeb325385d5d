/** A field of a config that is a length of time. */
import type { FieldProps } from '@rjsf/utils'
import { DurationInput } from '../parts/duration-input.tsx'

export function DurationField({ schema, formData, onChange, fieldPathId, rawErrors, required }: FieldProps) {
  return (
    <DurationInput
      id={fieldPathId.$id}
      label={schema.title ?? 'Duration'}
      description={schema.description}
      value={typeof formData === 'string' ? formData : ''}
      onChange={(text) => onChange(text === '' ? undefined : text, fieldPathId.path)}
      fault={rawErrors?.[0]}
      optional={!required}
      required={required ?? false}
      w="100%"
    />
  )
}
