/** What narrows a list, above it: words to choose, texts to type, and one button that takes all away. The address holds them. */
import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { withFilter } from '../lib/run-filters.ts'
import { useStillHere } from '../lib/use-still-here.ts'
import { WordSelect } from './word-select.tsx'
import { isRead, type ReadWords, type Words } from './words-read.ts'

export interface Filter {
  /** In the address. */
  name: string
  label: string
  width?: number
  /** Of what is typed. */
  placeholder?: string
  /** Typed, and of no use until it is whole: applied by Enter, or when the field is left; else when the typing pauses. */
  isWhole?: boolean
  /** Of what is chosen: the words, and what to say while none is. */
  data?: Words | ReadWords
  all?: string
  /** One is chosen always: what the address does not name. */
  always?: string
}

interface Props {
  filters: readonly Filter[]
  /** What the list is asked for; a text that is typed is as the address has it. */
  values: object
  isNarrowed: boolean
  /** Words of the address that clearing leaves. */
  keeps?: readonly string[]
  /** Before and after the filters, which set the address by themselves. */
  before?: ReactNode
  after?: ReactNode
}

export function FilterBar({ filters, values, isNarrowed, keeps = [], before, after }: Props) {
  const [address, setAddress] = useSearchParams()
  const set = (name: string, value: string | null) =>
    setAddress((now) => withFilter(now, name, value), { replace: true })
  const clear = () =>
    setAddress((now) => [...now].filter(([name]) => keeps.includes(name)), { replace: true })
  return (
    <Group gap="sm" align="flex-end" className="filter-bar">
      {before}
      {filters.map((filter) => {
        const value = (values as Partial<Record<string, string>>)[filter.name]
        const change = (to: string | null) => set(filter.name, to)
        if (!filter.data)
          return (
            <Typed
              key={filter.name}
              filter={filter}
              value={address.get(filter.name) ?? ''}
              onChange={change}
            />
          )
        return filter.always === undefined || isRead(filter.data) ? (
          <WordSelect
            key={filter.name}
            label={filter.label}
            all={filter.all ?? 'Any'}
            data={filter.data}
            value={value}
            onChange={change}
            {...(filter.width ? { width: filter.width } : {})}
          />
        ) : (
          <Select
            key={filter.name}
            size="xs"
            label={filter.label}
            data={filter.data}
            // An address may have a window that is not offered.
            value={value ?? filter.always}
            onChange={change}
            allowDeselect={false}
            w={filter.width ?? 150}
          />
        )
      })}
      {after}
      {isNarrowed && (
        <Button size="xs" variant="default" onClick={clear}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

const PAUSE_MS = 300

function Typed({
  filter: { label, placeholder, width = 160, isWhole = false },
  value,
  onChange,
}: {
  filter: Filter
  value: string
  onChange: (value: string | null) => void
}) {
  const [text, setText] = useState(value)
  const isHere = useStillHere()
  const settle = (now: string) => {
    if (isHere() && now.trim() !== value) onChange(now.trim() || null)
  }
  const pause = useDebouncedCallback(settle, PAUSE_MS)
  useEffect(() => {
    setText(value)
    if (!value) pause.cancel()
  }, [value, pause])
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        settle(text)
      }}
    >
      <TextInput
        size="xs"
        w={width}
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          if (!isWhole) pause(currentTarget.value)
        }}
        onBlur={() => settle(text)}
      />
    </form>
  )
}
