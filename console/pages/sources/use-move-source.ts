/** Pause and resume, with a word on how it went. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, keys } from '../../client.ts'
import { notifications } from '../../lib/notices.ts'

export function useMoveSource(name: string): (event: 'pause' | 'resume') => void {
  const queries = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: (event: 'pause' | 'resume') => api.moveSource(name, event),
    onSuccess: (_result, event) =>
      notifications.show({
        message:
          event === 'pause'
            ? `${name} is paused: what is sent to it is refused`
            : `${name} takes events again`,
      }),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t change the source', message: error.message }),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sources }),
  })
  return mutate
}
