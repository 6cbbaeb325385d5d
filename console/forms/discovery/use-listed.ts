/** The metrics a choice is made from: all there are, those that carry a label, or only the chosen ones. */
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { compareNames } from '../../lib/by-name.ts'
import { type Ask, type Choice, carryingOf, matching, type Offer } from './picking.ts'

export interface Listed {
  names: readonly string[]
  /** The search these names are of. */
  search: string
  isWaiting: boolean
  /** Why a label lists nothing. */
  error: Error | null
  again: () => void
  /** So many are all that can be listed, and there are more; null: these are all. */
  cutAt: number | null
}

/** @param id tells the answers of one discovery from those of another. */
export function useListed(id: number, offer: Offer, choice: Choice, isOnlyChosen: boolean, ask: Ask): Listed {
  const { names: chosen, label } = choice
  const carrying = useQuery({
    queryKey: ['discovery', id, 'label', label],
    enabled: label !== null,
    queryFn: ({ signal }) => ask({ for_label: label }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const { metrics, isCut } = label === null ? offer : carryingOf(carrying.data ?? {})
  const search = useDeferredValue(choice.search)
  const names = useMemo(
    () => matching(isOnlyChosen ? [...chosen].sort(compareNames) : metrics, search),
    [isOnlyChosen, chosen, metrics, search],
  )
  const isAsked = label !== null && !isOnlyChosen
  return {
    names,
    search,
    isWaiting: isAsked && carrying.isFetching,
    error: isAsked ? carrying.error : null,
    again: () => void carrying.refetch(),
    cutAt: isCut && !isOnlyChosen ? metrics.length : null,
  }
}
