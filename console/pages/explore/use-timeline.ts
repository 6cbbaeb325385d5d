/** The rows of a timeline: pages back in time by cursor, new ones from the live tail in front. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { startTransition, useEffect, useMemo, useRef, useState } from 'react'
import type { JoinedName } from '../../../schemas/types.ts'
import { type ApiEvent, api, tailUrl } from '../../client.ts'
import { type ExploreState, isChosen, readRequest } from '../../lib/explore-state.ts'
import { mergeRows } from '../../lib/merge-rows.ts'

/** Live rows kept in front of the pages; older ones are read again when asked for. */
const LIVE_MAX = 20_000
/** How often new rows are drawn, milliseconds: each time moves all rows in view, 20 ms of work (2026-11-26). */
const FEW_EVERY_MS = 150
const MUCH_EVERY_MS = 900
const READ_IN_PASSING = 10

export interface Timeline {
  /** Newest first. */
  rows: ApiEvent[]
  references: ApiEvent[]
  /** Ids that came live, to be marked. */
  fresh: ReadonlySet<string>
  /** Events a slow connection missed. */
  missed: number
  isPending: boolean
  isFetchingMore: boolean
  hasMore: boolean
  /** Where a search by text stopped, having looked at many events; null: it looked at all, or there is none. */
  searchedTo: string | null
  /** Pages of such a search that stopped so. */
  stops: number
  error: Error | null
  /** What should be known of what was read, such as a label that no event has; null: nothing. */
  notice: string | null
  /** Constraints that stand for a joined entity. */
  joined: readonly JoinedName[]
  /** Of an empty window: when the newest event with the labels was; null: never, or not known. */
  lastSeen: string | null
  loadMore: () => void
  reload: () => void
  /** Changes when the list is read anew. */
  stamp: number
}

const NONE_JOINED: readonly JoinedName[] = []

export function useTimeline(state: ExploreState): Timeline {
  const enabled = isChosen(state)
  const { live: isLive, group: _group, event: _event, ...asked } = state
  const identity = JSON.stringify(asked)
  const queries = useQueryClient()
  const queryKey = ['timeline', identity]
  const pages = useInfiniteQuery({
    queryKey,
    enabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.read(readRequest(state, pageParam), signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: 30_000,
  })
  // What was stored after the read and before the tail listened is in neither: it is read once more. To ask for it while
  // the first read is under way would join that read.
  const isOn = enabled && isLive
  const live = useLive(
    state,
    isOn,
    identity,
    () => void queries.cancelQueries({ queryKey, exact: true }).then(() => pages.refetch()),
  )
  const wasOn = useRef(isOn)
  const { refetch } = pages
  useEffect(() => {
    // What came live is then in what is read, or nowhere.
    if (wasOn.current && !isOn && enabled) void refetch({ cancelRefetch: false })
    wasOn.current = isOn
  }, [isOn, enabled, refetch])
  const { references, rows } = useMemo(() => {
    const all = pages.data?.pages.flatMap((page) => page.rows) ?? []
    const stored = all.filter((row) => !row.reference)
    return { references: all.filter((row) => row.reference), rows: mergeRows(live.rows, stored) }
  }, [pages.data, live.rows])
  return {
    rows,
    references,
    fresh: live.fresh,
    missed: live.missed,
    isPending: enabled && pages.isPending,
    isFetchingMore: pages.isFetchingNextPage,
    hasMore: pages.hasNextPage,
    searchedTo: pages.data?.pages.at(-1)?.searched_to ?? null,
    stops: pages.data?.pages.filter((page) => page.searched_to).length ?? 0,
    error: pages.error,
    notice: pages.data?.pages.at(-1)?.notice ?? null,
    joined: pages.data?.pages[0]?.joined ?? NONE_JOINED,
    lastSeen: pages.data?.pages[0]?.last_seen ?? null,
    loadMore: () => void pages.fetchNextPage(),
    reload: () => {
      live.clear()
      void pages.refetch()
    },
    stamp: pages.dataUpdatedAt,
  }
}

/** @param began called once the tail listens: from then on it has all that comes. */
function useLive(state: ExploreState, on: boolean, identity: string, began: () => void) {
  const [rows, setRows] = useState<ApiEvent[]>([])
  const [missed, setMissed] = useState(0)
  const fresh = useRef(new Set<string>())
  const clear = () => {
    setRows([])
    setMissed(0)
    fresh.current = new Set()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: identity stands for the whole state.
  useEffect(() => {
    clear()
    if (!on) return
    const stream = new EventSource(tailUrl(state.selector, state.sources))
    let waiting: ApiEvent[] = []
    // A connection that comes back goes on behind the last event it had by itself.
    stream.addEventListener('open', began, { once: true })
    stream.addEventListener('event', (message) => {
      const row = JSON.parse((message as MessageEvent<string>).data) as ApiEvent
      if (state.types.length && !state.types.includes(row.event_type)) return
      if (state.text && !row.text.toLowerCase().includes(state.text.toLowerCase())) return
      waiting.push(row)
    })
    stream.addEventListener('gap', (message) =>
      setMissed((n) => n + (JSON.parse((message as MessageEvent<string>).data) as { missed: number }).missed),
    )
    // A burst of a thousand events is one drawing, not a thousand: what nobody can read in passing is drawn more seldom.
    let drawn = 0
    const flush = setInterval(() => {
      const isMuch = waiting.length > READ_IN_PASSING
      if (waiting.length === 0 || (isMuch && performance.now() - drawn < MUCH_EVERY_MS)) return
      drawn = performance.now()
      const arrived = waiting.reverse()
      waiting = []
      for (const row of arrived) fresh.current.add(row.id)
      // In slices: keys are answered meanwhile.
      startTransition(() => setRows((before) => [...arrived, ...before].slice(0, LIVE_MAX)))
    }, FEW_EVERY_MS)
    return () => {
      clearInterval(flush)
      stream.close()
    }
  }, [on, identity])
  return { rows, missed, fresh: fresh.current as ReadonlySet<string>, clear }
}

/** The timeline that is looked at, as a question. */
export function questionOf({ selector, sources, from, to, window, text }: ExploreState): string {
  const labels = Object.entries(selector).map(([label, value]) => `${label}=${value}`)
  if (text && labels.length + sources.length === 0) return `Which events say “${text}”, and why?`
  const of = (labels.length > 0 ? labels : sources.map((source) => `source ${source}`)).join(' and ')
  const span = from ? `from ${from} to ${to ?? 'now'}` : `in the last ${window ?? '1h'}`
  return `What happened to ${of} ${span}?`
}
