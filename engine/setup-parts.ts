/** What guided setup needs of the rest of the engine: models to plan with, the way in, triggers, newest events. */
import type { IngestResult } from '../schemas/types.ts'
import type { Declared } from './declared/declared.ts'
import type { IngestCall, Row } from './engine.ts'
import type { SvcError } from './errors.ts'
import { type ProviderConfig, providerOf } from './models/config.ts'
import { type SetupCalls, setupCalls } from './setup/calls.ts'
import type { PlanningPort } from './setup/planning/port.ts'
import type { LiveTriggers } from './triggers/live.ts'

export function openSetup(parts: {
  declared: Declared
  modelConfig(): Promise<ProviderConfig>
  accept(call: IngestCall & { practice: true }): IngestResult | SvcError
  newest(source: string, limit: number): Row[]
  triggers: LiveTriggers
  secret: string
  onPending(): void
}): SetupCalls & PlanningPort {
  const { modelConfig, triggers, ...more } = parts
  return setupCalls({
    ...more,
    requireModel: async () => void providerOf(await modelConfig(), ''),
    definition: (name) => triggers.definition(name),
    practise: (definition, cause, of) => triggers.practise(definition, cause, of),
  })
}
