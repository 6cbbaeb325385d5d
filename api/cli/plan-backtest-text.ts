/** What a change would have done, on a terminal: beside the plan, trigger by trigger. */
import type {
  PlanBacktest,
  PlanBacktestAgent,
  PlanBacktestSide,
  PlanBacktestTrigger,
  WeeklyRange,
} from '../../schemas/types.ts'
import { sparkline } from './backtest-text.ts'
import { type Column, escapeLine, type Io, paint, table } from './terminal.ts'

type Painter = Pick<Io, 'colour'>

const KEYS = 10
const LISTED = 10
const LABELS = 10

/** What changed of a trigger, in words. */
export const REASON_WORDS: Readonly<Record<PlanBacktestTrigger['change'], string>> = {
  created: 'new',
  changed: 'changed',
  deleted: 'deleted',
  source: 'its sources change',
  wiring: 'its wiring changes',
}

/** The section of a plan. */
export function planBacktestText(io: Painter, backtest: PlanBacktest): string {
  const { triggers, labels, agents, notes } = backtest
  const parts = [
    headingOf(io, backtest),
    ...triggers.map((trigger) => triggerText(io, backtest, trigger)),
    ...labels.map((of) => labelsText(io, of)),
    agentsText(io, agents),
    notes.map((note) => `Not known: ${escapeLine(note)}\n`).join(''),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function headingOf(io: Painter, { from, to, days, scanned, triggers, unreached }: PlanBacktest): string {
  const span = `${from} to ${to} (${count(days, 'day')}), ${count(scanned, 'event')} looked at`
  const rest = unreached === 0 ? '' : `; ${count(unreached, 'other trigger')} as before`
  const none = triggers.length === 0 ? 'no trigger fires otherwise\n' : ''
  return `${paint(io, 'bold', 'Backtest')}: what this would have done\n${span}${rest}\n${none}`
}

function triggerText(io: Painter, { bucket }: PlanBacktest, trigger: PlanBacktestTrigger): string {
  const { before, after, buckets, keys, key_count, list, notes } = trigger
  const head = `${paint(io, 'bold', escapeLine(trigger.trigger))} (${REASON_WORDS[trigger.change]}): ${changeWords(trigger)}\n`
  const max = Math.max(0, ...buckets.flatMap((one) => [one.before, one.after]))
  const line = (side: 'before' | 'after') =>
    trigger[side] === null
      ? ''
      : `  ${side.padEnd(6)}  ${sparkline(
          buckets.map((one) => one[side]),
          Math.max(1, max),
        )}\n`
  const chart = max === 0 ? '' : `${line('before')}${line('after')}  at most ${max} in ${bucket}\n`
  const suppressed = suppressedWords(before, after)
  const differing = list.filter(({ is }) => is !== 'same')
  return [
    `${head}  ${escapeLine(trigger.sentence)}\n${chart}`,
    suppressed.map((words) => `  ${words}\n`).join(''),
    max === 0 ? '' : indented(keysTable(io, keys, key_count)),
    differing.length === 0 ? '' : indented(listTable(io, differing, trigger.added + trigger.gone)),
    notes.map((note) => `  Not known: ${escapeLine(note)}\n`).join(''),
  ].join('')
}

/** "12 firings before, 4 after: 2 added, 10 gone, 2 the same". */
export function changeWords({ before, after, added, gone, same }: PlanBacktestTrigger): string {
  const of = (side: PlanBacktestSide | null) =>
    side === null
      ? 'none'
      : `${count(side.firings, 'firing')}${side.resolved ? ` and ${side.resolved} over` : ''}`
  if (before === null) return `${of(after)} there would have been`
  if (after === null) return `${of(before)} there would not have been`
  return `${of(before)} before, ${of(after)} after: ${added} added, ${gone} gone, ${same} the same`
}

const SUPPRESSED = [
  ['cooldown', 'in a cooldown'],
  ['active', 'fired and not over yet'],
  ['folded', 'gathered into bursts'],
  ['held', 'held back by limits'],
  ['dropped', 'bursts of too few events'],
  ['no_key', 'events without the label that is the key'],
  ['no_value', 'events without the field that is looked at'],
  ['late', 'events that came too late'],
  ['errors', 'errors'],
] as const satisfies readonly (readonly [keyof PlanBacktestSide, string])[]

/** What did not fire, where there is any: "in a cooldown: 31 before, 4 after". */
export function suppressedWords(before: PlanBacktestSide | null, after: PlanBacktestSide | null): string[] {
  return SUPPRESSED.filter(([field]) => before?.[field] || after?.[field]).map(([field, words]) => {
    if (before === null) return `${words}: ${number(after![field])}`
    if (after === null) return `${words}: ${number(before[field])} before`
    return `${words}: ${number(before[field])} before, ${number(after[field])} after`
  })
}

function keysTable(io: Painter, keys: PlanBacktestTrigger['keys'], all: number): string {
  const columns: Column<(typeof keys)[number]>[] = [
    { title: 'KEY', cell: ({ key }) => key },
    { title: 'BEFORE', cell: ({ before }) => String(before) },
    { title: 'AFTER', cell: ({ after }) => String(after) },
  ]
  return table(io, columns, keys.slice(0, KEYS)) + moreText(all - Math.min(KEYS, keys.length), 'key')
}

function listTable(io: Painter, list: PlanBacktestTrigger['list'], all: number): string {
  const columns: Column<(typeof list)[number]>[] = [
    {
      title: 'NEWEST',
      cell: ({ is }) => (is === 'added' ? '+ added' : '- gone'),
      style: ({ is }) => (is === 'added' ? 'green' : 'red'),
    },
    { title: 'FIRED', cell: ({ at }) => at },
    { title: 'KEY', cell: ({ key }) => key },
    {
      title: 'VALUE',
      cell: ({ value, resolved }) => (resolved ? 'over' : value === null ? '' : String(value)),
    },
  ]
  return table(io, columns, list.slice(0, LISTED)) + moreText(all - Math.min(LISTED, list.length), 'firing')
}

function labelsText(
  io: Painter,
  { source, events, labels, not_stored, unreadable }: PlanBacktest['labels'][number],
): string {
  const head = `${paint(io, 'bold', `Labels of ${escapeLine(source)}`)}: ${count(events, 'event')} labelled anew\n`
  const columns: Column<(typeof labels)[number]>[] = [
    { title: 'LABEL', cell: ({ label }) => labelName(label) },
    { title: 'LOST', cell: ({ lost }) => String(lost) },
    { title: 'GAINED', cell: ({ gained }) => String(gained) },
    { title: 'CHANGED', cell: ({ changed }) => String(changed) },
    {
      title: 'SUCH AS',
      cell: ({ examples: [first] }) =>
        first ? `${first.from ?? 'none'} → ${first.to ?? 'none'} (${first.event})` : '',
    },
  ]
  return [
    head,
    labels.length
      ? indented(table(io, columns, labels.slice(0, LABELS)) + moreText(labels.length - LABELS, 'label'))
      : '  no label differs\n',
    not_stored ? `  ${count(not_stored, 'event')} would not be stored\n` : '',
    unreadable
      ? `  Not known: ${count(unreadable, 'event')} whose payload alone does not give them; their labels are taken as they are\n`
      : '',
  ].join('')
}

const LABEL_NAMES: Readonly<Record<string, string>> = {
  '@type': 'event type',
  '@time': 'event time',
  '@entity': 'entity',
}

/** What a label is called, the service's own by their words. */
export const labelName = (label: string): string => LABEL_NAMES[label] ?? label

function agentsText(io: Painter, agents: readonly PlanBacktestAgent[]): string {
  if (agents.length === 0) return ''
  const columns: Column<PlanBacktestAgent>[] = [
    { title: 'AGENT', cell: ({ agent }) => agent },
    { title: 'RUNS A WEEK', cell: ({ runs_before }) => rangeWords(runs_before) },
    { title: 'AFTER', cell: ({ runs_after }) => rangeWords(runs_after) },
    { title: 'DOLLARS A WEEK', cell: ({ usd_before }) => dollarWords(usd_before) },
    { title: 'AFTER', cell: ({ usd_after }) => dollarWords(usd_after) },
  ]
  const bases = agents.map(({ agent, basis }) => `  ${escapeLine(agent)}: ${escapeLine(basis)}\n`).join('')
  return `${table(io, columns, agents)}${bases}`
}

/** "12 (4 to 20)". */
export const rangeWords = ({ expected, low, high }: WeeklyRange): string =>
  `${number(expected)} (${number(low)} to ${number(high)})`

/** The same of dollars; what is not known is said. */
export const dollarWords = (range: WeeklyRange | null): string =>
  range === null ? 'not known' : `$${cents(range.expected)} ($${cents(range.low)} to $${cents(range.high)})`

const cents = (usd: number): string =>
  usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const number = (value: number): string => value.toLocaleString('en')

/** "1 event", "1,200 events". */
export const count = (n: number, noun: string): string => `${number(n)} ${noun}${n === 1 ? '' : 's'}`

const moreText = (n: number, noun: string): string => (n > 0 ? `and ${count(n, `more ${noun}`)}\n` : '')

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')
