/** Labels and fields that recent events of sources have, to pick from while typing. */
import { useQueries } from '@tanstack/react-query'
import { useContext } from 'react'
import { api, keys } from '../client.ts'
import { PlannedSources } from './planned-sources.ts'

export interface KnownFields {
  labels: string[]
  /** What filters may name: labels, what every event has, and payload paths. */
  fields: string[]
}

const OF_EVERY_EVENT = ['event_type', 'source', 'text', 'key_value']

/** @param isNear false: nobody is about to type, and nothing is asked */
export function useKnownFields(sources: readonly string[], isNear = true): KnownFields {
  const planned = useContext(PlannedSources).filter(({ name }) => sources.includes(name))
  const stored = sources.filter((source) => !planned.some(({ name }) => name === source))
  const found = useQueries({
    queries: stored.map((source) => ({
      queryKey: keys.sourceFields(source),
      queryFn: () => api.sourceFields(source),
      staleTime: 60_000,
      enabled: isNear,
    })),
  })
  const labels = unique([
    ...found.flatMap(({ data }) => data?.labels.map((label) => label.name) ?? []),
    ...planned.flatMap((source) => source.labels),
  ])
  const payload = unique([
    ...found.flatMap(({ data }) => data?.fields.map((field) => `payload.${field.name}`) ?? []),
    ...planned.flatMap((source) => source.fields.map((field) => `payload.${field}`)),
  ])
  return { labels, fields: unique([...labels, ...OF_EVERY_EVENT, ...payload]) }
}

const unique = (names: readonly string[]): string[] => [...new Set(names)]
