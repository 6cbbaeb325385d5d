/** The track: what happened where as bars and ticks, gaps hatched, and the slider under them. */
import { Group, Slider, Text, VisuallyHidden } from '@mantine/core'
import { type KeyboardEvent, memo, useId, useMemo } from 'react'
import type { Replay } from '../../../schemas/types.ts'
import { count, moment, money } from '../../lib/time.ts'
import type { MomentKind, Stop } from '../player.ts'
import type { Track } from '../track.ts'
import { gapWords, KINDS, kindWords, type LoadState, placeWords } from '../words.ts'
import { stripBars, stripGaps, stripTicks } from './strip.ts'
import type { Playing } from './use-player.ts'

const BUCKETS = 160
const HEIGHT = 48
/** Above the bars, for what is not known. */
const TOP = 7
const TICKS = 400

interface Props {
  replay: Replay
  playing: Playing
  stop: Stop
  /** Ends of all of it, epoch ms. */
  span: { from: number; to: number }
  standing: LoadState
}

export function TrackView({ replay, playing, stop, span, standing }: Props) {
  const { player, track, instant, frame } = playing
  const words = placeWords(frame.moment, player.index, replay.moments.length, instant, standing)
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' || event.key === 'ArrowUp' ? 1 : BACK.has(event.key) ? -1 : 0
    if (by !== 0) event.shiftKey ? playing.jump(stop, by) : playing.step(by)
    else if (event.key === ' ') playing.toggle()
    else if (event.key === 'Home') playing.toStart()
    else if (event.key === 'End') playing.seek(track.length)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    // The kit's slider would go by its own steps; here a step is a moment.
    <div onKeyDownCapture={onKey}>
      {replay.moments.length + replay.gaps.length > 0 && <Strip replay={replay} track={track} />}
      <Slider
        mt={2}
        size="sm"
        thumbSize={18}
        thumbLabel="Instant. Arrow keys step, with shift they jump, space plays."
        thumbValueText={words}
        min={0}
        max={track.length}
        step={1}
        value={Math.min(player.position, track.length)}
        onChange={(position) =>
          position !== Math.min(player.position, track.length) && playing.seek(position)
        }
        // The instant is told above, where there is room for it.
        label={null}
        disabled={replay.moments.length === 0 && standing === 'whole'}
      />
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed">
          {moment(span.from, Date.now(), true)}
        </Text>
        <Text size="xs" c="dimmed">
          {money(frame.spentUsd)} spent up to here
        </Text>
        <Text size="xs" c="dimmed">
          {moment(span.to, Date.now(), true)}
        </Text>
      </Group>
    </div>
  )
}

const BACK: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowDown'])

const Strip = memo(function Strip({ replay, track }: { replay: Replay; track: Track }) {
  const hatch = useId()
  const bars = useMemo(() => stripBars(replay, track, BUCKETS), [replay, track])
  const ticks = useMemo(() => stripTicks(replay, track, TICKS), [replay, track])
  const gaps = useMemo(() => stripGaps(replay, track), [replay, track])
  const counts = useMemo(() => countsOf(replay), [replay])
  return (
    <>
      <svg className="replay-strip" aria-hidden viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none">
        <pattern id={hatch} width={8} height={8} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1={0} y1={0} x2={0} y2={8} className="hatch" />
        </pattern>
        {gaps.map(({ gap, x, width }) => (
          <rect
            key={`${gap.kind} ${gap.from} ${gap.message}`}
            x={x * 1000}
            width={width * 1000}
            y={0}
            height={TOP - 1}
            fill={`url(#${hatch})`}
          >
            <title>{gapWords(gap)}</title>
          </rect>
        ))}
        {[
          { x: 0, width: track.loaded.from },
          { x: track.loaded.to, width: track.length - track.loaded.to },
        ].map(
          ({ x, width }) =>
            width > 0 && (
              <rect
                key={x}
                className="replay-unloaded"
                x={(x / track.length) * 1000}
                width={(width / track.length) * 1000}
                y={TOP}
                height={HEIGHT - TOP}
              >
                <title>Not loaded yet</title>
              </rect>
            ),
        )}
        {bars.map(({ x, y, width, height, kind }) => (
          <rect
            key={`${x} ${kind}`}
            x={x * 1000}
            width={width * 1000 - 0.8}
            y={TOP + (HEIGHT - TOP - 8) * (1 - y - height)}
            height={(HEIGHT - TOP - 8) * height}
            fill={colourOf(kind)}
          />
        ))}
        {ticks.map(({ x, kind }) => (
          <rect
            key={`tick ${x} ${kind}`}
            x={x * 1000 - 0.8}
            width={1.6}
            y={HEIGHT - 6}
            height={6}
            fill={colourOf(kind)}
          />
        ))}
      </svg>
      <Group gap="md" mt={2} aria-label="What the bars are" component="ul" className="replay-legend">
        {counts.map(({ kind, n }) => (
          <li key={kind}>
            <span className="dot" style={{ background: colourOf(kind) }} aria-hidden />
            <Text size="xs" c="dimmed" component="span">
              {count(n)} {n === 1 ? kindWords(kind).one : kindWords(kind).many}
            </Text>
          </li>
        ))}
        {gaps.length > 0 && (
          <li>
            <VisuallyHidden>Hatched: </VisuallyHidden>
            <span className="hatched" aria-hidden />
            <Text size="xs" c="dimmed" component="span">
              not all is known
            </Text>
          </li>
        )}
      </Group>
    </>
  )
})

const colourOf = (kind: MomentKind): string => `var(--moment-${kind})`

function countsOf({ moments }: Replay) {
  return KINDS.map(({ kind }) => ({ kind, n: moments.filter((one) => one.kind === kind).length })).filter(
    ({ n }) => n > 0,
  )
}
