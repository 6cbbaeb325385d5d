/**
 * A field for a number. The component kit's own formats while one types, which takes a tenth of what a page of forms may
 * load, and asks for nothing that svc's forms do not say at the field.
 */
import { TextInput, type TextInputProps } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { clamped, numberIn } from '../lib/numbers.ts'

interface Props extends Omit<TextInputProps, 'value' | 'onChange' | 'type' | 'prefix'> {
  /** '': none. */
  value?: number | string
  /** Called with each number that is typed, and with '' when the field is emptied. */
  onChange?: (value: number | '') => void
  min?: number
  max?: number
  step?: number
  /** Whether 0.5 is one. */
  allowDecimal?: boolean
  /** Shown before it, such as $. */
  prefix?: string
  /** Given by the form kit: it is a text for the browser in any case. */
  type?: string
}

export function NumberInput({
  value = '',
  onChange,
  min,
  max,
  step = 1,
  allowDecimal = true,
  prefix,
  type,
  onBlur,
  ...rest
}: Props) {
  // What is typed and is no number yet, such as a sign alone; and 1.0, which would be shown as 1.
  const [typed, setTyped] = useState<string | null>(null)
  const shown =
    typed !== null && numberIn(typed, allowDecimal) === numberIn(String(value), true) ? typed : String(value)
  const change = (text: string): void => {
    const number = numberIn(text, allowDecimal)
    if (number === null) return
    setTyped(text)
    onChange?.(number)
  }
  const turn = (event: KeyboardEvent, by: number): void => {
    event.preventDefault()
    setTyped(null)
    onChange?.(clamped((Number(value) || 0) + by, min, max))
  }
  return (
    <TextInput
      {...rest}
      inputMode={allowDecimal ? 'decimal' : 'numeric'}
      autoComplete="off"
      leftSection={prefix}
      value={shown}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowUp') turn(event, step)
        if (event.key === 'ArrowDown') turn(event, -step)
      }}
      onBlur={(event) => {
        setTyped(null)
        if (value !== '') {
          const within = clamped(Number(value), min, max)
          if (within !== Number(value)) onChange?.(within)
        }
        onBlur?.(event)
      }}
    />
  )
}
