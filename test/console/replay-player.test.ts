import { describe, expect, it } from 'vitest'
import {
  isPermalink,
  openingOf,
  ordinalOf,
  placeOf,
  readAddress,
  writeAddress,
} from '../../console/replay/address.ts'
import {
  goTo,
  instantOf,
  nextStop,
  onTrack,
  PAUSED_AT_START,
  type Player,
  pause,
  play,
  seek,
  seekInstant,
  tick,
} from '../../console/replay/player.ts'
import { trackOf } from '../../console/replay/track.ts'
import { chain, FROM, later, long, replayOf } from './replay-fixture.ts'

const replay = chain()
const { moments } = replay
const real = trackOf(replay, 'real')
const short = trackOf(replay, 'compressed')
const at = (player: Player, track = real): string => new Date(instantOf(player, track, moments)).toISOString()

describe('the clock of the player', () => {
  it('goes as fast as it is told, in the time that passed', () => {
    const started = play(PAUSED_AT_START, real)
    const half = tick(started, real, 500)
    expect([half.index, at(half)]).toEqual([-1, later(0.5)])
    const one = tick(half, real, 500)
    expect([one.index, at(one)]).toEqual([1, later(1)])
    const fast = tick({ ...one, speed: 10 }, real, 3_000)
    expect([fast.index, at(fast)]).toEqual([8, later(31)])
  })

  it('stops at the end, and begins anew when it is played from there', () => {
    const ended = tick({ ...play(PAUSED_AT_START, real), speed: 1_000 }, real, 10_000)
    expect(ended).toMatchObject({ index: moments.length - 1, isPlaying: false })
    expect(at(ended)).toBe(replay.to)
    expect(play(ended, real)).toMatchObject({ index: -1, position: 0, isPlaying: true })
  })

  it('does not move while it is paused', () => {
    const stopped = pause(tick(play(PAUSED_AT_START, real), real, 1_500))
    expect(tick(stopped, real, 60_000)).toBe(stopped)
  })

  it('shortens idle time, and shows moments of one instant one after another', () => {
    expect(real.length).toBe(600_000)
    expect(short.length).toBeLessThan(30_000)
    let player = play(PAUSED_AT_START, short)
    const shown: number[] = []
    while (player.isPlaying) {
      player = tick(player, short, 100)
      if (player.index !== shown.at(-1)) shown.push(player.index)
    }
    expect(shown).toEqual([-1, ...moments.keys()])
  })

  it('reaches each moment by a step, also those of one instant, and says its instant', () => {
    for (const track of [real, short])
      moments.forEach((one, i) => {
        const there = goTo(PAUSED_AT_START, track, i)
        expect([there.index, at(there, track)]).toEqual([i, one.at])
      })
    expect(goTo(PAUSED_AT_START, real, -5)).toMatchObject({ index: -1, position: 0 })
    // Past the last that is loaded, where more may come: to the end of what is, from where it is loaded on.
    const cut = { ...real, loaded: { ...real.loaded, to: real.length - 1 } }
    expect(goTo(PAUSED_AT_START, cut, moments.length)).toMatchObject({
      index: moments.length - 1,
      position: real.length - 1,
    })
  })

  it('goes on from a step with the moments after it, not back to those of the same instant', () => {
    const first = goTo(PAUSED_AT_START, real, 0)
    const on = tick(play(first, real), real, 10)
    expect(on.index).toBe(1)
    expect(at(on)).toBe(later(1.01))
  })

  it('finds the place of an instant on the slider and back', () => {
    for (const track of [real, short]) {
      const there = seekInstant(PAUSED_AT_START, track, moments, Date.parse(later(25)))
      expect([there.index, at(there, track)]).toEqual([4, later(25)])
      expect(seek(PAUSED_AT_START, track, there.position)).toMatchObject({ index: 4 })
    }
  })

  it('stays where it is when idle time is shortened or told in full', () => {
    const middle = seekInstant(PAUSED_AT_START, real, moments, Date.parse(later(25)))
    const moved = onTrack(middle, real, short, moments)
    expect([moved.index, at(moved, short)]).toEqual([4, later(25)])
    const exact = onTrack(goTo(PAUSED_AT_START, real, 6), real, short, moments)
    expect(exact).toMatchObject({ index: 6, position: short.positions[6] })
  })

  it('jumps to the next firing, run, finding or change, and back', () => {
    expect(nextStop(moments, -1, 'firing', 1)).toBe(6)
    expect(nextStop(moments, 6, 'firing', 1)).toBeNull()
    expect(nextStop(moments, 6, 'run', 1)).toBe(7)
    expect(nextStop(moments, -1, 'finding', 1)).toBe(17)
    expect(nextStop(moments, 17, 'change', -1)).toBe(4)
    expect(nextStop(moments, 4, 'any', -1)).toBe(3)
  })

  it('never goes back on its track, and holds 5,000 moments', () => {
    const many = long(5_000)
    for (const pace of ['real', 'compressed'] as const) {
      const track = trackOf(many, pace)
      expect(track.positions).toHaveLength(5_000)
      expect(track.positions.every((one, i, all) => i === 0 || one >= all[i - 1]!)).toBe(true)
      expect(track.positions.at(-1)).toBeLessThanOrEqual(track.length)
    }
  })

  it('has an end where nothing happened', () => {
    const none = replayOf([], { to: FROM })
    const track = trackOf(none, 'compressed')
    expect(tick(play(PAUSED_AT_START, track), track, 5_000)).toMatchObject({ index: -1, isPlaying: false })
  })
})

const HOUR = 3_600

describe('the address of a replay', () => {
  const NOW = Date.parse(later(60))
  it('is read as it was written', () => {
    const text = `from=${FROM}&to=${later(60)}&at=${later(30)}&n=7&sel=trigger%3Aerrs&tab=why`
    const address = readAddress(new URLSearchParams(text), NOW)
    expect(address).toEqual({
      subject: { from: FROM, to: later(60) },
      at: later(30),
      n: 7,
      firing: null,
      selected: 'trigger:errs',
      panel: 'why',
    })
    expect(readAddress(writeAddress(address), NOW)).toEqual(address)
    const result = readAddress(new URLSearchParams('result=r1&at=yesterday&n=x&tab=none'), NOW)
    expect(result).toEqual({
      subject: { result: 'r1' },
      at: null,
      n: null,
      firing: null,
      selected: null,
      panel: 'moments',
    })
    expect(writeAddress(result).toString()).toBe('result=r1')
  })

  it.each([
    ['', { from: later(60 - HOUR), to: later(60) }],
    [`at=${later(30)}`, { from: later(60 - HOUR), to: later(60) }],
    [`at=${later(-9 * HOUR)}&n=4`, { from: later(-9.5 * HOUR), to: later(-8.5 * HOUR) }],
    [`at=${later(9 * HOUR)}`, { from: later(60 - HOUR), to: later(60) }],
    [`from=${later(-9 * HOUR)}`, { from: later(-9 * HOUR), to: later(60) }],
    [`to=${later(-9 * HOUR)}`, { from: later(-10 * HOUR), to: later(-9 * HOUR) }],
  ])('says all of its span from the first on, which stands however late it is opened: %s', (text, span) => {
    const asked = new URLSearchParams(text)
    const address = readAddress(asked, NOW)
    expect(address.subject).toEqual(span)
    expect(isPermalink(asked, address)).toBe(false)
    const copied = writeAddress({ ...address, firing: 'd1' })
    const opened = readAddress(copied, NOW + 40 * 24 * HOUR * 1_000)
    expect(opened).toEqual({ ...address, firing: 'd1' })
    expect(isPermalink(copied, opened)).toBe(true)
  })

  const nowhere = { subject: { from: FROM, to: later(60) }, at: null, n: null, firing: null }

  it('leads to its moment, and to the instant when the moment is no longer that one', () => {
    // Two moments are of that instant before it.
    const of = (index: number) => ordinalOf(replay.moments, index)
    expect([of(5), of(6), of(7), of(-1)]).toEqual([1, 2, 3, null])
    expect(placeOf({ ...nowhere, at: later(30), n: 2 }, replay)).toEqual({ index: 6 })
    expect(placeOf({ ...nowhere, at: later(30), n: 9 }, replay)).toEqual({ instant: Date.parse(later(30)) })
    expect(placeOf({ ...nowhere, at: later(30) }, replay)).toEqual({ instant: Date.parse(later(30)) })
    expect(placeOf({ ...nowhere, at: later(2.5), n: 1 }, replay)).toEqual({ instant: Date.parse(later(2.5)) })
  })

  it('opens at the firing that is asked for, whatever else was at that instant', () => {
    expect(placeOf({ ...nowhere, at: later(30), firing: 'd1' }, replay)).toEqual({ index: 6 })
    expect(placeOf({ ...nowhere, at: later(30), firing: 'gone' }, replay)).toEqual({
      instant: Date.parse(later(30)),
    })
  })

  it('opens at the newest moment where nothing is asked for', () => {
    expect(placeOf(nowhere, replay)).toEqual({ index: replay.moments.length - 1 })
    expect(placeOf({ ...nowhere, n: 7 }, replay)).toEqual({ index: replay.moments.length - 1 })
    expect(placeOf(nowhere, { moments: [] })).toBeNull()
    expect(openingOf(nowhere)).toBe('newest')
    expect(openingOf({ ...nowhere, at: later(30) })).toBe(Date.parse(later(30)))
  })

  it('of a result opens at the firing that it came of', () => {
    const opened = { ...nowhere, subject: { result: 'r1' } }
    expect(openingOf(opened)).toBe('start')
    expect(placeOf(opened, replay)).toEqual({ index: 6 })
  })
})
