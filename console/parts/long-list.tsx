/**
 * Lists that have no end: some rows at first and more when asked for, as hundreds take seconds to draw, again with each
 * answer; and a field that narrows them, which the address holds, once they are more than one sees at a glance.
 */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Plus, Search } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { count } from '../lib/time.ts'
import { useFilters } from '../lib/use-filters.ts'
import { useStillHere } from '../lib/use-still-here.ts'
import { Acts } from './may.tsx'

/** Rows at first, and each time more are asked for. */
const ROWS = 50
/** So many are seen at a glance. */
const FEW = 10
const PAUSE_MS = 300

/** @param first how many at first. @returns the first rows; and below them how many there are, with what shows more; null: these are all */
export function useFirstRows<T>(
  rows: readonly T[],
  many: string,
  first = ROWS,
): { shown: readonly T[]; more: ReactNode } {
  const [most, setMost] = useState(first)
  const rest = rows.length - most
  if (rest <= 0) return { shown: rows, more: null }
  return {
    shown: rows.slice(0, most),
    more: (
      <Group gap="sm">
        <Button variant="default" size="xs" onClick={() => setMost(most + ROWS)}>
          Show {count(Math.min(rest, ROWS))} more {many}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {count(most)} of {count(rows.length)} are shown
        </Text>
      </Group>
    ),
  }
}

/**
 * @param words what a row is found by; all that is typed must be among it
 * @param by what a person may type, as in "name or connector"
 */
export function useNarrowed<T>(
  rows: readonly T[],
  many: string,
  by: string,
  words: (row: T) => string,
): { rows: readonly T[]; field: ReactNode } {
  const [address, setFilter] = useFilters()
  const held = address.get('q') ?? ''
  const [text, setText] = useState(held)
  const isHere = useStillHere()
  const hold = useDebouncedCallback((now: string) => {
    if (isHere()) setFilter('q', now)
  }, PAUSE_MS)
  useEffect(() => {
    setText(held)
    // As after a click on a link to the page: what was typed just before gives way to it.
    if (!held) hold.cancel()
  }, [held, hold])
  if (rows.length <= FEW && !text) return { rows, field: null }
  const wanted = text.toLowerCase().split(/\s+/)
  return {
    rows: text ? rows.filter((row) => includesAll(words(row).toLowerCase(), wanted)) : rows,
    field: (
      <TextInput
        aria-label={`Filter ${many}`}
        placeholder={`Filter by ${by}`}
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          hold(currentTarget.value)
        }}
        maw={340}
      />
    ),
  }
}

const includesAll = (text: string, wanted: readonly string[]): boolean =>
  wanted.every((word) => text.includes(word))

interface Props<T> {
  /** One at least. */
  all: readonly T[]
  /** What they are called, such as "sources". */
  many: string
  by: string
  words: (row: T) => string
  /** Draws some of them. */
  children: (shown: readonly T[]) => ReactNode
}

/** A list with both: its first rows, and the field that narrows it (`by` and `words` as of `useNarrowed`). */
export function LongList<T>({ all, many, by, words, children }: Props<T>) {
  const { rows, field } = useNarrowed(all, many, by, words)
  const { shown, more } = useFirstRows(rows, many)
  return (
    <Stack gap="sm">
      {field}
      {rows.length > 0 ? children(shown) : <NoneMatch of={all.length} many={many} />}
      {more}
    </Stack>
  )
}

export function NoneMatch({ of, many }: { of: number; many: string }) {
  return (
    <Text c="dimmed" size="sm" role="status">
      None of the {count(of)} {many} match.
    </Text>
  )
}

/** The way to the form that adds one to a list, for those who may. */
export function AddLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Acts>
      <Button component={Link} to={to} leftSection={<Plus size={16} aria-hidden />}>
        {children}
      </Button>
    </Acts>
  )
}
