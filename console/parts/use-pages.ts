/**
 * A list that is newest first, by pages. While it is short it is read again every few seconds, so
 * that new entries show by themselves; one who reads far back is not disturbed.
 */
import { useInfiniteQuery } from '@tanstack/react-query'

/** After so long a list that is looked at is read again: others add to it, too. Milliseconds. */
export const LIST_FRESH_MS = 5_000
const SHORT = 2

interface Page {
  next_before: string | null
}

export interface Pages<P> {
  pages: P[] | undefined
  error: Error | null
  reload: () => void
  /** Reads the next page; null: there is none. */
  older: (() => void) | null
  isLoadingOlder: boolean
}

/** @param goesOn whether to go further back than this page */
export function usePages<P extends Page>(
  queryKey: readonly unknown[],
  read: (before: string | undefined) => Promise<P>,
  goesOn: (page: P) => boolean = () => true,
): Pages<P> {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => read(pageParam),
    getNextPageParam: (page) => (goesOn(page) ? (page.next_before ?? undefined) : undefined),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > SHORT ? false : LIST_FRESH_MS),
  })
  return {
    pages: data?.pages,
    error,
    reload: () => void refetch(),
    older: hasNextPage ? () => void fetchNextPage() : null,
    isLoadingOlder: isFetchingNextPage,
  }
}
