/** Plays a replay: a pure machine over its track. Time comes in from outside, so that a test is its clock. */
import type { ReplayMoment } from '../../schemas/types.ts'
import { placeAt } from './frame.ts'
import { identityOf } from './merge.ts'
import type { Track } from './track.ts'

export type MomentKind = ReplayMoment['kind']

export interface Player {
  /** Last moment that is shown; -1: none yet. */
  index: number
  /** On the track. */
  position: number
  isPlaying: boolean
  /** Milliseconds of the track in one of ours. */
  speed: number
}

export const SPEEDS = [1, 2, 5, 10, 60, 300, 1_000] as const

/** Moments one jumps between; any: each of them. */
export type Stop = 'any' | 'firing' | 'run' | 'finding' | 'change'

export const PAUSED_AT_START: Player = { index: -1, position: 0, isPlaying: false, speed: 1 }

/** @param ms that passed. At the end it stops; where what follows is not loaded, it waits. */
export function tick(player: Player, track: Track, ms: number): Player {
  if (!player.isPlaying) return player
  const { from, to } = track.loaded
  // What is not loaded is waited for.
  if (player.position < from || (player.position >= to && to < track.length)) return player
  const position = Math.min(player.position + ms * player.speed, to)
  if (position >= track.length)
    return { ...player, position: track.length, index: track.positions.length - 1, isPlaying: false }
  return { ...player, position, index: Math.max(player.index, track.indexAt(position)) }
}

/** From the end it begins anew. */
export function play(player: Player, track: Track): Player {
  if (player.position >= track.length) return { ...player, index: -1, position: 0, isPlaying: true }
  return { ...player, isPlaying: true }
}

export const pause = (player: Player): Player => ({ ...player, isPlaying: false })

/**
 * Goes to a moment and stays there.
 * @param index -1: before the first; past the last: behind it. Where that is not loaded, to its end, where it is loaded then
 */
export function goTo(player: Player, track: Track, index: number): Player {
  if (index >= track.positions.length && hasLater(track))
    return {
      ...player,
      index: track.positions.length - 1,
      position: track.loaded.to,
      isPlaying: false,
    }
  const to = Math.max(-1, Math.min(index, track.positions.length - 1))
  const before = track.loaded.from > 0 ? track.loaded.from - 1 : 0
  return { ...player, index: to, position: to < 0 ? before : track.positions[to]!, isPlaying: false }
}

/** Whether there may be moments behind those that are loaded. */
export const hasLater = ({ loaded, length }: Track): boolean => loaded.to < length
/** Whether there may be some before them. */
export const hasEarlier = ({ loaded }: Track): boolean => loaded.from > 0

/** Goes to a place on the track, such as where the slider was dropped; goes on when it was playing. */
export function seek(player: Player, track: Track, position: number): Player {
  const to = Math.max(0, Math.min(position, track.length))
  return { ...player, index: track.indexAt(to), position: to }
}

/** Goes to an instant of the time that is replayed. @param instant epoch ms */
export function seekInstant(
  player: Player,
  track: Track,
  moments: readonly ReplayMoment[],
  instant: number,
): Player {
  const { index } = placeAt({ moments: moments as ReplayMoment[] }, instant)
  const position = Math.max(track.positionAt(instant), index < 0 ? 0 : track.positions[index]!)
  return { ...player, index, position, isPlaying: false }
}

/** The next moment of a kind; null: there is none that way. @param by 1 ahead, -1 back */
export function nextStop(
  moments: readonly ReplayMoment[],
  index: number,
  stop: Stop,
  by: 1 | -1,
): number | null {
  for (let i = index + by; i >= 0 && i < moments.length; i += by) if (isStop(moments[i]!, stop)) return i
  return null
}

/** A firing counts once, where it fired or was held; a run where it was made or ended. */
export function isStop({ kind }: ReplayMoment, stop: Stop): boolean {
  if (stop === 'any') return true
  if (stop === 'change') return kind === 'change' || kind === 'state'
  return kind === stop
}

/** The instant that is shown. At a moment it is that moment's. */
export function instantOf(player: Player, track: Track, moments: readonly ReplayMoment[]): number {
  const { index, position } = player
  const at = moments[index]
  if (at && position <= track.positions[index]!) return Date.parse(at.at)
  const instant = track.instantAt(position)
  return at ? Math.max(instant, Date.parse(at.at)) : instant
}

/** The same place on another track. @param now moments of that track; absent: the same */
export function onTrack(
  player: Player,
  from: Track,
  to: Track,
  moments: readonly ReplayMoment[],
  now: readonly ReplayMoment[] = moments,
): Player {
  if (from === to) return player
  const instant = instantOf(player, from, moments)
  const at = moments[player.index]
  const same = sameIn(now, at, player.index)
  // Past its moment others may be known now that came since; one that is not loaded any more is where its instant is.
  const isAtMoment = same !== null && at !== undefined && Date.parse(at.at) === instant
  const index = isAtMoment ? same : placeAt({ moments: now as ReplayMoment[] }, instant).index
  const position = isAtMoment ? to.positions[same]! : to.positionAt(instant)
  return { ...player, index, position }
}

/** Where a moment is among others, such as with those before it; null: it is not there. */
function sameIn(
  now: readonly ReplayMoment[],
  moment: ReplayMoment | undefined,
  index: number,
): number | null {
  if (!moment) return null
  const identity = identityOf(moment)
  if (now[index] && identityOf(now[index]) === identity) return index
  const found = now.findIndex((one) => one.at === moment.at && identityOf(one) === identity)
  return found < 0 ? null : found
}
