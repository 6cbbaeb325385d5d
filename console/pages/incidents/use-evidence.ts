/** What is read of a firing's timeline: each side of the moment, changes before it, what tripped it, and how much came later. */
import { useQueries, useQuery } from '@tanstack/react-query'
import type { FiringDetail, ReadResult } from '../../../schemas/types.ts'
import { type ApiEvent, api } from '../../client.ts'
import { othersOf } from '../../lib/evidence.ts'
import {
  changesRead,
  evidenceReads,
  isChange,
  momentOf,
  reachesBack,
  type Side,
} from '../../lib/incident-evidence.ts'
import { wkeys, work } from '../../trigger-client.ts'

const FOREVER = Number.POSITIVE_INFINITY
const AFTER_FRESH_MS = 15_000

/** Changes of its entity around the moment: those of the half hour before, and what else was read of it. */
export function useChanges(firing: FiringDetail): ApiEvent[] {
  const request = evidenceReads(firing, 'evidence')?.before ?? null
  const before = useQuery({
    queryKey: ['timeline', 'moment', request],
    queryFn: ({ signal }) => api.read(request!, signal),
    enabled: request !== null,
    staleTime: 30_000,
  })
  const changed = useChangesRead(firing, before)
  const changes = [before, changed].flatMap(({ data }) => data?.rows ?? []).filter(isChange)
  return [...new Map(changes.map((event) => [event.id, event])).values()]
}

/** Changes of the half hour before, where what was read of it does not reach so far back. */
function useChangesRead(firing: FiringDetail, before: { data?: ReadResult | undefined; isPending: boolean }) {
  const request = changesRead(firing)
  return useQuery({
    queryKey: ['timeline', 'moment', request],
    queryFn: ({ signal }) => api.read(request!, signal),
    enabled: request !== null && !before.isPending && !reachesBack(before.data, firing),
    placeholderData: (last) => last,
    staleTime: 30_000,
  })
}

/** Events that are asked for their type, where none of those that tripped it was read with its timeline. */
const TYPED = 3

/**
 * Types of the events that tripped it: a filter by type is what most triggers have. What the evidence reads says
 * them; undefined: not known yet.
 */
export function useTypes(firing: FiringDetail, isAsked: boolean): string[] | undefined {
  const { event_ids, dispatch_id } = firing
  const request = evidenceReads(firing, 'evidence')?.before ?? null
  const read = useQuery({
    queryKey: ['timeline', 'moment', request],
    queryFn: ({ signal }) => api.read(request!, signal),
    enabled: isAsked && request !== null,
    staleTime: 30_000,
  })
  const ids = new Set(event_ids)
  const known = read.data && [
    ...new Set(read.data.rows.filter(({ id }) => ids.has(id)).map(({ event_type }) => event_type)),
  ]
  const { data } = useQuery({
    queryKey: ['timeline', 'types', dispatch_id],
    queryFn: async () => {
      const first = await Promise.all(event_ids.slice(0, TYPED).map((id) => work.event(id)))
      return [...new Set(first.map(({ event_type }) => event_type))]
    },
    enabled: isAsked && (read.isError || known?.length === 0),
    staleTime: FOREVER,
  })
  return known?.length ? known.toSorted() : data
}

export function useEvidence(firing: FiringDetail, side: Side) {
  const { dispatch_id, event_ids, events, entity } = firing
  const reads = evidenceReads(firing, side)
  const isOfEntity = reads !== null
  const more = useQuery({
    queryKey: wkeys.firingEvents(dispatch_id),
    queryFn: () => work.firingEvents(dispatch_id),
    enabled: events > event_ids.length,
  })
  const tripped = more.data ?? event_ids
  const [before, after] = useQueries({
    queries: ([reads?.before, reads?.after] as const).map((request, i) => ({
      queryKey: ['timeline', 'moment', request],
      queryFn: ({ signal }: { signal: AbortSignal }) => api.read(request!, signal),
      enabled: isOfEntity,
      placeholderData: <T>(last: T) => last,
      // What came before is there; what comes after is read again while there is little of it.
      staleTime: i === 0 ? 30_000 : AFTER_FRESH_MS,
      refetchInterval: ({ state }: { state: { data?: ReadResult | undefined } }) =>
        i === 1 && state.data?.next_cursor === null ? AFTER_FRESH_MS : false,
    })),
  })
  const changed = useChangesRead(firing, before!)
  const isAllAfter = after?.data?.next_cursor === null
  const newer = useQuery({
    queryKey: ['timeline', 'newer', entity, momentOf(firing)],
    queryFn: ({ signal }) =>
      api.histogram(
        { selector: { [entity!.label]: entity!.value }, from: momentOf(firing), buckets: 1 },
        signal,
      ),
    // Read whole, what came after is counted here.
    enabled: isOfEntity && after?.isPending === false && !isAllAfter,
    refetchInterval: AFTER_FRESH_MS,
  })
  const rows = [before, after, changed]
    .flatMap((one) => one?.data?.rows ?? [])
    .filter(({ reference }) => !reference)
  const isRead = !isOfEntity || before?.data !== undefined
  // Of other entities, or from long before: each by itself.
  const others = useQueries({
    queries: (isRead ? othersOf(tripped, rows) : []).map((id) => ({
      queryKey: ['event', id, 'row'],
      queryFn: () => work.event(id),
      staleTime: FOREVER,
    })),
  })
  return {
    tripped: new Set(tripped),
    events: [...rows, ...others.flatMap(({ data }) => data ?? [])],
    newer: (isAllAfter ? after?.data?.rows.length : newer.data?.total) ?? null,
    error: before?.error ?? null,
    isPending: (!isRead && !before?.isError) || others.some(({ isPending }) => isPending),
    reload: () => void before?.refetch(),
  }
}
