/** Triggers in plain words, for people who did not write them. */
import type { Condition, Filter, TriggerSpec } from '../../schemas/types.ts'
import { TRIGGER_DEFAULTS } from '../parts/trigger-spec.ts'

type Told = Pick<TriggerSpec, 'sources' | 'condition' | 'filters' | 'description' | 'cooldown' | 'key_field'>

/** "When the gateway answers with server errors", from the description or the condition. */
export function sentenceOf(trigger: Told): string {
  const { description, condition, sources, filters } = trigger
  if (description) return `When ${description}`
  if ('every' in condition) return `Every ${condition.every}, with a summary of ${list(sources)}`
  const where = filters?.length ? ` where ${filters.map(filterWords).join(' and ')}` : ''
  return `When ${conditionWords(condition)} on ${list(sources)}${where}`
}

/** "At most once every 5m per service". */
export function cooldownSentence({ condition, cooldown, key_field }: Told): string {
  if ('every' in condition) return `Once every ${condition.every}`
  return `At most once every ${cooldown ?? TRIGGER_DEFAULTS.cooldown} per ${key_field || 'entity'}`
}

function conditionWords(condition: Exclude<Condition, { every: string }>): string {
  const { aggregate, predicate, window, field } = condition
  const what = aggregate === 'count' ? 'the number of events' : `${aggregate} of ${field ?? 'events'}`
  return `${what} is ${predicateWords(predicate)} within ${window}`
}

function predicateWords(predicate: string): string {
  const [op, number] = predicate.split(' ')
  const words: Record<string, string> = {
    '>': 'above',
    '>=': 'at least',
    '<': 'below',
    '<=': 'at most',
    '==': 'exactly',
  }
  return `${words[op!] ?? op} ${number}`
}

function filterWords({ field, op, value }: Filter): string {
  const words: Record<Filter['op'], string> = {
    eq: 'is',
    neq: 'is not',
    contains: 'contains',
    gt: 'is above',
    gte: 'is at least',
    lt: 'is below',
    lte: 'is at most',
    in: 'is one of',
  }
  return `${field} ${words[op]} ${Array.isArray(value) ? value.join(', ') : String(value)}`
}

function list(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ')
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
