/** What triggers made of events that did not fire them, as it was recorded. */

import type { Steps } from '../../../timeline/steps.ts'
import type { EvaluationRow } from '../../../triggers/present.ts'
import type { Verdict } from '../../../triggers/types.ts'
import { nodeId } from '../../ids.ts'
import { type Collected, joined, wholeInstants } from '../cut.ts'
import { type Draft, draft } from '../moment.ts'
import { iso, type Scope, type TriggerRow, windowOfMoment } from '../scope.ts'

type Detail = Omit<Verdict, 'triggerId' | 'eventId' | 'at' | 'reason'>

export function* collectEvaluations(scope: Scope): Steps<Collected> {
  const all: Collected[] = []
  for (const trigger of scope.triggers) {
    yield
    all.push(ofTrigger(scope, trigger))
  }
  return joined(all)
}

function ofTrigger({ ctx, from, to, most, chain }: Scope, trigger: TriggerRow): Collected {
  if (chain && !chain.triggers.has(trigger.id)) return joined([])
  const found = ctx.db
    .prepare<[number, number, number, number], EvaluationRow>(EVALUATIONS)
    .all(trigger.id, from, to, most + 1)
  const { rows, ...whole } = wholeInstants(found, most, ({ at }) => at)
  const drafts = rows.flatMap((row) => {
    const detail = JSON.parse(row.detail) as Detail
    if (
      chain &&
      !(detail.key !== null && chain.keys.has(detail.key)) &&
      !isEvidence(chain.evidence, row.event_id)
    )
      return []
    return [
      evaluationDraft(trigger.name, {
        ...detail,
        id: String(row.id).padStart(16, '0'),
        at: row.at,
        reason: row.reason,
        eventId: row.event_id,
        dispatchId: row.dispatch_id,
        recomputed: false,
      }),
    ]
  })
  return { drafts, ...whole }
}

/** Firings tell themselves. */
export const EVALUATIONS = `SELECT id, trigger_id, trigger_name, event_id, at, reason, dispatch_id, detail
  FROM evaluations WHERE trigger_id = ? AND at >= ? AND at <= ? AND reason NOT IN ('fired', 'no_subscriber')
  ORDER BY at, id LIMIT ?`

const isEvidence = (evidence: readonly number[], id: number | null): boolean =>
  id !== null && evidence.includes(id)

export function evaluationDraft(
  trigger: string,
  given: Pick<
    Verdict,
    'at' | 'reason' | 'eventId' | 'key' | 'text' | 'value' | 'predicate' | 'window' | 'until'
  > & {
    id: string
    dispatchId: string | null
    recomputed: boolean
  },
): Draft {
  const { at, reason, eventId, key, value, until } = given
  const node = nodeId('trigger', trigger)
  return draft({
    at,
    rank: 'evaluation',
    id: given.id,
    kind: 'evaluation',
    phase: reason,
    title: `${trigger}: ${given.text}`,
    nodes: [node],
    event_id: eventId === null ? null : `evt_${eventId}`,
    dispatch_id: given.dispatchId,
    window: windowOfMoment(trigger, key, value, given.predicate, given.window),
    cooldown: reason === 'cooldown' && until !== null ? { node, key: key ?? '', until: iso(until) } : null,
    recomputed: given.recomputed,
  })
}
