/** The timeline itself: only the rows in view are drawn, so 100,000 scroll smoothly. */
import { Button, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import type { ApiEvent } from '../../client.ts'
import type { Group } from '../../lib/explore-state.ts'
import { groupRows, type Line } from '../../lib/group-rows.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { count, countEvents } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'
import { EventRow } from './event-row.tsx'
import type { Timeline } from './use-timeline.ts'

/** Of this visit, by the entry of the browser's history. */
const places = new Map<string, { seen: unknown; open: string | null }>()

interface Props {
  timeline: Timeline
  group: Group
  onLabel: (name: string, value: string) => void
  /** Event that is opened at first. */
  first: string | null
}

export function TimelineList({ timeline, group, onLabel, first }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const now = useNow()
  const { key } = useLocation()
  /** Where one was when one went on from here by a link: Back leads there again. */
  const [left] = useState(() => places.get(key) ?? { seen: first, open: first })
  const [open, setOpen] = useState(left.open)
  const [active, setActive] = useState(-1)
  const lines = useMemo(
    () => groupRows(timeline.rows, group, timeline.hasMore),
    [timeline.rows, group, timeline.hasMore],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at when rows come, before they are drawn.
  const isHeld = useMemo(() => !!box.current && isReading(box.current), [lines])
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 33,
    overscan: 12,
    getItemKey: (i) => keyOf(lines[i]!),
    // From the end: what comes in front moves nothing.
    anchorTo: isHeld ? 'end' : 'start',
  })
  // Only what grows wholly above moves what is seen: an event that is opened keeps its own row in view.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ end }, _by, { scrollOffset }) =>
    end <= (scrollOffset ?? 0)
  const keep = (top: number) => {
    // Who is at the top wants to see what is newest.
    places.set(key, { seen: open || top > AT_TOP ? list.getVirtualItemForOffset(top)?.key : null, open })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolled, it is kept by itself.
  useEffect(() => keep(list.scrollOffset ?? 0), [open])
  useShownFirst(left.seen, lines, (at) => {
    setOpen(left.open)
    setActive(at)
    list.scrollToIndex(at, { align: 'start' })
  })
  const items = list.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  const { waiting, onTop } = useArrived(lines, isHeld, (added) =>
    setActive((at) => (at < 0 ? at : at + added)),
  )

  useEffect(() => {
    // A search that stopped goes on when it is told to: each of its pages looks at many events.
    const isAtEnd = lines.length > 0 && lastShown >= lines.length - 60
    if (timeline.hasMore && timeline.searchedTo === null && !timeline.isFetchingMore && isAtEnd)
      timeline.loadMore()
  }, [lastShown, lines.length, timeline])

  const move = (step: number): void => {
    let next = active
    do next += step
    while (lines[next] && 'head' in lines[next]!)
    if (!lines[next]) return
    setActive(next)
    list.scrollToIndex(next)
    // Drawn after the scroll; its button then takes Enter by itself.
    const { id } = (lines[next] as { event: ApiEvent }).event
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-event="${id}"]`)?.focus())
  }
  usePageKeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ])
  return (
    <div style={{ position: 'relative', flex: 1, minHeight: 280, display: 'flex' }}>
      {waiting > 0 && (
        <Button
          size="xs"
          radius="xl"
          style={{ position: 'absolute', top: 10, left: '50%', transform: 'translateX(-50%)', zIndex: 2 }}
          onClick={() => box.current?.scrollTo({ top: 0 })}
        >
          {count(waiting)} new {waiting === 1 ? 'event' : 'events'}
        </Button>
      )}
      <section
        ref={box}
        className="timeline"
        style={{ flex: 1 }}
        onScroll={({ currentTarget: { scrollTop: top } }) => {
          keep(top)
          if (top < AT_TOP) onTop()
        }}
        aria-label={`Timeline, ${lines.length} rows, newest first`}
      >
        <div style={{ height: list.getTotalSize(), position: 'relative' }}>
          {items.map((item) => {
            const line = lines[item.index]!
            return (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                style={{
                  position: 'absolute',
                  top: 0,
                  left: 0,
                  right: 0,
                  transform: `translateY(${item.start}px)`,
                }}
              >
                {'head' in line ? (
                  <div className="group-head">
                    {line.head}{' '}
                    <Text span size="xs" c="dimmed">
                      {line.count}
                    </Text>
                  </div>
                ) : (
                  <EventRow
                    event={line.event}
                    now={now}
                    open={open === line.event.id}
                    active={item.index === active}
                    isNew={timeline.fresh.has(line.event.id)}
                    onToggle={() => {
                      setOpen(open === line.event.id ? null : line.event.id)
                      if (item.start < (list.scrollOffset ?? 0))
                        list.scrollToIndex(item.index, { align: 'start' })
                    }}
                    onLabel={onLabel}
                  />
                )}
              </div>
            )
          })}
        </div>
        <Text size="xs" c="dimmed" p="xs" ta="center" role="status">
          {timeline.isFetchingMore
            ? 'Loading older events…'
            : timeline.searchedTo !== null
              ? `${countEvents(timeline.rows.length)} found so far`
              : timeline.hasMore
                ? `${countEvents(timeline.rows.length)} loaded; scroll for more`
                : `${countEvents(timeline.rows.length)}, all of this window`}
        </Text>
      </section>
    </div>
  )
}

const keyOf = (line: Line): string => ('head' in line ? `head:${line.head}` : line.event.id)

/** Goes to an event once, when it is there. */
function useShownFirst(id: unknown, lines: Line[], show: (at: number) => void): void {
  const shown = useRef<unknown>(null)
  useEffect(() => {
    if (!id || shown.current === id) return
    const at = lines.findIndex((line) => 'event' in line && line.event.id === id)
    if (at < 0) return
    shown.current = id
    show(at)
  })
}

/** Nearer to the top than a row is high, one sees what comes, pixels. */
const AT_TOP = 20

/** Whether one reads something that new rows must not move: further down, an event that is open, text that is marked. */
function isReading(list: HTMLElement): boolean {
  if (list.scrollTop > AT_TOP) return true
  const marked = getSelection()!
  return (
    (!marked.isCollapsed && list.contains(marked.anchorNode)) ||
    list.querySelector('[aria-expanded=true]') !== null
  )
}

/**
 * Rows that arrive in front while one reads are counted; the list holds its position.
 * @param onAdded called with how many came, whether or not one reads
 */
function useArrived(
  lines: Line[],
  isHeld: boolean,
  onAdded: (count: number) => void,
): { waiting: number; onTop: () => void } {
  const before = useRef('')
  const [waiting, setWaiting] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for what came, as it was looked at then.
  useEffect(() => {
    const added = before.current ? lines.findIndex((line) => keyOf(line) === before.current) : 0
    before.current = lines[0] ? keyOf(lines[0]) : ''
    if (added <= 0) return
    onAdded(added)
    if (isHeld) setWaiting((n) => n + added)
  }, [lines])
  return { waiting, onTop: () => setWaiting(0) }
}
