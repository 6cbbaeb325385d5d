/**
 * What a form was filled from. A form must not change under the person who fills it in when somebody
 * else saves: it keeps what it was filled from until it is saved, or given up.
 */
import { useState } from 'react'

/** @param data as it is now; undefined while it loads. @param refetch reads it again. */
export function useShown<T>(
  data: T | undefined,
  refetch: () => Promise<{ data: T | undefined }>,
): { shown: T | undefined; round: number; reload: () => Promise<void> } {
  const [state, setState] = useState<{ shown: T | undefined; round: number }>({ shown: data, round: 0 })
  if (state.shown === undefined && data !== undefined) setState({ shown: data, round: state.round + 1 })
  return {
    ...state,
    reload: async () => {
      const { data: fresh } = await refetch()
      setState((now) => ({ shown: fresh, round: now.round + 1 }))
    },
  }
}
