/** The player: where one is in words, the track, its buttons, and what cannot be shown. */
import { Badge, Button, Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useState } from 'react'
import type { Replay } from '../../../schemas/types.ts'
import { Fold } from '../../parts/fold.tsx'
import { Mark } from '../../parts/mark.tsx'
import { toneOf } from '../marks.ts'
import type { Stop } from '../player.ts'
import { clockOf, gapWords, kindWords, MARK_TONES, partWords, placeWords } from '../words.ts'
import { Controls } from './controls.tsx'
import { TrackView } from './track-view.tsx'
import type { Playing } from './use-player.ts'

interface Props {
  replay: Replay
  playing: Playing
  loadMore: (() => void) | null
  isLoadingMore: boolean
}

export function PlayerBar({ replay, playing, loadMore, isLoadingMore }: Props) {
  const [stop, setStop] = useState<Stop>('firing')
  const { player, frame, instant } = playing
  const total = replay.moments.length
  return (
    <Paper withBorder radius="md" p="sm" component="section" aria-label="Player">
      <Stack gap="xs">
        <Now playing={playing} total={total} />
        <TrackView replay={replay} playing={playing} stop={stop} />
        <Controls playing={playing} stop={stop} onStop={setStop} total={total} />
        {loadMore && (
          <Group gap="xs">
            <Text size="sm">
              There is more than is loaded: it goes on after{' '}
              {clockOf(Date.parse(replay.next_from ?? replay.to), true)}.
            </Text>
            <Button size="xs" variant="default" loading={isLoadingMore} onClick={loadMore}>
              Load more
            </Button>
          </Group>
        )}
        <Gaps replay={replay} />
      </Stack>
      {/* While it plays, each moment would be read out over the one before. */}
      <VisuallyHidden role="status">
        {player.isPlaying ? 'Playing' : placeWords(frame.moment, player.index, total, instant)}
      </VisuallyHidden>
    </Paper>
  )
}

function Now({ playing, total }: { playing: Playing; total: number }) {
  const { frame, player, instant } = playing
  const { moment, missing } = frame
  return (
    <div className="replay-now">
      <Text className="mono" fw={600} component="time" dateTime={new Date(instant).toISOString()}>
        {clockOf(instant, true)}
      </Text>
      <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {player.index + 1} of {total}
      </Text>
      {moment ? (
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
              ` (the graph of then lacks ${missing.map((id) => partWords(id, frame.graph)).join(', ')})`}
          </Text>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {total === 0 ? 'Nothing happened in this span' : 'Before the first moment'}
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
          <Text key={`${gap.kind} ${gap.from} ${gap.message}`} component="li" size="sm">
            {gapWords(gap)}
          </Text>
        ))}
      </ul>
    </Fold>
  )
}
