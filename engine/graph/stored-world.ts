/** What is declared now as the world of a graph. */
import type { PartKind } from '../changes/declared.ts'
import type { Declared } from '../declared/declared.ts'
import type { Database } from '../store/handle.ts'
import { type GraphStructure, structureOf } from './structure.ts'
import type { GraphDestination, GraphWorld } from './world.ts'

/** Projects whose structure is kept. */
const KEPT = 50

interface SubscriptionRow {
  id: string
  trigger_name: string | null
  masked: string
  disabled_at: number | null
}

/**
 * The structure of projects as they are stored. It is asked every two seconds, and kept until something
 * declared or subscribed is another: all else that it is made of changes with a change-set. Not inside a
 * rehearsal, whose change-set gives its number back.
 */
export function storedStructures(declared: Declared): (id: string) => GraphStructure {
  const kept = new Map<string, { by: string; structure: GraphStructure }>()
  return (id) => {
    const doc = declared.kinds.project.find(id)!.doc
    const told = destinationsOf(declared.store.db, id, Object.keys(doc.uses.trigger ?? {}))
    const by = JSON.stringify([declared.changes.version(), told])
    const known = kept.get(id)
    if (known?.by === by) return known.structure
    const structure = structureOf(storedWorld(declared, id))
    kept.delete(id)
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value!)
    kept.set(id, { by, structure })
    return structure
  }
}

/** @param id of a live project; inside a rehearsal, as the draft would have it */
export function storedWorld({ kinds, projects, store }: Declared, id: string): GraphWorld {
  const doc = kinds.project.find(id)!.doc
  const names = new Map(projects.all().map((row) => [row.id, row.name]))
  return {
    id,
    doc,
    part: (kind, name) => kinds[kind].find(name)?.doc,
    sharedWith: (kind, name) =>
      projects
        .users(kind, name)
        .filter((user) => user !== id)
        .map((user) => ({ id: user, name: names.get(user) ?? user })),
    ownership: projects
      .plannedOf(id)
      .flatMap(({ kind, name, state }) =>
        state === 'customized' || state === 'missing' ? [{ kind: kind as PartKind, name, state }] : [],
      ),
    destinations: destinationsOf(store.db, id, Object.keys(doc.uses.trigger ?? {})),
  }
}

/** Addresses subscribed by the project, and by nobody's project to one of its triggers. */
function destinationsOf(db: Database, project: string, triggers: readonly string[]): GraphDestination[] {
  return db
    .prepare<[string, string], SubscriptionRow>(
      `SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE removed_at IS NULL AND project = ?
       UNION ALL
       SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE removed_at IS NULL AND project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))`,
    )
    .all(project, JSON.stringify(triggers))
    .filter(({ trigger_name: trigger }) => trigger === null || triggers.includes(trigger))
    .map(({ id, trigger_name: trigger, masked, disabled_at }) => ({
      id: `webhook:${id}`,
      name: masked,
      trigger,
      disabled: disabled_at !== null,
    }))
}
