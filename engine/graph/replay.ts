/**
 * What happened in a project between two instants, folded from the rows that say it: there is no second
 * record. An answer ends between two instants, so that the next one, from `next_from` on, neither loses
 * nor repeats a moment, also where many came at once.
 */
import type { GraphPosition, Replay, ReplayVersion } from '../../schemas/types.ts'
import { digestOf } from '../declared/projects/project-spec.ts'
import type { Steps } from '../log/steps.ts'
import { type PartKind, partKinds } from '../model/documents.ts'
import { type GraphDestination, type GraphWorld, positionsKey, structureOf } from '../model/graph.ts'
import type { ProjectDoc } from '../model/project.ts'
import { collectChanges, collectDeliveries, collectEvents, collectFirings } from './replay-firings.ts'

import { collectEvaluations, gapsOf, recompute } from './replay-gaps.ts'
import { collectRuns } from './replay-runs.ts'
import {
  type Collected,
  type Configuration,
  compareDrafts,
  type Draft,
  iso,
  joined,
  presentMoment,
  type Scope,
} from './replay-scope.ts'
import { startOf } from './replay-start.ts'

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

/* The graphs of a range: as it was at the start, and after each change. */

function* versionsOf(scope: Scope): Steps<ReplayVersion[]> {
  const put = positionsOf(scope)
  const versions: ReplayVersion[] = []
  for (const one of scope.configurations.all) {
    yield
    versions.push({
      change_set: one.set?.id ?? 0,
      at: iso(one.at),
      by: one.set?.actor ?? null,
      summary: one.set?.summary ?? '',
      graph: graphOf(scope, one, put),
    })
  }
  return versions
}

function graphOf(scope: Scope, one: Configuration, put: GraphPosition[]): ReplayVersion['graph'] {
  const { doc } = one
  const { nodes, edges } = structureOf(worldOf(scope, one))
  return {
    project: {
      id: scope.project.id,
      name: doc.name,
      status: doc.paused ? 'paused' : doc.draft ? 'draft' : 'active',
      version: one.set?.id ?? 0,
    },
    version: one.changeSet,
    at: iso(one.at),
    nodes,
    edges,
    positions: put.filter(({ node }) => nodes.some(({ id }) => id === node)),
    source_of_truth: 'instance',
  }
}

/** Where people put nodes, as it is now: no change-set has it, and what stays in its place is found again. */
function positionsOf({ ctx, project }: Scope): GraphPosition[] {
  const text = ctx.db
    .prepare<[string], string>('SELECT value FROM settings WHERE key = ?')
    .pluck()
    .get(positionsKey(project.id))
  return text === undefined ? [] : (JSON.parse(text) as GraphPosition[])
}

function worldOf(scope: Scope, one: Configuration): GraphWorld {
  const { doc, part } = one
  const others = otherProjects(scope, one)
  return {
    id: scope.project.id,
    doc,
    part,
    sharedWith: (kind, name) =>
      others
        .filter((other) => other.doc.uses[kind]?.[name])
        .map(({ id, doc: { name: called } }) => ({ id, name: called })),
    ownership: ownershipOf(one),
    destinations: destinationsAt(scope, one),
  }
}

function otherProjects(
  { ctx, project, configurations }: Scope,
  { changeSet }: Configuration,
): { id: string; doc: ProjectDoc }[] {
  const ids = ctx.db
    .prepare<[string], string>('SELECT id FROM projects WHERE id <> ? ORDER BY id')
    .pluck()
    .all(project.id)
  return ids.flatMap((id) => {
    const doc = configurations.documentAt('project', id, changeSet)
    return doc ? [{ id, doc }] : []
  })
}

/** Planned objects that a hand had edited or deleted by then. */
function ownershipOf({ doc, part }: Configuration): GraphWorld['ownership'] {
  return partKinds.flatMap((kind: PartKind) =>
    Object.values(doc.plan?.[kind] ?? {}).flatMap(({ name, digest, adopted }) => {
      const found = part(kind, name)
      const state = !found ? 'missing' : adopted || digestOf(found) === digest ? null : 'customized'
      return state ? [{ kind, name, state } as const] : []
    }),
  )
}

interface SubscriptionFacts {
  id: string
  trigger_name: string | null
  masked: string
  disabled_at: number | null
}

function destinationsAt({ ctx, project }: Scope, { at, doc }: Configuration): GraphDestination[] {
  return ctx.db
    .prepare<[number, number, string, string], SubscriptionFacts>(
      `SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE created_at <= ? AND (removed_at IS NULL OR removed_at > ?)
         AND (project = ? OR (project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))))
       ORDER BY created_at, id`,
    )
    .all(at, at, project.id, JSON.stringify(Object.keys(doc.uses.trigger ?? {})))
    .map(({ id, trigger_name, masked, disabled_at }) => ({
      id: `webhook:${id}`,
      name: masked,
      trigger: trigger_name,
      disabled: disabled_at !== null && disabled_at <= at,
    }))
}
