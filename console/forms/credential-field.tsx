/** A field of a config that names a stored credential. */
import type { FieldProps } from '@rjsf/utils'
import { CredentialSelect } from '../parts/credential-select.tsx'

export function CredentialField({
  schema,
  formData,
  onChange,
  fieldPathId,
  rawErrors,
  required,
}: FieldProps) {
  return (
    <CredentialSelect
      id={fieldPathId.$id}
      label={schema.title ?? 'Credential'}
      {...(schema.description ? { description: schema.description } : {})}
      value={typeof formData === 'string' ? formData : ''}
      onChange={(name) => onChange(name === '' ? undefined : name, fieldPathId.path)}
      {...(rawErrors?.[0] ? { error: rawErrors[0] } : {})}
      required={required ?? false}
    />
  )
}
