/** Changes of what is declared, and parts that were paused or resumed. */
import type { ChangeKind } from '../../../changes/declared.ts'
import { partKinds } from '../../../changes/declared.ts'
import { nodeId } from '../../ids.ts'
import { setsBetween } from '../configurations.ts'
import { type Collected, joined, wholeInstants } from '../cut.ts'
import { type Draft, draft } from '../moment.ts'
import type { Scope } from '../scope.ts'

export function collectChanges(scope: Scope): Collected {
  return joined([changeSets(scope), states(scope)])
}

function changeSets({ ctx, project, configurations, from, to, most }: Scope): Collected {
  const { rows, ...whole } = wholeInstants(
    setsBetween(ctx.db, project.id, from, to, most + 1),
    most,
    ({ at }) => at,
  )
  const known = new Set(
    partKinds.flatMap((kind) => configurations.names(kind).map((name) => `${kind}:${name}`)),
  )
  const objects = ctx.db.prepare<[number], { kind: ChangeKind; name: string }>(
    'SELECT kind, name FROM changes WHERE change_set = ? ORDER BY seq LIMIT 500',
  )
  const drafts = rows.map((set) =>
    draft({
      at: set.at,
      rank: 'change',
      id: String(set.id).padStart(12, '0'),
      kind: 'change',
      phase: set.origin,
      // An open instance knows nobody's name.
      title: set.actor_id === 'open' ? set.summary : `${set.actor}: ${set.summary}`,
      // One change-set may touch several projects.
      nodes: objects
        .all(set.id)
        .flatMap(({ kind, name }) =>
          kind === 'project' || !known.has(`${kind}:${name}`) ? [] : nodeId(kind, name),
        ),
      change_set: set.id,
    }),
  )
  return { drafts, ...whole }
}

interface StateRow {
  id: number
  at: number
  kind: string
  object: string
  event: string
  actor: string
}

/** The states of each part are few, and found by its name. */
export const STATES = `SELECT id, at, kind, object, event, actor FROM history
  WHERE kind = ? AND object = ? AND event IN ('pause', 'resume') AND at >= ? AND at <= ? ORDER BY id LIMIT ?`

function states({ ctx, configurations, project, from, to, most }: Scope): Collected {
  const statement = ctx.db.prepare<[string, string, number, number, number], StateRow>(STATES)
  const names = [...new Set([project.name, ...configurations.all.map(({ doc }) => doc.name)])]
  const objects = [
    ...partKinds.flatMap((kind) => configurations.names(kind).map((name) => [kind, name] as const)),
    ...names.map((name) => ['project', name] as const),
  ]
  return joined(
    objects.map(([kind, name]) => {
      const found = statement.all(kind, name, from, to, most + 1)
      const { rows, ...whole } = wholeInstants(found, most, ({ at }) => at)
      return { drafts: rows.map(stateDraft), ...whole }
    }),
  )
}

function stateDraft({ id, at, kind, object, event, actor }: StateRow): Draft {
  const done = event === 'pause' ? 'paused' : 'resumed'
  // The id of a credential goes before its name.
  const by = actor.slice(actor.indexOf(' ') + 1)
  return draft({
    at,
    rank: 'state',
    id: String(id).padStart(12, '0'),
    kind: 'state',
    phase: done,
    title: `${kind.replace('_', ' ')} ${object} ${done} by ${by}`,
    nodes: kind === 'project' ? [] : [nodeId(kind as 'trigger', object)],
  })
}
