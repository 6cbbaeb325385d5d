/** Reads the events around the moment a trigger fired, and counts those that came later. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { FiringDetail, FiringEvidence, SourceGap } from '../../../schemas/types.ts'
import type { ApiEvent } from '../../client.ts'
import { isChange, SIDE, type Side } from '../../lib/incident-evidence.ts'
import { wkeys, work } from '../../trigger-client.ts'

const FRESH_MS = 30_000
const AFTER_FRESH_MS = 15_000

/** All of it, read once: what came before the moment is there. */
function useRead({ dispatch_id: id }: FiringDetail, side: Side) {
  const queries = useQueryClient()
  return useQuery({
    queryKey: wkeys.evidence(id, side),
    queryFn: async ({ signal }) => {
      const whole = await work.evidence(id, SIDE[side], signal)
      queries.setQueryData(wkeys.evidenceSince(id, side), whole)
      return whole
    },
    placeholderData: (last) => last,
    staleTime: FRESH_MS,
  })
}

/** Changes of its entity around the moment: those of the half hour before, and what else was read of it. */
export const useChanges = (firing: FiringDetail): ApiEvent[] =>
  useRead(firing, 'evidence').data?.events.filter(isChange) ?? []

/** Types of the events that tripped it: a filter by type is what most triggers have. Undefined: not read, or not yet. */
export function useTypes(firing: FiringDetail): { types: string[] | undefined; hasFailed: boolean } {
  const { data, isError } = useRead(firing, 'evidence')
  return { types: data?.event_types, hasFailed: isError }
}

/** Ids of all events that tripped it, as far as they are known. */
export function useTripped({ dispatch_id, event_ids, events }: FiringDetail): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: wkeys.firingEvents(dispatch_id),
    queryFn: () => work.firingEvents(dispatch_id),
    enabled: events > event_ids.length,
  })
  return new Set(data ?? event_ids)
}

export function useEvidence(firing: FiringDetail, side: Side) {
  const { dispatch_id: id, event_ids, entity } = firing
  const whole = useRead(firing, side)
  // What came after it is read again.
  const since = useQuery({
    queryKey: wkeys.evidenceSince(id, side),
    queryFn: ({ signal }) => work.evidence(id, { before: 0, after: SIDE[side].after }, signal),
    enabled: entity !== null && whole.isSuccess && !whole.isPlaceholderData,
    staleTime: AFTER_FRESH_MS,
    refetchInterval: AFTER_FRESH_MS,
  })
  return {
    tripped: new Set([...event_ids, ...(whole.data?.tripped ?? [])]),
    events: [...(whole.data?.events ?? []), ...(since.data?.events ?? [])],
    gaps: gapsOf(whole.data, since.data),
    newer: (since.data ?? whole.data)?.later ?? null,
    error: whole.error,
    isPending: whole.isPending,
    reload: () => void whole.refetch(),
  }
}

/** What was still going on after the moment is told anew with what came since. */
function gapsOf(whole: FiringEvidence | undefined, since = whole): readonly SourceGap[] {
  const before = whole?.gaps ?? []
  if (!since || since === whole) return before
  return [...before.filter(({ to }) => to !== null && to <= since.moment), ...(since.gaps ?? [])]
}
