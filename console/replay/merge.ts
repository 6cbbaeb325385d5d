/** Pages of a replay as one: what comes later is put behind, and what both pages tell is told once. */
import type { Replay, ReplayGap, ReplayMoment, ReplayVersion } from '../../schemas/types.ts'

/** @param pages in order of time; at least one. Moments are numbered from 1 on, whatever page they are of. */
export function mergePages(pages: readonly Replay[]): Replay {
  const [first, ...others] = pages as [Replay, ...Replay[]]
  const last = others.at(-1) ?? first
  const seen = new Set<string>()
  const moments: ReplayMoment[] = []
  for (const page of pages)
    for (const moment of page.moments) {
      const identity = identityOf(moment)
      // A page begins at the instant where the one before ended.
      if (page !== first && seen.has(identity)) continue
      seen.add(identity)
      moments.push({ ...moment, n: moments.length + 1 })
    }
  return {
    ...first,
    to: last.to,
    versions: versionsOf(pages),
    gaps: gapsOf(pages),
    moments,
    next_from: last.next_from,
  }
}

/** What a moment tells, whichever answer it is of. */
export const identityOf = ({ n: _n, ms: _ms, ...moment }: ReplayMoment): string => JSON.stringify(moment)

/** A later page begins with the version that is in effect then, which is known already. */
function versionsOf(pages: readonly Replay[]): ReplayVersion[] {
  const known = new Map<number, ReplayVersion>()
  for (const version of pages.flatMap(({ versions }) => versions))
    if (!known.has(version.change_set)) known.set(version.change_set, version)
  return [...known.values()]
}

function gapsOf(pages: readonly Replay[]): ReplayGap[] {
  const isLast = (page: Replay): boolean => page === pages.at(-1)
  const known = new Map<string, ReplayGap>()
  // What a page leaves out is no gap once the next one is there.
  for (const page of pages)
    for (const gap of page.gaps)
      if (gap.kind !== 'truncated' || isLast(page))
        known.set(`${gap.kind} ${gap.from} ${gap.to} ${gap.message}`, gap)
  return [...known.values()]
}
