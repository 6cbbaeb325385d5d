/** What is typed as a trigger: what is evaluated, and what is stored; what the form does not show is kept. */
import type {
  Condition,
  EventCondition,
  Filter,
  Storm,
  Trigger,
  TriggerDefinition,
  TriggerWrite,
} from '../../schemas/types.ts'
import { isSchedule } from '../../schemas/words.ts'
import {
  conditionDraft,
  countsEvents,
  type FilterRow,
  NEW_TRIGGER,
  rowOf,
  stormDraft,
  type TriggerDraft,
} from './trigger-draft.ts'
import { faultsOf } from './trigger-faults.ts'

/** What is evaluated, as far as it is filled in. @param kept the stored trigger, for what the form does not show */
export function definitionOf(draft: TriggerDraft, kept?: Trigger): TriggerDefinition {
  const storm = stormOf(draft, kept)
  return {
    sources: draft.sources,
    condition:
      kept && shows(conditionDraft(kept.condition), draft)
        ? kept.condition
        : conditionOf(draft, kept?.condition),
    filters:
      kept?.filters && shows({ filters: kept.filters.map(rowOf) }, draft)
        ? kept.filters
        : filtersOf(draft.filters),
    key_field: draft.key_field.trim(),
    ...(draft.joined && draft.kind !== 'schedule' ? { joined: true } : {}),
    cooldown: draft.cooldown.trim() || NEW_TRIGGER.cooldown,
    ...(storm ? { storm } : {}),
    max_late: draft.max_late.trim() || NEW_TRIGGER.max_late,
  } as TriggerDefinition
}

/** Whether the form still says this: what was not edited is written as it is stored, letter for letter. */
const shows = (said: Partial<TriggerDraft>, draft: TriggerDraft): boolean =>
  Object.entries(said).every(
    ([field, value]) => JSON.stringify(draft[field as keyof TriggerDraft]) === JSON.stringify(value),
  )

/** What is stored now, to compare a draft with. */
export function storedDefinition(trigger: Trigger): TriggerDefinition {
  const { sources, condition, filters, key_field, joined, cooldown, storm, max_late } = trigger
  return {
    ...{ sources, condition, filters, key_field },
    ...(joined ? { joined } : {}),
    cooldown,
    ...(storm ? { storm } : {}),
    max_late,
  }
}

/** The draft as the API takes it. */
export function writeOf(draft: TriggerDraft, kept?: Trigger): TriggerWrite {
  const kind = draft.emit_kind.trim()
  return {
    name: draft.name.trim(),
    ...definitionOf(draft, kept),
    emit: {
      ...(kind ? { kind } : {}),
      context_window: draft.context_window.trim() || NEW_TRIGGER.context_window,
    },
    ...severityOf(draft, kept),
    description: draft.description.trim(),
  } as TriggerWrite
}

/** Whom it notifies, as the API takes it with the trigger; nothing where nothing was chosen. */
export function notifyOf({ wakes, addresses }: TriggerDraft): Pick<TriggerWrite, 'notify'> {
  if (wakes === null && addresses.length === 0) return {}
  return {
    notify: { ...(wakes === null ? {} : { agents: wakes }), ...(addresses.length ? { addresses } : {}) },
  }
}

/** What becomes a schedule, or is one no more, takes the default again, unless another severity was chosen. */
function severityOf(
  { kind, severity, severity_field }: TriggerDraft,
  kept?: Trigger,
): Pick<TriggerWrite, 'severity' | 'severity_field'> {
  const isOther = kept !== undefined && isSchedule(kept.condition) !== (kind === 'schedule')
  const field = severity_field.trim()
  return {
    ...(severity === '' || (isOther && severity === kept.severity) ? {} : { severity }),
    ...(field ? { severity_field: field } : {}),
  }
}

/** @param kept the stored condition: a summary with more than the form shows stays */
function conditionOf(draft: TriggerDraft, kept?: Condition): Condition {
  const group = draft.group_by.length ? { group_by: draft.group_by } : {}
  switch (draft.kind) {
    case 'event':
      return { event: 'any', ...group, ...overOf(draft) }
    case 'silence':
      return { absent_for: draft.absent_for.trim(), ...group }
    case 'change': {
      const { change_of, from, to } = draft
      return { change_of: change_of.trim(), ...(from ? { from } : {}), ...(to ? { to } : {}), ...group }
    }
    case 'sequence': {
      const sequence = draft.steps.map(({ name, filters }) => ({
        ...(name.trim() ? { name: name.trim() } : {}),
        filters: filtersOf(filters),
      }))
      return { sequence, within: draft.within.trim(), ...group } as Condition
    }
    case 'schedule':
      return scheduleOf(draft, kept)
    case 'threshold':
      return {
        aggregate: draft.aggregate,
        ...(!countsEvents(draft.aggregate) && draft.field.trim() ? { field: draft.field.trim() } : {}),
        predicate: predicateOf(draft),
        window: draft.window.trim(),
        ...group,
        ...resolveOf(draft),
      }
  }
}

const unitOf = ({ aggregate, unit }: TriggerDraft): string => (aggregate === 'rate' ? `/${unit}` : '')

export const predicateOf = (draft: TriggerDraft): string => `${draft.op} ${draft.number}${unitOf(draft)}`

function overOf({ over_filters, over_equal }: TriggerDraft): Pick<EventCondition, 'resolve'> {
  const filters = filtersOf(over_filters)
  return filters.length === 0
    ? {}
    : {
        resolve: {
          filters: filters as [Filter, ...Filter[]],
          ...(over_equal.length ? { equal: over_equal } : {}),
        },
      }
}

function resolveOf(draft: TriggerDraft): { resolve?: true | string } {
  if (draft.resolve === 'no') return {}
  if (draft.resolve === 'over') return { resolve: true }
  return { resolve: `${draft.resolve_op} ${draft.resolve_number}${unitOf(draft)}` }
}

function scheduleOf(draft: TriggerDraft, kept?: Condition): Condition {
  const before = kept && 'summary' in kept ? kept.summary : undefined
  const summary =
    draft.summary === 'plain' ? undefined : draft.summary === 'rich' ? ('rich' as const) : before
  const told = {
    ...(draft.summary_by.length ? { summary_by: draft.summary_by } : {}),
    ...(summary === undefined ? {} : { summary }),
  }
  if (draft.timing === 'every') return { every: draft.every.trim(), ...told }
  const zone = draft.time_zone.trim()
  return { cron: draft.cron.trim(), ...(zone ? { time_zone: zone } : {}), ...told }
}

function stormOf(draft: TriggerDraft, kept?: Trigger): Storm | undefined {
  const same = kept && isSchedule(kept.condition) === (draft.kind === 'schedule')
  if (same && shows(stormDraft(kept.storm), draft)) return kept.storm
  if (draft.kind === 'schedule') return undefined
  const { quiet, max_wait, min_count, limits } = draft
  const storm = {
    ...(quiet.trim() ? { quiet: quiet.trim() } : {}),
    ...(max_wait.trim() ? { max_wait: max_wait.trim() } : {}),
    ...(min_count === '' ? {} : { min_count: Number(min_count) }),
    ...(limits.length
      ? { limits: limits.map(({ max, per }) => ({ max: Number(max), per: per.trim() })) }
      : {}),
  } as Storm
  return Object.keys(storm).length ? storm : undefined
}

function filtersOf(rows: readonly FilterRow[]): Filter[] {
  return rows.filter(({ field }) => field.trim() !== '').map(filterOf)
}

function filterOf({ field, op, value, values, kept }: FilterRow): Filter {
  const at = field.trim()
  if (op === 'missing') return { field: at, op: 'exists', value: false }
  if (op === 'exists') return { field: at, op, ...(kept === true ? { value: true } : {}) }
  if (op === 'in') {
    const same = Array.isArray(kept) && kept.map(String).join('\n') === values.join('\n')
    return { field: at, op, value: same ? kept : values.map(typed) }
  }
  if (kept !== undefined && !Array.isArray(kept) && String(kept) === value)
    return { field: at, op, value: kept }
  const isText = op === 'contains' || op === 'prefix' || op === 'regex'
  return { field: at, op, value: isText ? value : typed(value.trim()) }
}

/** A number where it reads back as typed; "007" and "1.10" stay text. */
function typed(value: string): string | number {
  return value !== '' && String(Number(value)) === value ? Number(value) : value
}

/** Whether there is enough to try it out: its name and what it does afterwards do not count. */
export const isComplete = (draft: TriggerDraft): boolean =>
  !Object.keys(faultsOf(draft)).some(
    (path) => path === 'sources' || path.startsWith('condition') || path.startsWith('filters'),
  )
