/** What models answer in tests of runs, and what is read of a tape. */
import type { Step, StepData } from '../../../../engine/agents/runs/types.ts'
import type { RunDetail } from '../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'

export const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }
export const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.', ...more } }],
})
export const look: ScriptedReply = {
  calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }],
}

export const stepsOf = <K extends keyof StepData>(run: RunDetail, kind: K): StepData[K][] =>
  (run.steps as unknown as Step[]).filter((step) => step.kind === kind).map(({ data }) => data as StepData[K])
