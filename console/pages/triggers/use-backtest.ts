/** A backtest of what is being edited: asked when the typing pauses; a newer question ends the older. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { BacktestRequest, BacktestResult, TriggerDefinition } from '../../../schemas/types.ts'
import { TRIAL_STALE_MS } from '../../lib/backtest.ts'
import { work } from '../../trigger-client.ts'

const PAUSE_MS = 400

export interface Trial {
  data: BacktestResult | undefined
  error: Error | null
  isRunning: boolean
  /** Epoch ms of the answer that is shown; 0: there is none. */
  at: number
  /** What is shown is of another definition or window than what is on the page. */
  isOther: boolean
  again(): void
}

/**
 * @param definition what is tried; null: it is not filled in yet
 * @param compare what it is compared with
 * @param then end of the span, ISO, and the change-set its sources are as of; absent: now
 */
export function useBacktest(
  definition: TriggerDefinition | null,
  compare: TriggerDefinition | null,
  window: string,
  then?: { to: string; version: number },
): Trial {
  const wanted = JSON.stringify(
    definition && { definition, ...(compare ? { compare } : {}), window, ...then },
  )
  const [asked] = useDebouncedValue(wanted, PAUSE_MS)
  const { data, error, isFetching, isPlaceholderData, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['backtest', asked],
    queryFn: ({ signal }) => work.backtest(JSON.parse(asked) as BacktestRequest, signal),
    enabled: asked !== 'null' && definition !== null,
    placeholderData: (before) => before,
    // The same question later has other events to look at.
    staleTime: TRIAL_STALE_MS,
    gcTime: 60_000,
  })
  return {
    data: definition ? data : undefined,
    error: definition ? error : null,
    isRunning: isFetching,
    at: dataUpdatedAt,
    isOther: isPlaceholderData || asked !== wanted,
    again: () => void refetch(),
  }
}
