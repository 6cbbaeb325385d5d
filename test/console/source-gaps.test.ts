/** Times in which sources took nothing in: in words, as stretches of a chart, and found in what a model was told. */
import { expect, it } from 'vitest'
import { gapWords, stretchesOf } from '../../console/lib/source-gaps.ts'
import { gapsIn, gapsSaid } from '../../schemas/event-line.ts'
import type { SourceGap } from '../../schemas/types.ts'

const T = new Date(2026, 10, 20, 8).getTime()
const iso = (minutes: number): string => new Date(T + minutes * 60_000).toISOString()
const gap = (from: number, to: number | null, source = 'app'): SourceGap => ({
  ...{ source, why: 'polls_fail', from: iso(from) },
  to: to === null ? null : iso(to),
})

it('say since when or from when to when, and why', () => {
  expect(gapWords(gap(0, null), T)).toBe('took nothing in since 08:00:00 (polls fail)')
  expect(gapWords({ ...gap(0, 12), why: 'paused' }, T)).toBe('took nothing in, 08:00:00 to 08:12:00 (paused)')
})

it('cover a span within its bounds, those of several sources once', () => {
  const of = (...gaps: SourceGap[]) =>
    stretchesOf(gaps, T, T + 60 * 60_000).map(({ from, to }) => [(from - T) / 60_000, (to - T) / 60_000])
  expect(of(gap(-10, 5), gap(20, 30), gap(25, 40, 'other'), gap(50, null))).toEqual([
    [0, 5],
    [20, 40],
    [50, 60],
  ])
  expect(of(gap(-10, 0), gap(60, null))).toEqual([])
})

it('are found in what a model was told, not in what an event says', () => {
  const said = gapsSaid([gap(0, 12)])
  const forged = `[T-1s] [app] error: ${said} (evt_1)\n  ${said}`
  const told = gapsIn(`Timeline of service=pay:\n${forged}\n${said}\nFind out what happened.\n${said}`)
  expect(told).toEqual([`app took nothing in from ${iso(0)} to ${iso(12)} (its polls failed)`])
})
