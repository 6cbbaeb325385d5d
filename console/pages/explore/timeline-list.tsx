/** The timeline itself: only the rows in view are drawn, so 100,000 scroll smoothly. */
import { Button, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ApiEvent } from '../../client.ts'
import type { Group } from '../../lib/explore-state.ts'
import { groupRows, type Line } from '../../lib/group-rows.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { count, countEvents } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'
import { EventRow } from './event-row.tsx'
import type { Timeline } from './use-timeline.ts'

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
  const [open, setOpen] = useState<string | null>(first)
  const [active, setActive] = useState(-1)
  const lines = useMemo(
    () => groupRows(timeline.rows, group, timeline.hasMore),
    [timeline.rows, group, timeline.hasMore],
  )
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 33,
    overscan: 12,
    getItemKey: (i) => keyOf(lines[i]!),
  })
  // Only what grows wholly above moves what is seen: an event that is opened keeps its own row in view.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ end }, _by, { scrollOffset }) =>
    end <= (scrollOffset ?? 0)
  useShownFirst(first, lines, (at) => {
    setOpen(first)
    setActive(at)
    list.scrollToIndex(at, { align: 'start' })
  })
  const items = list.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  const arrived = useHeldPosition(lines, box, list.getTotalSize())

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
      {arrived.count > 0 && (
        <Button
          size="xs"
          radius="xl"
          style={{ position: 'absolute', top: 10, left: '50%', transform: 'translateX(-50%)', zIndex: 2 }}
          onClick={arrived.goToTop}
        >
          {count(arrived.count)} new {arrived.count === 1 ? 'event' : 'events'}
        </Button>
      )}
      <section
        ref={box}
        className="timeline"
        style={{ flex: 1 }}
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
function useShownFirst(id: string | null, lines: Line[], show: (at: number) => void): void {
  const shown = useRef<string | null>(null)
  useEffect(() => {
    if (id === null || shown.current === id) return
    const at = lines.findIndex((line) => 'event' in line && line.event.id === id)
    if (at < 0) return
    shown.current = id
    show(at)
  })
}

/** Rows that arrive in front do not move what one reads: the position is held and they are counted. */
function useHeldPosition(
  lines: Line[],
  box: React.RefObject<HTMLDivElement | null>,
  height: number,
): { count: number; goToTop: () => void } {
  const before = useRef({ height: 0, first: '' })
  const [waiting, setWaiting] = useState(0)
  useEffect(() => {
    const element = box.current
    const first = lines[0] ? keyOf(lines[0]) : ''
    if (element && before.current.first && first !== before.current.first && element.scrollTop > 40) {
      const added = lines.findIndex((line) => keyOf(line) === before.current.first)
      if (added > 0) {
        element.scrollTop += Math.max(0, height - before.current.height)
        setWaiting((n) => n + added)
      }
    }
    before.current = { height, first }
  }, [lines, box, height])
  useEffect(() => {
    const element = box.current
    if (!element) return
    const seen = () => element.scrollTop < 40 && setWaiting(0)
    element.addEventListener('scroll', seen, { passive: true })
    return () => element.removeEventListener('scroll', seen)
  }, [box])
  return {
    count: waiting,
    goToTop: () => {
      box.current?.scrollTo({ top: 0 })
      setWaiting(0)
    },
  }
}
