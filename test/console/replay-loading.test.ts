/** Which stretch of a long replay is read, and how one stays where one is while more of it comes. */
import { describe, expect, it } from 'vitest'
import {
  around,
  earlier,
  holds,
  isWhole,
  later as next,
  openAt,
  type Read,
} from '../../console/replay/loading.ts'
import { mergePages } from '../../console/replay/merge.ts'
import { goTo, instantOf, onTrack, PAUSED_AT_START, play, seek, tick } from '../../console/replay/player.ts'
import { isLoadedAt, trackOf } from '../../console/replay/track.ts'
import type { Replay } from '../../schemas/types.ts'
import { FROM, later, moment, replayOf } from './replay-fixture.ts'

const START = Date.parse(FROM)
const SPAN_S = 3_600
const PAGE = 50

/** A daemon that holds these moments, at seconds of the span, and answers so many at once. */
function daemon(seconds: readonly number[]): { read: Read; asked: string[] } {
  const all = seconds.map((s) => moment(s, { event_id: `evt_${s}`, title: `at ${s}` }))
  const asked: string[] = []
  const read: Read = async (from = START, to = START + SPAN_S * 1_000) => {
    asked.push(`${(from - START) / 1_000}`)
    const there = all.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to)
    const cut = there[PAGE]
    const moments = cut ? there.filter(({ at }) => at < cut.at) : there
    return replayOf(moments, {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      next_from: cut?.at ?? null,
    }) satisfies Replay
  }
  return { read, asked }
}

/** One each second of the hour. */
const busy = Array.from({ length: SPAN_S }, (_, i) => i)
const titles = (pages: readonly Replay[]) => mergePages(pages).moments.map(({ title }) => title)

describe('the stretch of a replay that is loaded', () => {
  it('is all of it where one answer holds it, asked once', async () => {
    const { read, asked } = daemon([1, 2, 3])
    const stretch = await openAt(read, 'newest')
    expect(isWhole(stretch)).toBe(true)
    expect(asked).toHaveLength(1)
  })

  it('is around the newest moment of a long span, not from its start on', async () => {
    const { read, asked } = daemon(busy)
    const stretch = await openAt(read, 'newest')
    expect(titles(stretch.pages).at(-1)).toBe('at 3599')
    expect(holds(stretch, stretch.span.to)).toBe(true)
    expect(isWhole(stretch)).toBe(false)
    expect(asked.length).toBeLessThanOrEqual(4)
  })

  it('is around the instant that is asked for', async () => {
    const { read, asked } = daemon(busy)
    const stretch = await openAt(read, START + 1_800_000)
    expect(titles(stretch.pages)).toContain('at 1800')
    expect(stretch.pages).toHaveLength(1)
    expect(asked.length).toBeLessThanOrEqual(4)
  })

  it('finds what came last though nothing came for a long time after a dense start', async () => {
    const { read } = daemon([...busy.slice(0, 120), 600])
    const stretch = await openAt(read, 'newest')
    expect(titles(stretch.pages)).toContain('at 600')
  })

  it('comes near where it is far denser than at the start', async () => {
    const dense = Array.from({ length: 400 }, (_, i) => 3_000 + i / 10)
    const { read } = daemon([...Array.from({ length: 60 }, (_, i) => i * 40), ...dense])
    const stretch = await openAt(read, START + 3_020_000)
    expect(titles(stretch.pages)).toContain('at 3020')
  })

  it.each([-7_200, SPAN_S + 7_200])(
    'is at the end that is nearer of an instant outside the span: %i s',
    async (s) => {
      const { read } = daemon(busy)
      const at = START + s * 1_000
      const edge = s < 0 ? START : START + SPAN_S * 1_000
      expect(holds(await openAt(read, at), edge)).toBe(true)
      expect(holds(await around(read, await openAt(read, START + 1_800_000), at), edge)).toBe(true)
    },
  )

  it('is not asked for without an end where a daemon does not go on', async () => {
    const { read } = daemon(busy)
    const stuck: Read = async (from, to) => ({
      ...(await read(from, to)),
      next_from: new Date(from ?? START).toISOString(),
    })
    await expect(openAt(stuck, START + 1_800_000)).rejects.toThrow('does not go on')
    const have = await openAt(read, START + 1_800_000)
    await expect(earlier(stuck, have)).rejects.toThrow('does not go on')
  })

  it('grows at both ends without a moment lost or told twice', async () => {
    const { read } = daemon(busy)
    let stretch = await openAt(read, START + 1_800_000)
    for (let i = 0; i < 3; i++) stretch = await earlier(read, await next(read, stretch))
    const told = titles(stretch.pages).map((title) => Number(title.slice(3)))
    expect(told).toEqual(Array.from({ length: told.length }, (_, i) => told[0]! + i))
    expect(told.length).toBeGreaterThan(6 * PAGE)
    expect(told[0]! * 1_000 + START).toBeGreaterThanOrEqual(stretch.from)
  })

  it('grows over answers in which nothing happened', async () => {
    const { read } = daemon([1, 2_000])
    const at = [0, 100, 200, 300, SPAN_S]
    const inParts: Read = async (from = START) => {
      const end = at.find((s) => START + s * 1_000 > from)!
      const answer = await read(from, START + end * 1_000 - 1)
      const next = end === SPAN_S ? null : new Date(START + end * 1_000).toISOString()
      return { ...answer, to: later(SPAN_S), next_from: next }
    }
    const grown = await next(inParts, await openAt(inParts, 'start'))
    expect(titles(grown.pages)).toEqual(['at 1', 'at 2000'])
    expect(isWhole(grown)).toBe(true)
  })

  it('ends at the ends of the span, and is whole then', async () => {
    const { read } = daemon(busy.slice(0, 200))
    let stretch = await openAt(read, 'start')
    for (let i = 0; i < 10; i++) stretch = await next(read, stretch)
    expect(isWhole(stretch)).toBe(true)
    expect(await next(read, stretch)).toBe(stretch)
    expect(await earlier(read, stretch)).toBe(stretch)
  })

  it('goes elsewhere where one goes far away, and grows where one goes on', async () => {
    const { read } = daemon(busy)
    const start = await openAt(read, 'start')
    expect((await around(read, start, start.to + 5_000)).pages).toHaveLength(2)
    const far = await around(read, start, START + 3_000_000)
    expect(titles(far.pages)).toContain('at 3000')
    expect(far.from).toBeGreaterThan(start.to)
    expect(await around(read, far, START + 3_000_000)).toBe(far)
  })
})

describe('the player on a stretch', () => {
  const span = { from: START, to: START + 600_000 }
  const moments = [300, 301, 302].map((s) => moment(s, { event_id: `evt_${s}`, title: `at ${s}` }))
  const part = replayOf(moments)
  const loaded = { from: START + 300_000, to: START + 400_000, span }
  const track = trackOf(part, 'compressed', loaded)

  it('has a place for what is not loaded, and knows it', () => {
    expect(isLoadedAt(track, 0)).toBe(false)
    expect(isLoadedAt(track, track.positions[0]!)).toBe(true)
    expect(isLoadedAt(track, track.length)).toBe(false)
    expect(track.instantAt(0)).toBe(START)
    expect(track.instantAt(track.length)).toBe(START + 600_000)
    expect(track.instantAt(track.loaded.from)).toBe(START + 300_000)
    const whole = trackOf(part, 'compressed')
    expect(isLoadedAt(whole, 0) && isLoadedAt(whole, whole.length)).toBe(true)
  })

  it('waits at its end for what follows, and stops only where the span ends', () => {
    const at = tick({ ...goTo(PAUSED_AT_START, track, 2), isPlaying: true }, track, 60_000)
    expect(at).toMatchObject({ isPlaying: true, position: track.loaded.to })
    expect(tick(at, track, 60_000)).toBe(at)
    const whole = trackOf(part, 'compressed')
    expect(tick(play(seek(PAUSED_AT_START, whole, 0), whole), whole, 60_000).isPlaying).toBe(false)
  })

  it('steps back from the first loaded moment to what is not loaded, not to the start of the span', () => {
    const back = goTo(PAUSED_AT_START, track, -1)
    expect(isLoadedAt(track, back.position)).toBe(false)
    expect(instantOf(back, track, moments)).toBeGreaterThan(START + 290_000)
  })

  it('steps on from the last loaded moment to what is not loaded, and from there to what came', () => {
    const known = trackOf(part, 'compressed', { ...loaded, to: START + 300_500 })
    const edge = goTo(PAUSED_AT_START, known, part.moments.length)
    expect(edge).toMatchObject({ index: part.moments.length - 1, position: known.loaded.to })
    expect(isLoadedAt(known, edge.position)).toBe(false)
    const now = replayOf([...part.moments, moment(400, { event_id: 'evt_400' })])
    const grown = trackOf(now, 'compressed', { ...loaded, to: span.to })
    const there = onTrack(edge, known, grown, part.moments, now.moments)
    expect(goTo(there, grown, there.index + 1).index).toBe(now.moments.length - 1)
  })

  it('stays at its moment when others come before it', () => {
    const before = moment(200, { event_id: 'evt_200', title: 'at 200' })
    const now = replayOf([before, ...moments])
    const grown = trackOf(now, 'compressed', { ...loaded, from: START + 200_000 })
    const player = onTrack(goTo(PAUSED_AT_START, track, 1), track, grown, part.moments, now.moments)
    expect(player.index).toBe(2)
    expect(instantOf(player, grown, now.moments)).toBe(Date.parse(later(301)))
  })

  it('is past the moments that came before where it stands, once they are loaded', () => {
    // It went to the end of the span, with the first moment as the last that was known.
    const first = replayOf(moments.slice(0, 1))
    const before = trackOf(first, 'compressed', { ...loaded, to: START + 300_500 })
    const end = { ...seek(PAUSED_AT_START, before, before.length), index: 0 }
    const there = trackOf(part, 'compressed', { ...loaded, to: span.to })
    const player = onTrack(end, before, there, first.moments, moments)
    expect(player.index).toBe(2)
    expect(instantOf(player, there, moments)).toBe(span.to)
  })

  it('goes to its instant where its moment is not loaded any more', () => {
    const now = replayOf([moment(100, { event_id: 'evt_100' })])
    const other = trackOf(now, 'compressed', { ...loaded, from: START, to: START + 150_000 })
    const player = onTrack(goTo(PAUSED_AT_START, track, 1), track, other, part.moments, now.moments)
    expect(instantOf(player, other, now.moments)).toBe(Date.parse(later(301)))
  })
})
