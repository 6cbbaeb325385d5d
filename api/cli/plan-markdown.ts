/**
 * A plan as Markdown for a pull request: short, its details folded. Charts are rows of block characters in a code
 * block: GitHub draws Mermaid in comments, but not in mails or on phones, where these look the same as everywhere.
 */

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
import type { ChangePlan, PlanBacktest, PlanBacktestTrigger } from '../../schemas/types.ts'
import { sparkline } from './backtest-text.ts'
import { planText } from './plan-text.ts'
import { escapeLine } from './terminal.ts'

/** Triggers whose charts are shown; more are in the table alone. */
const CHARTS = 8
const ROWS = 20
/** Triggers, labels and agents of the tables; warnings and notes. */
const TABLE_ROWS = 30
/** A field's value, a key, a label. */
const VALUE_MAX = 80
/** All fields, where there is room. */
const FIELDS_MAX = 20_000
/** GitHub takes 65,536 characters in a comment; the rest is for what a workflow writes beside it. */
const COMMENT_MAX = 60_000

/**
 * The whole comment. What does not fit is left out, from the end, and that is said.
 * @param file what it is a plan of: the name of a catalog, or the path that was given
 * @param environment whose files are in it: a pull request has a plan of each
 * @param note what is to be known of the plan as a whole
 */
export function planMarkdown(
  file: string,
  plan: ChangePlan,
  backtest?: PlanBacktest,
  environment?: string,
  note?: string,
): string {
  const { creates, updates, deletes, ownership = [], warnings = [] } = plan
  const changed = creates + updates + deletes
  const head = `### Plan of ${code(file)}${environment ? ` for ${code(environment)}` : ''}\n\n${changed + ownership.length === 0 ? 'No change.' : `${creates} to create, ${updates} to change, ${deletes} to delete.`}\n`
  const details = [
    ...(backtest?.triggers ?? []).filter(({ keys }) => keys.length).map(detailsOf),
    ...(changed === 0 ? [] : [folded('Every field', fenced(fieldsOf(plan), 'diff'))]),
  ]
  let text = joined([
    head,
    note === undefined ? '' : `${plain(note)}.\n`,
    listed(ownership, ''),
    listed(warnings, '⚠ '),
    backtest ? backtestMarkdown(backtest) : '',
  ])
  for (const [n, each] of details.entries()) {
    const whole = joined([text, each])
    if (whole.length > COMMENT_MAX)
      return joined([
        text,
        `_${countWords(details.length - n, 'more section')} would not fit in a comment: svc catalog plan shows them._\n`,
      ])
    text = whole
  }
  return text
}

function fieldsOf(plan: ChangePlan): string {
  const whole = planText({ colour: false }, plan)
  if (whole.length <= FIELDS_MAX) return whole
  const shown = whole.slice(0, whole.lastIndexOf('\n', FIELDS_MAX) + 1)
  const left = whole.slice(shown.length).split('\n').length - 1
  return `${shown}… and ${countWords(left, 'more line')}\n`
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

/** Sentences as a list, of very many the first. */
function listed(sentences: readonly string[], before: string): string {
  const shown = sentences
    .slice(0, ROWS)
    .map((sentence) => `- ${before}${plain(cut(sentence, VALUE_MAX * 4))}\n`)
  return `${shown.join('')}${more(sentences.length - shown.length, 'line', '- ')}`
}

const more = (n: number, noun: string, before = '\n'): string =>
  n > 0 ? `${before}and ${countWords(n, `more ${noun}`)}\n` : ''

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text)

function backtestMarkdown(backtest: PlanBacktest): string {
  const { days, scanned, triggers, labels, agents, notes, unreached } = backtest
  const span = `the last ${daysWords(days)}, ${countWords(scanned, 'event')}`
  const rest = unreached ? `; ${countWords(unreached, 'other trigger')} as before` : ''
  return joined([
    `**What this would have done** (${span}${rest})\n`,
    triggers.length === 0 ? 'No trigger fires otherwise.\n' : triggerTable(triggers),
    chartsOf(backtest),
    labels.length ? labelTable(labels) : '',
    agents.length ? agentTable(agents) : '',
    listed(notes, 'Not known: '),
  ])
}

function triggerTable(triggers: readonly PlanBacktestTrigger[]): string {
  const rows = table(
    ['Trigger', '', 'Firings before', 'after', 'added', 'gone'],
    triggers
      .slice(0, TABLE_ROWS)
      .map(({ trigger, change, before, after, added, gone }) => [
        code(trigger),
        REASON_WORDS[change],
        before === null ? 'none' : String(before.firings),
        after === null ? 'none' : String(after.firings),
        String(added),
        String(gone),
      ]),
  )
  return `${rows}${more(triggers.length - TABLE_ROWS, 'trigger')}`
}

function chartsOf({ triggers, bucket, from, to }: PlanBacktest): string {
  const shown = triggers
    .filter(({ buckets }) => buckets.some(({ before, after }) => before + after > 0))
    .slice(0, CHARTS)
  if (shown.length === 0) return ''
  const lines = shown.flatMap(({ trigger, buckets, before, after }) => {
    const max = Math.max(1, ...buckets.flatMap((one) => [one.before, one.after]))
    const row = (side: 'before' | 'after') =>
      `${side.padEnd(6)} ${sparkline(
        buckets.map((one) => one[side]),
        max,
      )}`
    return [
      `${escapeLine(trigger)} (at most ${max} in ${bucket})`,
      ...(before ? [row('before')] : []),
      ...(after ? [row('after')] : []),
      '',
    ]
  })
  return fenced(`${lines.join('\n')}${from.slice(0, 16)} to ${to.slice(0, 16)} UTC\n`, 'text')
}

function labelTable(labels: PlanBacktest['labels']): string {
  const rows = labels.flatMap(({ source, labels: of, not_stored, unreadable }) => [
    ...of
      .slice(0, ROWS)
      .map(({ label, lost, gained, changed, examples: [first] }) => [
        code(source),
        code(labelName(label)),
        String(lost),
        String(gained),
        String(changed),
        first ? `${code(first.from ?? 'none')} → ${code(first.to ?? 'none')}` : '',
      ]),
    ...(not_stored
      ? [[code(source), 'events that would not be stored', String(not_stored), '', '', '']]
      : []),
    ...(unreadable ? [[code(source), `not known: ${countWords(unreadable, 'event')}`, '', '', '', '']] : []),
  ])
  const titles = ['Source', 'Label', 'Events that lose it', 'gain it', 'change', 'Such as']
  return rows.length
    ? `${table(titles, rows.slice(0, TABLE_ROWS))}${more(rows.length - TABLE_ROWS, 'row')}`
    : ''
}

function agentTable(all: PlanBacktest['agents']): string {
  const agents = all.slice(0, TABLE_ROWS)
  const rows = agents.map(({ agent, runs_before, runs_after, usd_before, usd_after }) => [
    code(agent),
    rangeWords(runs_before),
    rangeWords(runs_after),
    dollarWords(usd_before),
    dollarWords(usd_after),
  ])
  const bases = agents.map(({ agent, basis }) => `- ${code(agent)}: ${plain(basis)}\n`).join('')
  return `${table(['Agent', 'Runs a week before', 'after', 'Dollars a week before', 'after'], rows)}${more(all.length - TABLE_ROWS, 'agent')}\n${folded('How the ranges are made', bases)}`
}

function detailsOf(trigger: PlanBacktestTrigger): string {
  const { keys, key_count, list, notes, before, after } = trigger
  const differing = list.filter(({ is }) => is !== 'same').slice(0, ROWS)
  const parts = [
    `${plain(trigger.sentence)}\n`,
    [...suppressedWords(before, after).map((words) => `- ${words}\n`), listed(notes, 'Not known: ')].join(''),
    table(
      ['Key', 'Before', 'After'],
      keys.slice(0, ROWS).map(({ key, before: was, after: is }) => [code(key), String(was), String(is)]),
    ),
    key_count > ROWS ? `and ${countWords(key_count - ROWS, 'more key')}\n` : '',
    differing.length === 0
      ? ''
      : table(
          ['', 'Fired', 'Key', 'Value'],
          differing.map(({ is, at, key, value, resolved }) => [
            is,
            at,
            code(key),
            resolved ? 'over' : String(value ?? ''),
          ]),
        ),
  ]
  return folded(
    `${escapeHtml(trigger.trigger)}: ${changeWords(trigger)}`,
    parts.filter((part) => part !== '').join('\n'),
  )
}

const folded = (title: string, body: string): string =>
  `<details><summary>${title}</summary>\n\n${body}\n</details>\n`

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return `${line(titles)}${line(titles.map(() => '---'))}${rows.map(line).join('')}`
}

/** A fence longer than any run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}\n`
}

/** A value as code: nobody is mentioned by it, and no table or tag is broken. */
function code(value: string): string {
  const text = cut(escapeLine(value), VALUE_MAX).replaceAll('|', '\\|') || ' '
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${text}${pad}${fence}`
}

const escapeHtml = (text: string): string =>
  escapeLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A sentence, of which nothing is read as Markdown. */
const plain = (text: string): string => escapeHtml(text).replace(/[\\`*_[\]|~#@]/g, '\\$&')
