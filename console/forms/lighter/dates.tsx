/** In place of calendars in the form kit: the browser's own inputs of dates and times. No schema of svc asks for them today. */
import { TextInput, type TextInputProps } from '@mantine/core'

interface DateProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: Date | null
  onChange: (value: Date | null) => void
  /** How the form kit shows it; with hours it is a time, too. */
  valueFormat?: string
  dateParser?: unknown
  popoverProps?: unknown
}

export function DateInput({
  value,
  onChange,
  valueFormat = '',
  dateParser,
  popoverProps,
  ...rest
}: DateProps) {
  const hasTime = valueFormat.includes('H')
  return (
    <TextInput
      {...rest}
      type={hasTime ? 'datetime-local' : 'date'}
      value={value ? localText(value).slice(0, hasTime ? 16 : 10) : ''}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value ? new Date(`${currentTarget.value}${hasTime ? '' : 'T00:00'}`) : null)
      }
    />
  )
}

export const TimeInput = (props: TextInputProps) => <TextInput {...props} type="time" />

/** 2026-11-24T08:05, in the browser's zone. */
const localText = (at: Date): string => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString()
