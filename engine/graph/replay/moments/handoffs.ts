/** Handoffs: who took over on which verdict, or why nobody did. */
import type { HandoffRow } from '../../../runs/queries.ts'
import { parseDuration } from '../../../timeline/duration.ts'
import { HANDOFF_COOLDOWN } from '../../../wiring/wires.ts'
import { edgeIds, nodeId } from '../../ids.ts'
import type { Configuration } from '../configurations.ts'
import type { Draft } from '../moment.ts'
import { iso, type Scope } from '../scope.ts'

const WHY: Record<string, string> = {
  refused_chain_limit: 'its chain has had three handoffs',
  refused_cooldown: 'it did so for the same too short a time ago',
  refused_target_busy: 'that one is at work on it',
}

/** @param of what a moment of the run that handed over has */
export function handoffDraft(scope: Scope, row: HandoffRow, of: Draft): Draft {
  const { from_agent, to_agent, verdict, entity, at, state } = row
  const why = WHY[state]
  const edge = edgeIds.handsOff(from_agent, verdict, to_agent)
  return {
    ...of,
    at,
    rank: 'handoff',
    id: row.id,
    kind: 'handoff',
    phase: why ? 'refused' : 'started',
    title: why
      ? `${from_agent} would hand ${entity} over to ${to_agent} on ${verdict}, and may not: ${why}`
      : `${from_agent} hands ${entity} over to ${to_agent} on ${verdict}`,
    nodes: [nodeId('agent', from_agent), nodeId('agent', to_agent)],
    edges: [edge],
    entity: { label: row.label, value: entity },
    run_id: row.to_run ?? row.from_run,
    cooldown: of.practice ? null : cooldownOf(scope, row, edge, state),
  }
}

/** The one it begins, or the one that was in its way. */
function cooldownOf(scope: Scope, row: HandoffRow, node: string, state: string): Draft['cooldown'] {
  if (state !== 'started' && state !== 'done' && state !== 'refused_cooldown') return null
  const wait = handoffWait(scope.configurations.at(row.at), row)
  const began = state === 'refused_cooldown' ? lastBefore(scope, row) : row.at
  if (wait === null || began === null) return null
  return { node, key: row.entity, until: iso(began + wait) }
}

/** Wait before the same handoff of the same entity, as the wiring then said, milliseconds; null: it says none. */
export function handoffWait(
  { doc }: Configuration,
  { from_agent, verdict, to_agent }: Pick<HandoffRow, 'from_agent' | 'verdict' | 'to_agent'>,
): number | null {
  const verdicts = Object.entries(doc.handoffs?.[from_agent] ?? {})
  const to = verdicts.find(([name]) => name.toLowerCase() === verdict.toLowerCase())?.[1][to_agent]
  return to ? parseDuration(to.cooldown ?? HANDOFF_COOLDOWN, 'cooldown') : null
}

function lastBefore({ ctx }: Scope, { from_agent, to_agent, label, entity, at }: HandoffRow): number | null {
  return (
    ctx.db
      .prepare<[string, string, string, string, number], number | null>(
        `SELECT max(at) FROM handoffs WHERE from_agent = ? AND to_agent = ? AND label = ? AND entity = ? AND at < ?
           AND state IN ('started', 'done')`,
      )
      .pluck()
      .get(from_agent, to_agent, label, entity, at) ?? null
  )
}
