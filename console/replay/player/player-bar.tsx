/** The player: where one is in words, the track, its buttons, and what cannot be shown. */
import { Badge, Button, Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useState } from 'react'
import type { Replay } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import { Fold } from '../../parts/fold.tsx'
import { Mark } from '../../parts/mark.tsx'
import { isWhole, type Stretch } from '../loading.ts'
import { toneOf } from '../marks.ts'
import type { Stop } from '../player.ts'
import {
  clockOf,
  emptyWords,
  gapWords,
  kindWords,
  type LoadState,
  MARK_TONES,
  partWords,
  placeWords,
} from '../words.ts'
import { Controls } from './controls.tsx'
import { TrackView } from './track-view.tsx'
import type { Playing } from './use-player.ts'

interface Props {
  replay: Replay
  stretch: Stretch
  playing: Playing
  state: LoadState
  onEarlier: () => void
  onLater: () => void
}

export function PlayerBar({ replay, stretch, playing, state, onEarlier, onLater }: Props) {
  const [stop, setStop] = useState<Stop>('firing')
  const { player, frame, instant } = playing
  const total = replay.moments.length
  return (
    <Paper withBorder radius="md" p="sm" component="section" aria-label="Player">
      <Stack gap="xs">
        <Now playing={playing} total={total} state={state} />
        <TrackView replay={replay} playing={playing} stop={stop} span={stretch.span} standing={state} />
        <Controls playing={playing} stop={stop} onStop={setStop} total={total} />
        {!isWhole(stretch) && (
          <Group gap="xs">
            <Text size="sm">
              Loaded: {clockOf(stretch.from, true)} to {clockOf(stretch.to, true)}
            </Text>
            {stretch.from > stretch.span.from && (
              <Button size="xs" variant="default" disabled={state === 'loading'} onClick={onEarlier}>
                Load earlier
              </Button>
            )}
            {stretch.to < stretch.span.to && (
              <Button size="xs" variant="default" disabled={state === 'loading'} onClick={onLater}>
                Load later
              </Button>
            )}
          </Group>
        )}
        <Gaps replay={replay} />
      </Stack>
      {/* While it plays, each moment would be read out over the one before. */}
      <VisuallyHidden role="status">
        {player.isPlaying && state !== 'loading'
          ? 'Playing'
          : placeWords(frame.moment, player.index, total, instant, state)}
      </VisuallyHidden>
    </Paper>
  )
}

function Now({ playing, total, state }: { playing: Playing; total: number; state: LoadState }) {
  const { frame, player, instant } = playing
  const { moment, missing } = frame
  return (
    <div className="replay-now">
      <Text className="mono" fw={600} component="time" dateTime={new Date(instant).toISOString()}>
        {clockOf(instant, true)}
      </Text>
      <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        Moment {count(player.index + 1)} of {count(total)}
        {state === 'whole' ? '' : ' loaded'}
      </Text>
      {moment && (state === 'whole' || state === 'here') ? (
        <Group gap={6} wrap="nowrap" style={{ minWidth: 0 }}>
          <Mark tone={MARK_TONES[toneOf(moment)]}>{kindWords(moment.kind).one}</Mark>
          {moment.practice && (
            <Badge color="orange" variant="default" tt="none" style={{ flex: 'none' }}>
              Practice
            </Badge>
          )}
          <Text size="sm" className="ellipsis" title={moment.title}>
            {moment.title}
            {missing.length > 0 &&
              ` (missing in the graph at that time: ${missing.map((id) => partWords(id, frame.graph)).join(', ')})`}
          </Text>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {emptyWords(total, state)}
        </Text>
      )}
    </div>
  )
}

function Gaps({ replay: { gaps } }: { replay: Replay }) {
  if (gaps.length === 0) return null
  return (
    <Fold title="Gaps" hint={gaps.length === 1 ? gapWords(gaps[0]!) : `${gaps.length} gaps`}>
      <ul className="replay-gaps">
        {gaps.map((gap) => (
          <Text key={`${gap.kind} ${gap.from} ${gap.to} ${gap.message}`} component="li" size="sm">
            {gapWords(gap)}
          </Text>
        ))}
      </ul>
    </Fold>
  )
}
