/** A filter by one of several words; none chosen: all. */
import { Select } from '@mantine/core'

interface Props {
  label: string
  /** What to say while none is chosen. */
  all: string
  data: readonly (string | { value: string; label: string })[]
  value: string | undefined
  onChange: (value: string | null) => void
  width?: number
}

export function WordSelect({ label, all, data, value, onChange, width = 170 }: Props) {
  const known = data.map((one) => (typeof one === 'string' ? { value: one, label: one } : one))
  // An address may name what is not there any more.
  const isGone = value !== undefined && !known.some((one) => one.value === value)
  return (
    <Select
      size="xs"
      label={label}
      placeholder={all}
      data={isGone ? [{ value, label: value }, ...known] : known}
      value={value ?? null}
      onChange={onChange}
      searchable={known.length > 6}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      w={width}
    />
  )
}
