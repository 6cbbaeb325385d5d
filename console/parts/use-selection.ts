/** Rows of a list that are selected, by id. */
import { useCallback, useMemo, useState } from 'react'

export interface Selection<T extends { id: string }> {
  /** As they are shown now; those that left the list as they were last seen. */
  selected: readonly T[]
  isOn: (id: string) => boolean
  toggle: (row: T) => void
  /** Selects these beside those that are. */
  add: (rows: readonly T[]) => void
  /** Takes these out, and leaves what was selected meanwhile. */
  remove: (rows: readonly T[]) => void
  clear: () => void
}

/** @param rows what is shown; undefined: it is being read */
export function useSelection<T extends { id: string }>(rows: readonly T[] | undefined): Selection<T> {
  const [seen, setSeen] = useState<ReadonlyMap<string, T>>(() => new Map())
  const selected = useMemo(() => {
    const shown = new Map(rows?.map((row) => [row.id, row]))
    return [...seen.values()].map((row) => shown.get(row.id) ?? row)
  }, [rows, seen])
  const toggle = useCallback(
    (row: T) =>
      setSeen((now) => {
        const next = new Map(now)
        if (!next.delete(row.id)) next.set(row.id, row)
        return next
      }),
    [],
  )
  const add = useCallback(
    (more: readonly T[]) => setSeen((now) => new Map([...now, ...more.map((row) => [row.id, row] as const)])),
    [],
  )
  const remove = useCallback(
    (gone: readonly T[]) =>
      setSeen((now) => {
        const ids = new Set(gone.map(({ id }) => id))
        return new Map([...now].filter(([id]) => !ids.has(id)))
      }),
    [],
  )
  const clear = useCallback(() => setSeen(new Map()), [])
  return { selected, isOn: (id) => seen.has(id), toggle, add, remove, clear }
}
