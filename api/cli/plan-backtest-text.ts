/** What a change would have done, on a terminal: beside the plan, trigger by trigger. */

import {
  changeWords,
  daysWords,
  dollarWords,
  labelName,
  REASON_WORDS,
  rangeWords,
  suppressedWords,
} from '../../schemas/backtest-words.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { PlanBacktest, PlanBacktestAgent, PlanBacktestTrigger } from '../../schemas/types.ts'
import { sparkline } from './backtest-text.ts'
import { type Column, escapeLine, type Io, paint, table } from './terminal.ts'

type Painter = Pick<Io, 'colour'>

const KEYS = 10
const LISTED = 10
const LABELS = 10

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
  const span = `${from} to ${to} (${daysWords(days)}), ${countWords(scanned, 'event')} looked at`
  const rest = unreached === 0 ? '' : `; ${countWords(unreached, 'other trigger')} as before`
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
  const head = `${paint(io, 'bold', `Labels of ${escapeLine(source)}`)}: ${countWords(events, 'event')} labelled anew\n`
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
    not_stored ? `  ${countWords(not_stored, 'event')} would not be stored\n` : '',
    unreadable
      ? `  Not known: ${countWords(unreadable, 'event')} whose payload alone does not give them; their labels are taken as they are\n`
      : '',
  ].join('')
}

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

const moreText = (n: number, noun: string): string => (n > 0 ? `and ${countWords(n, `more ${noun}`)}\n` : '')

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')
