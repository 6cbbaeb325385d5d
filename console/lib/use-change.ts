/** A change of what is declared: afterwards everything declared is read again, and a word is said. */

import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { keys } from '../client.ts'
import { dkeys } from '../declared-client.ts'
import { wkeys } from '../trigger-client.ts'
import { notifications } from './notices.ts'

/** Warnings of a save, where its answer has any. */
export function warningsIn(result: unknown): string[] {
  const { warnings } = (result ?? {}) as { warnings?: unknown }
  return Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : []
}

/**
 * @param said what to tell when it worked; nothing when it gives nothing.
 * @param onDone called after that. Refusals are told, unless `quiet`: then the caller shows them; so are
 *   warnings, unless `showsWarnings`.
 */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  {
    said,
    failed = 'Couldn’t make the change',
    onDone,
    quiet = false,
    showsWarnings = false,
  }: {
    said?: (result: Result, input: Input) => string
    /** What did not happen: "Couldn’t pause app-logs". */
    failed?: string | ((input: Input) => string)
    onDone?: (result: Result, input: Input) => void
    quiet?: boolean
    showsWarnings?: boolean
  } = {},
): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: (result, input) => {
      const text = said?.(result, input)
      if (text) notifications.show({ message: text })
      const warnings = warningsIn(result)
      if (warnings.length && !showsWarnings)
        notifications.show({
          color: 'yellow',
          title: 'Worth a look',
          message: `${warnings.join('. ')}.`,
          autoClose: 15_000,
        })
      onDone?.(result, input)
    },
    onError: (error, input) => {
      if (!quiet)
        notifications.show({
          color: 'red',
          title: typeof failed === 'string' ? failed : failed(input),
          message: error.message,
        })
    },
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: dkeys.all }),
        queries.invalidateQueries({ queryKey: wkeys.all }),
        queries.invalidateQueries({ queryKey: keys.sources }),
        queries.invalidateQueries({ queryKey: keys.apiKeys }),
      ]),
  })
}
