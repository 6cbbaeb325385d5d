/** A filter by one of several words; none chosen: all. */
import { Select } from '@mantine/core'
import { useChoices } from './choices.tsx'
import { isRead, type ReadWords, type Words } from './words-read.ts'

interface Props {
  label: string
  /** What to say while none is chosen. */
  all: string
  data: Words | ReadWords
  value: string | undefined
  onChange: (value: string | null) => void
  width?: number
}

export function WordSelect({ data, ...props }: Props) {
  return isRead(data) ? <ReadSelect {...props} read={data} /> : <Among {...props} data={data} />
}

/** What is chosen is shown by its name, which an address does not have. */
function ReadSelect({ read, ...props }: Omit<Props, 'data'> & { read: ReadWords }) {
  const { data, field } = useChoices(read.what, read, props.value !== undefined)
  return <Among {...props} data={data === undefined ? [] : read.wordsOf(data)} field={field} />
}

function Among({
  label,
  all,
  data,
  value,
  onChange,
  width = 170,
  field = {},
}: Omit<Props, 'data'> & { data: Words; field?: object }) {
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
      {...field}
    />
  )
}
