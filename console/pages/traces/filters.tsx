/** Filters that the tabs of telemetry share. */
import { Select, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { TRACE_WINDOWS, type TraceQuery } from '../../lib/traces.ts'

interface WrittenProps {
  label: string
  placeholder: string
  name: keyof TraceQuery
  query: TraceQuery
  onChange: (name: string, value: string | null) => void
  width?: number
}

/** A filter that is typed: applied by Enter, or when the field is left. */
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

/** @param value none: an address that has a window which is not offered */
export function WindowSelect({
  value,
  onChange,
}: {
  value: string | null
  onChange: (value: string | null) => void
}) {
  return (
    <Select
      size="xs"
      label="Window"
      data={TRACE_WINDOWS}
      value={value}
      onChange={onChange}
      allowDeselect={false}
      w={90}
    />
  )
}
