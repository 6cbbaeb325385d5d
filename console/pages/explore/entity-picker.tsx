/** Whose timeline: labels that all must hold, picked from what is stored or typed as label=value. */
import { ActionIcon, Combobox, Group, Pill, PillsInput, Text, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { api, keys } from '../../client.ts'
import { parsePair } from '../../lib/explore-state.ts'
import { count } from '../../lib/time.ts'
import { useSaid } from './use-said.ts'

interface Props {
  value: Record<string, string>
  onChange: (selector: Record<string, string>) => void
}

export function EntityPicker({ value, onChange }: Props) {
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const [text, setText] = useState('')
  const options = useOptions(text)
  const said = useSaid(Object.keys(value))
  const add = (pair: [string, string] | null): void => {
    if (!pair) return
    onChange({ ...value, [pair[0]]: pair[1] })
    setText('')
    combobox.closeDropdown()
  }
  const without = (name: string) =>
    onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)))
  return (
    <Combobox store={combobox} onOptionSubmit={(option) => add(parsePair(option))}>
      <Combobox.DropdownTarget>
        <PillsInput
          label="Entity"
          description="Matches all labels, for example service=checkout"
          onClick={() => combobox.openDropdown()}
        >
          <Pill.Group>
            {Object.entries(value).map(([name, v]) => (
              <Pill key={name} size="md">
                <Group gap={4} wrap="nowrap">
                  <span className="ellipsis" title={`${name}=${v}`}>
                    {name}={said(name, v)}
                  </span>
                  <ActionIcon
                    size={16}
                    variant="transparent"
                    color="gray"
                    aria-label={`Remove ${name}=${v}`}
                    onClick={() => without(name)}
                  >
                    <X size={12} aria-hidden />
                  </ActionIcon>
                </Group>
              </Pill>
            ))}
            <Combobox.EventsTarget>
              <PillsInput.Field
                data-entity-search
                aria-label="Entity: type a value or label=value"
                placeholder={Object.keys(value).length ? 'and…' : 'Search a service, an order, a host…'}
                value={text}
                onFocus={() => combobox.openDropdown()}
                onBlur={() => combobox.closeDropdown()}
                onChange={(event) => {
                  setText(event.currentTarget.value)
                  combobox.openDropdown()
                  combobox.updateSelectedOptionIndex()
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Backspace' && text === '') {
                    const last = Object.keys(value).at(-1)
                    if (last) without(last)
                  } else if (
                    event.key === 'Enter' &&
                    parsePair(text) &&
                    combobox.getSelectedOptionIndex() === -1
                  ) {
                    event.preventDefault()
                    add(parsePair(text))
                  }
                }}
              />
            </Combobox.EventsTarget>
          </Pill.Group>
        </PillsInput>
      </Combobox.DropdownTarget>
      <Combobox.Dropdown hidden={options.length === 0}>
        <Combobox.Options mah={320} style={{ overflowY: 'auto' }} aria-label="Entities">
          {options.map((option) => (
            <Combobox.Option key={option.pair} value={option.pair}>
              <Group justify="space-between" wrap="nowrap" gap="md">
                <Text size="sm" className="ellipsis">
                  {option.pair}
                </Text>
                <Text size="xs" c="dimmed">
                  {count(option.events)}
                </Text>
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** Values that fit what is typed: of one label after "label=", of all labels before. */
function useOptions(text: string): { pair: string; events: number }[] {
  const [settled] = useDebouncedValue(text, 150)
  const [label, prefix] = settled.includes('=')
    ? [settled.slice(0, settled.indexOf('=')).trim(), settled.slice(settled.indexOf('=') + 1).trim()]
    : ['', settled.trim()]
  const all = useQuery({ queryKey: keys.entities, queryFn: () => api.entities(12) })
  const ofLabel = useQuery({
    queryKey: keys.entityValues(label, prefix),
    queryFn: () => api.entityValues(label, prefix),
    enabled: label !== '' && (all.data?.labels.some((facet) => facet.label === label) ?? false),
  })
  const primaries = (all.data?.labels ?? []).filter((facet) => facet.primary).map((facet) => facet.label)
  const searched = useQuery({
    queryKey: ['entities', 'search', prefix, primaries],
    enabled: label === '' && prefix.length > 1 && primaries.length > 0,
    queryFn: async () =>
      (await Promise.all(primaries.map((primary) => api.entityValues(primary, prefix, 20)))).flatMap(
        (facet) =>
          facet.values.map((value) => ({ pair: `${facet.label}=${value.value}`, events: value.events })),
      ),
  })
  if (label)
    return (ofLabel.data?.values ?? []).map((value) => ({
      pair: `${label}=${value.value}`,
      events: value.events,
    }))
  const known = (all.data?.labels ?? []).flatMap((facet) =>
    facet.values.map((value) => ({ pair: `${facet.label}=${value.value}`, events: value.events })),
  )
  const fitting = known.filter((option) => option.pair.toLowerCase().includes(prefix.toLowerCase()))
  const seen = new Set(fitting.map((option) => option.pair))
  return [...fitting, ...(searched.data ?? []).filter((option) => !seen.has(option.pair))].slice(0, 60)
}
