/**
 * A field whose choices are read: asked when somebody comes near the field, and a failure is said by the field itself, in
 * the place that it has, so that a form around it does not move.
 */
import { ActionIcon, VisuallyHidden } from '@mantine/core'
import { type QueryKey, useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'

/** The read that a field lets choose from. */
interface Choices {
  data: unknown
  error: Error | null
  refetch: () => unknown
}

/** Without choices no list opens: neither is it said that there are none. */
const NO_LIST = { nothingFoundMessage: undefined }

/**
 * @param what is chosen from, such as "triggers" @param choices as they were read
 * @returns what to spread over a Select or MultiSelect, after its own placeholder; nothing while there are choices
 */
export function unreadChoices(what: string, { data, error, refetch }: Choices) {
  if (data !== undefined || !error) return {}
  const said = `Couldn’t load ${what}`
  return {
    placeholder: said,
    ...NO_LIST,
    rightSection: (
      <>
        <VisuallyHidden role="alert">{`${said}. ${error.message}`}</VisuallyHidden>
        <ActionIcon
          variant="subtle"
          color="red"
          aria-label={`Load ${what} again`}
          title={`${said}. ${error.message} Try again`}
          onClick={() => void refetch()}
        >
          <RotateCw size={16} aria-hidden />
        </ActionIcon>
      </>
    ),
    rightSectionPointerEvents: 'all' as const,
  }
}

/**
 * @param what is chosen from, such as "triggers"
 * @param isNeeded the page shows some of it before anybody comes near
 * @returns data as far as it is known, and what to spread over a Select or MultiSelect, after its own placeholder
 */
export function useChoices<T>(
  what: string,
  query: { queryKey: QueryKey; queryFn: () => Promise<T> },
  isNeeded = false,
) {
  const [isNear, setNear] = useState(false)
  const { data, error, refetch } = useQuery({ ...query, enabled: isNear || isNeeded })
  const come = () => setNear(true)
  return {
    data,
    field: {
      onFocus: come,
      onPointerEnter: come,
      ...(data === undefined ? NO_LIST : {}),
      ...unreadChoices(what, { data, error, refetch }),
    },
  }
}
