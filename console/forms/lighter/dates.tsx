/** In place of calendars in the form kit: the browser's own inputs of dates and times. No schema of svc asks for them today. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { dateInput, dateOf } from './day-text.ts'

interface DateProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: Date | null
  onChange: (value: Date | null) => void
  valueFormat?: string
  /** Of calendars alone. */
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
  return (
    <TextInput
      {...rest}
      {...dateInput(value, valueFormat)}
      onChange={(event) => onChange(dateOf(event.currentTarget.value))}
    />
  )
}

export const TimeInput = (props: TextInputProps) => <TextInput {...props} type="time" />
