/** A length of time such as 5m, with its rule said once the field is left. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { isDuration } from '../lib/trigger-draft.ts'

interface Props extends Omit<TextInputProps, 'onChange' | 'value' | 'error'> {
  value: string
  onChange: (value: string) => void
  /** What the API said of it. */
  fault?: string | undefined
  optional?: boolean
}

export function DurationInput({ value, onChange, fault, optional = false, onBlur, ...rest }: Props) {
  const [isLeft, setLeft] = useState(false)
  const blank = value.trim() === ''
  const broken = blank ? !optional : !isDuration(value)
  return (
    <TextInput
      w={130}
      {...rest}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={(event) => {
        setLeft(true)
        onBlur?.(event)
      }}
      error={broken && isLeft ? 'For example 30s, 5m, 1h or 2d' : fault}
    />
  )
}
