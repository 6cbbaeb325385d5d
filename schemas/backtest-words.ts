/** What a change would have done, in words: the same in the command, in Markdown and in the console. */
import { ownField } from './fields-of.ts'
import { countWords, numberWords } from './plain-words.ts'
import type { PlanBacktestSide, PlanBacktestTrigger, WeeklyRange } from './types.ts'

/** What of a trigger changes. */
export const REASON_WORDS: Readonly<Record<PlanBacktestTrigger['change'], string>> = {
  created: 'new',
  changed: 'changed',
  deleted: 'deleted',
  source: 'sources change',
  wiring: 'wiring changes',
}

/** "12 firings before, 4 after: 2 added, 10 gone, 2 the same". */
export function changeWords({ before, after, added, gone, same }: PlanBacktestTrigger): string {
  if (before === null) return `${sideWords(after)} with the new trigger`
  if (after === null) return `${sideWords(before)} that would be gone`
  const whole = `${sideWords(before)} before, ${sideWords(after)} after`
  return added + gone === 0
    ? `${whole}: all the same`
    : `${whole}: ${added} added, ${gone} gone, ${same} the same`
}

function sideWords(side: PlanBacktestSide | null): string {
  const over = side?.resolved ? ` and ${numberWords(side.resolved)} resolved` : ''
  return `${countWords(side?.firings ?? 0, 'firing')}${over}`
}

const SUPPRESSED = [
  ['cooldown', 'within a cooldown'],
  ['active', 'fired and not over yet'],
  ['folded', 'gathered into bursts'],
  ['held', 'held back by limits'],
  ['dropped', 'bursts of too few events'],
  ['no_key', 'events without the entity key'],
  ['no_value', 'events without the field'],
  ['late', 'events that came too late'],
  ['errors', 'errors'],
] as const satisfies readonly (readonly [keyof PlanBacktestSide, string])[]

/** What did not fire, where there is any: "within a cooldown: 31 before, 4 after". */
export function suppressedWords(before: PlanBacktestSide | null, after: PlanBacktestSide | null): string[] {
  return SUPPRESSED.filter(([field]) => before?.[field] || after?.[field]).map(([field, words]) => {
    const [was, is] = [before?.[field] ?? 0, after?.[field] ?? 0].map(numberWords)
    if (before === null) return `${words}: ${is}`
    return after === null ? `${words}: ${was}` : `${words}: ${was} before, ${is} after`
  })
}

const LABEL_NAMES: Readonly<Record<string, string>> = {
  '@type': 'event type',
  '@time': 'event time',
  '@entity': 'entity key',
}

/** What a label is called; the service's own by their words. */
export const labelName = (label: string): string => ownField(LABEL_NAMES, label) ?? label

/** "12 (4 to 20)". */
export const rangeWords = ({ expected, low, high }: WeeklyRange): string =>
  `${numberWords(expected)} (${numberWords(low)} to ${numberWords(high)})`

/** The same of dollars; where nothing says what a run costs, that. */
export const dollarWords = (range: WeeklyRange | null): string =>
  range === null ? 'not known' : `$${cents(range.expected)} ($${cents(range.low)} to $${cents(range.high)})`

const cents = (usd: number): string =>
  usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** "7 days", "12 hours", "30 minutes". */
export function daysWords(days: number): string {
  if (days >= 2) return countWords(Math.round(days * 10) / 10, 'day')
  const hours = days * 24
  return hours >= 2 ? countWords(Math.round(hours), 'hour') : countWords(Math.round(hours * 60), 'minute')
}
