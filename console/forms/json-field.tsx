/** A field of a config that is JSON of any shape, as text. */
import { Textarea } from '@mantine/core'
import type { FieldProps } from '@rjsf/utils'
import { useState } from 'react'

export function JsonField({ schema, formData, onChange, fieldPathId, rawErrors }: FieldProps) {
  const [text, setText] = useState(() => (formData === undefined ? '' : JSON.stringify(formData, null, 2)))
  const [fault, setFault] = useState(false)
  return (
    <Textarea
      id={fieldPathId.$id}
      label={schema.title}
      description={schema.description}
      value={text}
      onChange={(event) => {
        const next = event.currentTarget.value
        setText(next)
        const value = parsed(next)
        setFault(value === null)
        if (value !== null) onChange(value.json, fieldPathId.path)
      }}
      error={fault ? 'This is not a JSON object yet' : rawErrors?.[0]}
      autosize
      minRows={2}
      maxRows={14}
      classNames={{ input: 'mono' }}
    />
  )
}

/** @returns null for what is no JSON object; nothing for empty text */
function parsed(text: string): { json: Record<string, unknown> | undefined } | null {
  if (text.trim() === '') return { json: undefined }
  try {
    const json: unknown = JSON.parse(text)
    const isObject = json !== null && typeof json === 'object' && !Array.isArray(json)
    return isObject ? { json: json as Record<string, unknown> } : null
  } catch {
    return null
  }
}
