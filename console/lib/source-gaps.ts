/** Times in which sources took nothing in: as words, and as stretches of a chart. */
import type { SourceGap } from '../../schemas/types.ts'
import { moment } from './time.ts'

/** What follows the name of its source: "took nothing in, 07:40:12 to 07:52:30 (paused)". @param now epoch ms */
export function gapWords({ why, from, to }: Omit<SourceGap, 'source'>, now: number): string {
  const at = (iso: string): string => moment(Date.parse(iso), now, true)
  return `took nothing in${to === null ? ` since ${at(from)}` : `, ${at(from)} to ${at(to)}`} (${why.replace('_', ' ')})`
}

/** What of a span they cover, epoch ms, in order and each instant once: those of several sources lie over each other. */
export function stretchesOf(
  gaps: readonly SourceGap[],
  from: number,
  to: number,
): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  const inOrder = gaps
    .map((gap) => ({
      from: Math.max(from, Date.parse(gap.from)),
      to: gap.to === null ? to : Math.min(to, Date.parse(gap.to)),
    }))
    .filter((one) => one.from < one.to)
    .sort((a, b) => a.from - b.from)
  for (const one of inOrder) {
    const last = found.at(-1)
    if (last && one.from <= last.to) last.to = Math.max(last.to, one.to)
    else found.push(one)
  }
  return found
}
