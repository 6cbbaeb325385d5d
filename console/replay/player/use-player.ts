/** The player of a page: its clock is the browser's frames; what it does is in player.ts. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Replay } from '../../../schemas/types.ts'
import { type Frame, fold } from '../frame.ts'
import {
  goTo,
  hasEarlier,
  hasLater,
  instantOf,
  nextStop,
  onTrack,
  PAUSED_AT_START,
  type Player,
  pause,
  play,
  type Stop,
  seek,
  seekInstant,
  tick,
} from '../player.ts'
import { isLoadedAt, type Loaded, type Pace, type Track, trackOf } from '../track.ts'

export interface Playing {
  player: Player
  track: Track
  pace: Pace
  frame: Frame
  /** Epoch ms; between moments it goes on. */
  instant: number
  toggle(): void
  step(by: 1 | -1): void
  /** Whether there is a moment ahead, or may be one that is not loaded. */
  canStepOn: boolean
  /** Whether there is one that way, or may be. */
  canJump(stop: Stop, by: 1 | -1): boolean
  jump(stop: Stop, by: 1 | -1): void
  goTo(index: number): void
  toStart(): void
  /** Whether what is where one is is loaded. */
  isLoaded: boolean
  goToInstant(instant: number): void
  seek(position: number): void
  setSpeed(speed: number): void
  setPace(pace: Pace): void
}

/** How often the graph follows between two moments, ms. */
const FOLLOW_MS = 250

/** @param first where it begins; null: the start. @param loaded what of the span is */
export function usePlayer(
  replay: Replay,
  first: { index: number } | { instant: number } | null,
  loaded: Loaded,
): Playing {
  const [pace, setPaceNow] = useState<Pace>('compressed')
  const track = useMemo(() => trackOf(replay, pace, loaded), [replay, pace, loaded])
  const folded = useMemo(() => fold(replay), [replay])
  const { moments } = replay
  const [player, setPlayer] = useState<Player>(() => begin(track, moments, first))
  useHeldPlace(track, moments, setPlayer)
  useClock(player.isPlaying, track, setPlayer)
  const instant = instantOf(player, track, moments)
  const followed = player.isPlaying ? Math.floor(instant / FOLLOW_MS / Math.max(1, player.speed)) : instant
  // biome-ignore lint/correctness/useExhaustiveDependencies: between moments the graph follows now and then.
  const frame = useMemo(
    () => folded.frame({ index: player.index, instant }),
    [folded, player.index, followed],
  )
  const move = useCallback((to: (now: Player) => Player) => setPlayer(to), [])
  const next = (stop: Stop, by: 1 | -1): number | null => nextStop(moments, player.index, stop, by)
  const isMore = (by: 1 | -1): boolean => (by === 1 ? hasLater(track) : hasEarlier(track))
  return {
    player,
    track,
    pace,
    frame,
    instant,
    toggle: () => move((now) => (now.isPlaying ? pause(now) : play(now, track))),
    step: (by) => move((now) => goTo(now, track, now.index + by)),
    canStepOn: player.index < moments.length - 1 || hasLater(track),
    canJump: (stop, by) => next(stop, by) !== null || isMore(by),
    jump: (stop, by) => {
      // What is not loaded is gone to, and so loaded: from there one jumps on.
      const to = next(stop, by) ?? (isMore(by) ? (by === 1 ? moments.length : -1) : null)
      if (to !== null) move((now) => goTo(now, track, to))
    },
    goTo: (index) => move((now) => goTo(now, track, index)),
    toStart: () => move((now) => ({ ...seek(now, track, 0), isPlaying: false })),
    isLoaded: isLoadedAt(track, player.position),
    goToInstant: (at) => move((now) => seekInstant(now, track, moments, at)),
    seek: (position) => move((now) => seek(now, track, position)),
    setSpeed: (speed) => move((now) => ({ ...now, speed })),
    setPace: (to) => setPaceNow(to),
  }
}

function begin(
  track: Track,
  moments: Replay['moments'],
  first: { index: number } | { instant: number } | null,
): Player {
  if (first === null) return PAUSED_AT_START
  return 'index' in first
    ? goTo(PAUSED_AT_START, track, first.index)
    : seekInstant(PAUSED_AT_START, track, moments, first.instant)
}

/** On another axis, or with more pages, one stays at the same instant. */
function useHeldPlace(
  track: Track,
  moments: Replay['moments'],
  setPlayer: (to: (now: Player) => Player) => void,
): void {
  const [before, setBefore] = useState({ track, moments })
  if (before.track === track) return
  setBefore({ track, moments })
  setPlayer((now) => onTrack(now, before.track, track, before.moments, moments))
}

function useClock(isOn: boolean, track: Track, setPlayer: (to: (now: Player) => Player) => void): void {
  useEffect(() => {
    if (!isOn) return
    let before: number | null = null
    let asked = requestAnimationFrame(function go(now: number) {
      const passed = before === null ? 0 : now - before
      before = now
      setPlayer((player) => tick(player, track, passed))
      asked = requestAnimationFrame(go)
    })
    return () => cancelAnimationFrame(asked)
  }, [isOn, track, setPlayer])
}
