/**
 * What happened in a project between two instants, folded from the rows that say it: there is no second
 * record. An answer ends between two instants, so that the next one, from `next_from` on, neither loses
 * nor repeats a moment, also where many came at once.
 */
import type { Replay } from '../../../schemas/types.ts'
import type { Steps } from '../../timeline/steps.ts'
import { type Collected, joined } from './cut.ts'
import { gapsOf } from './gaps.ts'
import { compareDrafts, type Draft, presentMoment } from './moment.ts'
import { collectChanges } from './moments/changes.ts'
import { collectDeliveries } from './moments/deliveries.ts'
import { collectEvaluations } from './moments/evaluations.ts'
import { collectEvents } from './moments/events.ts'
import { collectFirings } from './moments/firings.ts'
import { collectRuns } from './moments/runs.ts'
import { recompute } from './recompute.ts'
import { iso, type Scope } from './scope.ts'
import { startOf } from './start.ts'
import { versionsOf } from './versions.ts'

/** Rows of one kind at one instant: of a body with more items the rest is said to be left out. */
const INSTANT_MAX = 20_000

/** @param limit moments. @returns step by step, so that other reads come between */
export function* foldInSteps(scope: Scope, limit: number): Steps<Replay> {
  const { project, from, to, chain } = scope
  const all = yield* collect(scope)
  const whole = Math.min(all.cutAt ?? to + 1, to + 1)
  const told = all.drafts.filter((draft) => draft.at < whole && isOfThen(scope, draft))
  const page = pageOf(told.sort(compareDrafts), limit, whole)
  const recomputed = yield* recompute(scope, page.drafts, page.next)
  const both = [...page.drafts, ...recomputed.drafts].sort(compareDrafts)
  const { drafts, next } = pageOf(both, limit, page.next)
  const nextFrom = next <= to ? next : null
  const versions = yield* versionsOf(scope)
  const start = startOf(scope, versions[0]!.graph)
  yield
  return {
    project: { id: project.id, name: project.name },
    from: iso(from),
    to: iso(to),
    result: chain?.root ?? null,
    versions,
    start,
    moments: drafts.map((draft, i) => presentMoment(draft, i + 1)),
    gaps: gapsOf(scope, {
      drafts,
      recomputed,
      isOverfull: all.overfullAt !== null,
      until: Math.min(next - 1, to),
    }),
    next_from: nextFrom === null ? null : iso(nextFrom),
  }
}

/** Every moment that a row tells, of all kinds. */
function* collect(scope: Scope): Steps<Collected> {
  const events = yield* collectEvents(scope)
  const depths = new Map(
    events.drafts.flatMap(({ event_id, depth }) => (depth ? [[event_id!, depth] as const] : [])),
  )
  const depthOf = (id: number | null) => (id === null ? 0 : (depths.get(`evt_${id}`) ?? 0))
  const evaluations = yield* collectEvaluations(scope)
  for (const one of evaluations.drafts) if (one.event_id) one.depth = depths.get(one.event_id) ?? 0
  const firings = collectFirings(scope, depthOf)
  yield
  const deliveries = collectDeliveries(scope)
  yield
  const runs = yield* collectRuns(scope)
  const all = joined([events, evaluations, firings, deliveries, runs, collectChanges(scope)])
  yield
  if (all.overfullAt === null || scope.most >= INSTANT_MAX) return all
  // An instant that has more than an answer should hold is left to the next one, and read whole there.
  const cutAt = Math.min(all.overfullAt, all.cutAt ?? all.overfullAt)
  const before = all.drafts.filter(({ at }) => at < cutAt)
  if (before.length) return { drafts: before, cutAt, overfullAt: null }
  return yield* collect({ ...scope, most: INSTANT_MAX })
}

/** A part that the project did not have then is none of its business: it may have been another's. */
function isOfThen({ configurations, chain }: Scope, { kind, phase, nodes, edges, at }: Draft): boolean {
  if (kind === 'event') return chain !== null || edges.length > 0
  if ((kind !== 'evaluation' && kind !== 'firing') || phase === 'dropped') return true
  const trigger = nodes[0]!.slice('trigger:'.length)
  return configurations.around(at).some(({ doc }) => doc.uses.trigger?.[trigger] !== undefined)
}

/** @param whole epoch ms: every moment before it is there. @returns whole instants, and where the next answer begins */
function pageOf(sorted: Draft[], limit: number, whole: number): { drafts: Draft[]; next: number } {
  const over = sorted[limit]?.at
  if (over === undefined) return { drafts: sorted, next: whole }
  const drafts = sorted.filter(({ at }) => at < over)
  // One instant that holds more than an answer should is told whole all the same.
  if (drafts.length === 0) return { drafts: sorted.filter(({ at }) => at === over), next: over + 1 }
  return { drafts, next: over }
}
