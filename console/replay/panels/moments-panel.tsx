/** Every moment as a list that follows the player; a click goes there. Only rows in view are drawn. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ReplayMoment } from '../../../schemas/types.ts'
import { WordSelect } from '../../parts/word-select.tsx'
import { toneOf } from '../marks.ts'
import type { MomentKind } from '../player.ts'
import { lastAtMost } from '../track.ts'
import { clockOf, KINDS, kindWords } from '../words.ts'

interface Props {
  moments: readonly ReplayMoment[]
  index: number
  onGo: (index: number) => void
}

export function MomentsPanel({ moments, index, onGo }: Props) {
  const [kind, setKind] = useState<MomentKind | null>(null)
  const shown = useMemo(
    () => [...moments.keys()].filter((i) => kind === null || moments[i]!.kind === kind),
    [moments, kind],
  )
  const there = useMemo(() => KINDS.filter((one) => moments.some((m) => m.kind === one.kind)), [moments])
  return (
    <Stack gap="xs" className="replay-fill">
      <Group>
        <WordSelect
          label="Kind"
          all="All kinds"
          data={there.map((one) => ({ value: one.kind, label: one.many }))}
          value={kind ?? undefined}
          onChange={(value) => setKind(value as MomentKind | null)}
        />
      </Group>
      <Rows moments={moments} shown={shown} current={lastAtMost(shown, index)} index={index} onGo={onGo} />
    </Stack>
  )
}

function Rows({
  moments,
  shown,
  current,
  index,
  onGo,
}: Props & { shown: readonly number[] /** Row of the last moment that is shown. */; current: number }) {
  const box = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => 48,
    overscan: 10,
    getItemKey: (i) => shown[i]!,
  })
  // The list follows the player, not the other way round.
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows is another object at each drawing.
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current, { align: 'auto' })
  }, [current])
  return (
    <section ref={box} className="timeline replay-moments" aria-label={`Moments, ${shown.length}`}>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map((item) => {
          const at = shown[item.index]!
          return (
            <div
              key={item.key}
              ref={rows.measureElement}
              data-index={item.index}
              className="replay-row"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <MomentRow
                moment={moments[at]!}
                isCurrent={at === index}
                isPast={at <= index}
                onGo={() => onGo(at)}
              />
            </div>
          )
        })}
      </div>
    </section>
  )
}

export function MomentRow({
  moment,
  isCurrent,
  isPast = true,
  onGo,
}: {
  moment: ReplayMoment
  isCurrent: boolean
  isPast?: boolean
  onGo: () => void
}) {
  const { at, kind, title, practice, recomputed } = moment
  return (
    <button
      type="button"
      className="replay-moment"
      data-past={isPast}
      data-tone={toneOf(moment)}
      aria-current={isCurrent ? 'step' : undefined}
      onClick={onGo}
    >
      <span className="replay-moment-head">
        <time className="mono" dateTime={at}>
          {clockOf(Date.parse(at))}
        </time>
        <Text size="xs" c="dimmed" component="span">
          {kindWords(kind).one}
        </Text>
        {practice && (
          <Badge size="sm" color="orange" variant="default" tt="none">
            Practice
          </Badge>
        )}
        {recomputed && (
          <Text
            size="xs"
            c="dimmed"
            component="span"
            title="Recomputed from the stored events, with the trigger as it was"
          >
            worked out again
          </Text>
        )}
      </span>
      <span className="replay-moment-title">{title}</span>
    </button>
  )
}
