/** 18.4: what a machine declares as an effect is carried out from what the machine returns. */
import { describe, expect, it } from 'vitest'
import { turnEffects } from '../../engine/agents/ask/turns.ts'
import { handoffEffects, runEffects } from '../../engine/agents/runs/finishing.ts'
import { draftEffects } from '../../engine/declared/projects/follow.ts'
import { INCIDENT_EFFECTS } from '../../engine/incidents/steps.ts'
import { effects as deliveryEffects } from '../../engine/outbox/rows.ts'
import { firingEffects } from '../../engine/triggers/firing-writer.ts'
import { type Kind, lifecycles } from '../../machines/index.ts'

const EXECUTORS: Partial<Record<Kind, object>> = {
  ask_turn: turnEffects,
  delivery: deliveryEffects,
  draft: draftEffects,
  firing: firingEffects,
  handoff: handoffEffects,
  incident: INCIDENT_EFFECTS,
  run: runEffects,
}

describe.each(Object.keys(lifecycles) as Kind[])('the machine of a %s', (kind) => {
  it('declares no effect that nothing carries out', () => {
    const { actions } = lifecycles[kind].machine.implementations
    expect(Object.keys(actions).sort()).toEqual(Object.keys(EXECUTORS[kind] ?? {}).sort())
  })
})
