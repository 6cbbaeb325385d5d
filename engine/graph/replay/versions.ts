/** The graphs of a range: as it was at the start, and after each change. */
import type { GraphPosition, ReplayVersion } from '../../../schemas/types.ts'
import { type PartKind, partKinds } from '../../changes/declared.ts'
import { digestOf } from '../../projects/planned-digest.ts'
import type { Steps } from '../../timeline/steps.ts'
import type { ProjectDoc } from '../../wiring/project-doc.ts'
import { positionsKey } from '../positions.ts'
import { structureOf } from '../structure.ts'
import type { GraphDestination, GraphWorld } from '../world.ts'
import type { Configuration } from './configurations.ts'
import { iso, type Scope } from './scope.ts'

export function* versionsOf(scope: Scope): Steps<ReplayVersion[]> {
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
