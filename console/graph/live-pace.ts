/** How fast events come to the sources of a project, from what each look at it counts: nothing more is asked for it. */
import type { ProjectGraph } from '../../schemas/types.ts'
import type { Pace } from './types.ts'

const STEP_MS = 10_000
const STEPS = 12
/** Before that a rate would be a guess. */
const LEAST_MS = 6_000

/** A look: when, epoch ms, and what each source had counted by then. */
export interface Look {
  at: number
  counts: ReadonlyMap<string, number>
}

export function lookOf({ at, nodes }: Pick<ProjectGraph, 'at' | 'nodes'>): Look {
  const sources = nodes.filter(({ kind, today }) => kind === 'source' && today !== null)
  return { at: Date.parse(at), counts: new Map(sources.map(({ id, today }) => [id, today!])) }
}

/** Looks of the last two minutes; after midnight, when counts begin anew, none of before. */
export function withLook(looks: readonly Look[], look: Look): Look[] {
  const last = looks.at(-1)
  if (last && look.at <= last.at) return [...looks]
  const fell = last && [...look.counts].some(([id, n]) => n < (last.counts.get(id) ?? 0))
  return [...(fell ? [] : looks.filter(({ at }) => at >= look.at - STEP_MS * STEPS)), look]
}

/** By source; empty until a few seconds were seen. */
export function pacesOf(looks: readonly Look[]): Map<string, Pace> {
  const [first, last] = [looks[0], looks.at(-1)]
  if (!first || !last || last.at - first.at < LEAST_MS) return new Map()
  return new Map(
    [...last.counts].map(([id, n]) => {
      const spark = Array.from({ length: STEPS }, () => 0)
      looks.forEach(({ at, counts }, i) => {
        const before = looks[i - 1]?.counts.get(id)
        const step = STEPS - 1 - Math.floor((last.at - at) / STEP_MS)
        if (before !== undefined && step >= 0) spark[step]! += (counts.get(id) ?? before) - before
      })
      const minute = looks.find(({ at }) => at >= last.at - 60_000)!
      const since = minute === last ? first : minute
      const came = n - (since.counts.get(id) ?? n)
      return [id, { perMinute: (came * 60_000) / Math.max(1, last.at - since.at), spark }]
    }),
  )
}
