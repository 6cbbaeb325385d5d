/** The triggers of a plan. */

import type { Label, Plan, PlanWake, TriggerSpec } from '../../../schemas/types.ts'
import { isSchedule } from '../../../schemas/words.ts'
import { documentOf } from '../../changes/documents.ts'
import { checkName } from '../../declared/write.ts'
import { normaliseTrigger } from '../../parts/trigger-spec.ts'
import { turnKnobs } from '../plan/knobs.ts'
import { heeding, type Report, tellDuplicates } from './found.ts'
import type { SetupWorld } from './world.ts'

const COOLDOWN = '5m'
const OF_NUMBERS = ['sum', 'avg', 'max', 'min', 'any']

/** Only what is sent to these carries no label but those its source declares. */
const DECLARES_ALL = ['webhook', 'http_poll']

export function checkWakes(plan: Plan, world: SetupWorld, report: Report): PlanWake[] {
  if (plan.wakes.length === 0) report('wakes', 'nothing wakes anybody: add a trigger')
  tellDuplicates(report, 'wakes', plan.wakes)
  return plan.wakes.map((wake) => checkWake(withNumbers(wake), plan, world, report))
}

function withNumbers(wake: PlanWake): PlanWake {
  const { condition, cooldown } = wake
  const isOwnTime = 'every' in condition || 'cron' in condition
  return { ...wake, ...turnKnobs({ condition, cooldown: isOwnTime ? '' : cooldown || COOLDOWN }, wake.knobs) }
}

function checkWake(wake: PlanWake, plan: Plan, world: SetupWorld, report: Report): PlanWake {
  const where = `wakes.${wake.key}`
  heeding(report, where, () => checkName('trigger', wake.name))
  if (wake.sources.length === 0) report(where, 'it watches nothing: name a source of the plan')
  for (const source of wake.sources)
    if (!plan.watches.some(({ name }) => name === source))
      report(where, `source ${source} is not in the plan; add it under Watches`)
  const spec = heeding(report, where, () => normaliseTrigger(specOf(wake)))
  if (!spec) return wake
  tellNoNumber(wake, plan, world, report)
  return {
    ...wake,
    condition: { ...spec.condition },
    filters: spec.filters ?? [],
    cooldown: isSchedule(spec.condition) ? '' : wake.cooldown,
  }
}

/** What a trigger of the plan is, as it is declared. */
export function specOf(wake: PlanWake): TriggerSpec {
  const { sources, filters, key_field, condition, cooldown, window } = wake
  return {
    // An empty list is told by the plan's own rule, and would hide what else is wrong.
    sources: sources.length ? sources : ['none'],
    condition: documentOf('trigger', { condition }).condition,
    ...(filters.length ? { filters } : {}),
    ...(key_field ? { key_field } : {}),
    ...(cooldown ? { cooldown } : {}),
    ...(window ? { emit: { context_window: window } } : {}),
  }
}

/** An aggregate over a label that is no number would never trip. */
function tellNoNumber(
  { key, condition, sources }: PlanWake,
  plan: Plan,
  world: SetupWorld,
  report: Report,
): void {
  const field = condition.field
  if (typeof field !== 'string' || field.startsWith('payload.')) return
  if (!OF_NUMBERS.includes(String(condition.aggregate))) return
  const watched = plan.watches.filter(({ name }) => sources.includes(name))
  const labels = watched.flatMap(({ existing, name, config }) =>
    existing ? (world.source(name)?.labels ?? []) : ((config.labels ?? []) as Label[]),
  )
  const declared = labels.filter(({ name }) => name === field)
  if (declared.some(({ type }) => type === 'number')) return
  if (declared.length === 0 && !watched.every(({ connector }) => DECLARES_ALL.includes(connector))) return
  report(
    `wakes.${key}`,
    `condition.field ${field} must be a label of type number of a source it watches, or payload. and a path`,
  )
}
