/** Words of a filter that are read: asked when somebody comes near the filter. */
import type { QueryKey } from '@tanstack/react-query'
import { declared, dkeys } from '../declared-client.ts'

export type Words = readonly (string | { value: string; label: string })[]

export interface ReadWords {
  /** What they are, such as "triggers". */
  what: string
  queryKey: QueryKey
  queryFn: () => Promise<unknown>
  wordsOf: (data: unknown) => Words
}

export const isRead = (data: Words | ReadWords): data is ReadWords => 'wordsOf' in data

/** @param wordsOf of what is read */
export const readWords = <T>(
  what: string,
  query: { queryKey: QueryKey; queryFn: () => Promise<T> },
  wordsOf: (data: T) => Words,
): ReadWords => ({ what, ...query, wordsOf: (data) => wordsOf(data as T) })

const namesOf = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name)

export const TRIGGERS = readWords(
  'triggers',
  { queryKey: dkeys.triggers, queryFn: declared.triggers },
  namesOf,
)

export const AGENTS = readWords(
  'agents',
  { queryKey: dkeys.agents, queryFn: () => declared.agents() },
  ({ agents }) => namesOf(agents),
)

export const PROJECTS = readWords(
  'projects',
  { queryKey: dkeys.projects, queryFn: declared.projects },
  (projects) => projects.map(({ id, name }) => ({ value: id, label: name })),
)
