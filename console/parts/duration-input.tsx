/** A length of time such as 5m, also as people write it ("5 min"), with its rule said once the field is left. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { durationFault, durationOf, isDuration } from '../lib/trigger-draft.ts'

interface Props extends Omit<TextInputProps, 'onChange' | 'value' | 'error'> {
  value: string
  onChange: (value: string) => void
  /** What the API said of it. */
  fault?: string | undefined
  optional?: boolean
}

export function DurationInput({ value, onChange, fault, optional = false, onBlur, ...rest }: Props) {
  const [isLeft, setLeft] = useState(false)
  /** As it is typed; null: nobody is typing, and it stands as it will be saved. */
  const [typed, setTyped] = useState<string | null>(null)
  const blank = value.trim() === ''
  const broken = blank ? !optional : !isDuration(value)
  return (
    <TextInput
      w={130}
      {...rest}
      value={typed ?? value}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        onChange(durationOf(text) ?? text)
      }}
      onBlur={(event) => {
        setLeft(true)
        setTyped(null)
        onBlur?.(event)
      }}
      error={broken && isLeft ? durationFault(value) : fault}
    />
  )
}
