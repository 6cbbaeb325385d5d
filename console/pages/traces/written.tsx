/** A filter that is written: asked with Enter, or when it is left. */
import { TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import type { TraceQuery } from '../../lib/traces.ts'

interface WrittenProps {
  label: string
  placeholder: string
  name: keyof TraceQuery
  query: TraceQuery
  onChange: (name: string, value: string | null) => void
  width?: number
}

export function Written({ label, placeholder, name, query, onChange, width = 160 }: WrittenProps) {
  const asked = query[name] ?? ''
  const [text, setText] = useState(asked)
  useEffect(() => setText(asked), [asked])
  const settle = (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() !== asked) onChange(name, text.trim() || null)
  }
  return (
    <form onSubmit={settle}>
      <TextInput
        size="xs"
        w={width}
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => settle()}
      />
    </form>
  )
}
