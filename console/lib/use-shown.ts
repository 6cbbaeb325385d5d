/**
 * What a form was filled from. A form must not change under the person who fills it in when somebody else saves: it keeps
 * what it was filled from until it is saved, or given up. One in which nothing is typed shows what is stored now.
 */
import { useState } from 'react'
import { useLocation } from 'react-router'
import { isTyped } from './use-draft.ts'

const versionOf = (data: unknown): unknown => (data as { version?: unknown } | undefined)?.version

/**
 * @param data as it is now; undefined while it loads. @param refetch reads it again
 * @param form that it fills in (useDraft); absent: it is filled in anew only when it is saved or given up
 */
export function useShown<T>(
  data: T | undefined,
  refetch: () => Promise<{ data: T | undefined }>,
  form?: string,
): { shown: T | undefined; round: number; reload: () => Promise<void> } {
  const { pathname } = useLocation()
  const [state, setState] = useState<{ shown: T | undefined; round: number }>({ shown: data, round: 0 })
  const isOld = form !== undefined && versionOf(data) !== versionOf(state.shown)
  if (data !== undefined && (state.shown === undefined || (isOld && !isTyped(pathname, form))))
    setState({ shown: data, round: state.round + 1 })
  return {
    ...state,
    reload: async () => {
      const { data: fresh } = await refetch()
      setState((now) => ({ shown: fresh, round: now.round + 1 }))
    },
  }
}
