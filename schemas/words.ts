/**
 * Triggers in plain words, for people who did not write them: the engine's answers and the console's
 * editor say the same sentence. Pure, and safe on half-filled drafts.
 */
import { durationWords } from './duration-words.ts'
import { listWords } from './plain-words.ts'
import type { Condition, Filter, Storm, TriggerSpec } from './types.ts'

export type Told = Pick<
  TriggerSpec,
  'sources' | 'condition' | 'filters' | 'description' | 'cooldown' | 'key_field' | 'storm'
>

/** Kinds of condition, each known by the field only it has. */
export const CONDITION_KINDS = {
  aggregate: 'aggregate',
  event: 'event',
  absence: 'absent_for',
  change: 'change_of',
  sequence: 'sequence',
  schedule: 'every',
  cron: 'cron',
} as const
export type ConditionKind = keyof typeof CONDITION_KINDS

/** The kind of a condition, by the field that only it has; null where it has none of them. */
export function conditionKind(condition: object): ConditionKind | null {
  const found = Object.entries(CONDITION_KINDS).find(([, field]) => Object.hasOwn(condition, field))
  return (found?.[0] as ConditionKind | undefined) ?? null
}

/** Whether the clock alone wakes it. */
export function isSchedule(
  condition: Condition,
): condition is Extract<Condition, { every: string } | { cron: string }> {
  return 'every' in condition || 'cron' in condition
}

/** What it does, such as "When the gateway answers with server errors", from its description or its condition. */
export function sentenceOf(trigger: Told): string {
  const { description, condition, sources, filters } = trigger
  if (description) return `When ${description}`
  const of = listWords(sources) || 'no source yet'
  if (isSchedule(condition)) return `${whenScheduled(condition)}, with a summary of ${of}`
  const where = filters?.length ? ` where ${filters.map(filterWords).join(' and ')}` : ''
  // After the filters: between them it reads as if they said when it is over.
  const again = 'event' in condition ? '' : 'and not again '
  const rearm = 'resolve' in condition && condition.resolve ? `, ${again}until it is over` : ''
  return `When ${conditionWords(condition, of)}${where}${rearm}`
}

const TITLE_MAX = 200
/** Alerts begin their text with their state, which an incident says by itself. */
export const STATE = /^(?:FIRING:|\[FIRING(?::\d+)?\])\s*/

/** Payloads of sources without a template for their text, which nobody reads in a line. */
const JSON_TEXT = /^[[{]\s*["{[]/

/**
 * What tripped a firing, in a line: the text of the event where one event does and its text is none of JSON, with how many
 * more came in the same burst; what changed; else the trigger in plain words.
 * @param tripped its reason, how many events it carries, and the text of the first; null: that is not there any more
 */
export function titleOf(
  trigger: Told,
  { reason, events, text }: { reason: string; events: number; text: string | null },
): string {
  const { condition } = trigger
  if ('change_of' in condition) return reason
  const said = 'event' in condition ? (text ?? '').replace(/\s+/g, ' ').trim().replace(STATE, '') : ''
  if (!said || JSON_TEXT.test(said)) return sentenceOf(trigger)
  const characters = [...said]
  const shown = characters.length > TITLE_MAX ? `${characters.slice(0, TITLE_MAX - 1).join('')}…` : said
  return events > 1 ? `${shown} and ${(events - 1).toLocaleString('en')} more` : shown
}

/** How often at most, such as "At most once every 5 min per service". */
export function cooldownSentence({ condition, cooldown, key_field, storm }: Told): string {
  if (isSchedule(condition)) return `Once ${whenScheduled(condition).toLowerCase()}`
  const group = 'group_by' in condition ? condition.group_by : undefined
  const per = group?.join(' and ').replaceAll('key_value', 'entity') || key_field || 'entity'
  const often = `At most once every ${durationWords(cooldown ?? '5m')} per ${per}`
  return [often, ...(storm ? stormWords(storm) : [])].join('; ')
}

/** What it does with a burst, a phrase each. */
export function stormWords({ quiet, max_wait, min_count, limits }: Storm): string[] {
  const until = quiet
    ? `until nothing comes for ${durationWords(quiet)}${max_wait ? `, ${durationWords(max_wait)} at most` : ''}`
    : max_wait && `for ${durationWords(max_wait)}`
  return [
    ...(until ? [`a burst is gathered ${until}`] : []),
    ...(min_count ? [`fewer than ${min_count} events are let pass`] : []),
    ...(limits ?? []).map(({ max, per }) => `no more than ${max} in ${durationWords(per)}`),
  ]
}

function whenScheduled(condition: { every: string } | { cron: string; time_zone?: string }): string {
  if ('every' in condition) return `Every ${durationWords(condition.every)}`
  return `At ${condition.cron} (${condition.time_zone ?? 'UTC'})`
}

function conditionWords(
  condition: Exclude<Condition, { every: string } | { cron: string }>,
  sources: string,
): string {
  if ('event' in condition) return `an event arrives on ${sources}`
  if ('absent_for' in condition)
    return `nothing arrives on ${sources} for ${durationWords(condition.absent_for)}, after there was something`
  if ('change_of' in condition) {
    const { change_of, from, to } = condition
    return `${change_of} changes${from === undefined ? '' : ` from ${from}`}${to === undefined ? '' : ` to ${to}`} on ${sources}`
  }
  if ('sequence' in condition) {
    const steps = condition.sequence.map(
      ({ name, filters }) => name || filters.map(filterWords).join(' and '),
    )
    return `${steps.join(', then ')} within ${durationWords(condition.within)} on ${sources}`
  }
  const { predicate, window } = condition
  return `${aggregateWords(condition)} is ${predicateWords(predicate)} within ${durationWords(window)} on ${sources}`
}

function aggregateWords({ aggregate, field }: { aggregate: string; field?: string }): string {
  if (aggregate === 'count') return 'the number of events'
  if (aggregate === 'rate') return 'the rate of events'
  if (aggregate === 'distinct') return `the number of different ${field || 'values'}`
  return `${aggregate} of ${field || 'events'}`
}

const COMPARISONS: Record<string, string> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '==': 'exactly',
}

/** "> 5" as "above 5". */
export function predicateWords(predicate: string): string {
  const [, op = '', number = ''] = /^(>=|<=|==|>|<) ?(.*)$/.exec(predicate) ?? []
  return `${COMPARISONS[op] ?? op} ${number.replace('/', ' a ').replace(/ a ([smh])$/, (_, unit: string) => ` a ${UNITS[unit]}`)}`.trim()
}

const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour' }

/** Operators of filters, in the order to offer them. */
export const FILTER_WORDS: Record<Filter['op'], string> = {
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  contains: 'contains',
  prefix: 'begins with',
  regex: 'matches',
  exists: 'is there',
  gt: 'is above',
  gte: 'is at least',
  lt: 'is below',
  lte: 'is at most',
}

/** A filter, such as "status is at least 500". */
export function filterWords({ field, op, value }: Filter): string {
  if (op === 'exists') return value === false ? `${field} is not there` : `${field} is there`
  return `${field} ${FILTER_WORDS[op]} ${Array.isArray(value) ? value.join(', ') : String(value ?? '')}`
}
