/** The replay of a page: its pages as one, and a way to the next. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Replay } from '../../schemas/types.ts'
import type { Subject } from './address.ts'
import { readReplay } from './client.ts'
import { mergePages } from './merge.ts'

const HOUR_MS = 3_600_000

export interface ReplayPages {
  replay: Replay | null
  error: Error | null
  /** Null: all of it is there. */
  loadMore: (() => void) | null
  isLoadingMore: boolean
  retry: () => void
}

/** @param until ISO; pages are read on until they reach it; null: the first alone */
export function useReplay(project: string, subject: Subject, until: string | null): ReplayPages {
  const [opened] = useState(Date.now)
  const asked = 'result' in subject ? subject : spanOf(subject, opened)
  const pages = useInfiniteQuery({
    queryKey: ['replay', project, asked],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      readReplay(project, { ...asked, ...(pageParam ? { from: pageParam } : {}) }, signal),
    getNextPageParam: (page) => page.next_from ?? undefined,
    // What happened does not change while one looks at it.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = pages
  const next = data?.pages.at(-1)?.next_from ?? null
  const isShort = until !== null && next !== null && Date.parse(next) <= Date.parse(until)
  useEffect(() => {
    if (isShort && hasNextPage && !isFetchingNextPage && !pages.isFetchNextPageError) void fetchNextPage()
  }, [isShort, hasNextPage, isFetchingNextPage, pages.isFetchNextPageError, fetchNextPage])
  const replay = useMemo(() => (data ? mergePages(data.pages) : null), [data])
  return {
    // A permalink waits for its instant rather than land elsewhere.
    replay: isShort && !pages.error ? null : replay,
    error: pages.error,
    loadMore: hasNextPage ? () => void fetchNextPage() : null,
    isLoadingMore: isFetchingNextPage,
    retry: () => void (data ? fetchNextPage() : pages.refetch()),
  }
}

function spanOf({ from, to }: { from: string | null; to: string | null }, opened: number) {
  const end = to === null ? opened : Date.parse(to)
  return {
    from: from ?? new Date(end - HOUR_MS).toISOString(),
    to: new Date(end).toISOString(),
  }
}
