/** 18.4: what a machine declares as an effect is carried out from what the machine returns. */
import { describe, expect, it } from 'vitest'
import { handoffEffects } from '../../engine/agents/runs/finishing.ts'
import { INCIDENT_EFFECTS } from '../../engine/incidents/steps.ts'
import { effects as deliveryEffects } from '../../engine/outbox/rows.ts'
import { type Kind, lifecycles } from '../../machines/index.ts'

const EXECUTORS: Partial<Record<Kind, object>> = {
  delivery: deliveryEffects,
  handoff: handoffEffects,
  incident: INCIDENT_EFFECTS,
}

/**
 * Machines whose effects are yet done by who sends the event, and not from what is returned: only taken from. What
 * runs and drafts declare is the work of their loops, which begin with the state; a firing is delivered with it.
 */
const BESIDE: Partial<Record<Kind, string[]>> = {
  run: ['call_model', 'end_run', 'resume_run'],
  draft: [
    ...['check_plan', 'create_project', 'fix_plan', 'look_at_source', 'note_failure', 'read_instance'],
    ...['stop_planning', 'write_plan'],
  ],
  firing: ['deliver'],
}

describe.each(Object.keys(lifecycles) as Kind[])('the machine of a %s', (kind) => {
  it('declares no effect that nothing carries out', () => {
    const { actions } = lifecycles[kind].machine.implementations
    const declared = Object.keys(actions).sort()
    expect(declared).toEqual((BESIDE[kind] ?? Object.keys(EXECUTORS[kind] ?? {})).sort())
  })
})
