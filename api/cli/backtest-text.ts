/** A backtest as text: when one definition would have fired, or two side by side. */
import { countWords } from '../../schemas/plain-words.ts'
import type { BacktestResult, BacktestRun, WhyRecord } from '../../schemas/types.ts'
import { type Column, escapeLine, type Io, paint, table } from './terminal.ts'

type Painter = Pick<Io, 'colour'>

/** A run under the name its column has. */
export interface NamedRun {
  /** Such as `saved`. */
  title: string
  /** What its definition says. */
  sentence: string
  run: BacktestRun
}

/** Reasons of schemas/why-record.json in words. */
const REASONS: Record<WhyRecord['reason'], string> = {
  fired: 'fired',
  no_subscriber: 'fired',
  folded: 'folded into a firing',
  held: 'held back by a limit',
  dropped: 'a burst of too few events',
  cooldown: 'in its cooldown',
  active: 'fired and not over yet',
  resolved: 'over',
  below: 'below the threshold',
  filter: 'a filter did not hold',
  no_key: 'no label to group by',
  no_value: 'no value to aggregate',
  unchanged: 'unchanged',
  waiting: 'waiting for the rest',
  late: 'too late',
  paused: 'paused',
  error: 'an error',
}

const BLOCKS = '▁▂▃▄▅▆▇█'
/** Width of the bar of the fullest bucket. */
const BAR = 20
/** Characters of a spark line; more buckets are put together. */
const SPARK_WIDTH = 84
const ROWS = 40
const KEYS = 20
const LISTED = 10

/** The whole answer. @param runs one or two, in the order of their columns */
export function backtestText(io: Painter, result: BacktestResult, runs: readonly NamedRun[]): string {
  return [
    heading(result, runs),
    sparks(result, runs),
    bucketsText(io, result, runs),
    keysText(io, runs),
    reasonsText(io, runs),
    ...runs.map((named) => newestText(io, named, runs.length > 1)),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function heading({ from, to, scanned }: BacktestResult, runs: readonly NamedRun[]): string {
  const lines = runs.map(
    ({ title, sentence, run }) =>
      `${prefix(runs, title)}${escapeLine(sentence)}\n${totals(run, runs, title)}`,
  )
  return `${from} to ${to}, ${countWords(scanned, 'event')} looked at\n${lines.join('')}`
}

function totals(run: BacktestRun, runs: readonly NamedRun[], title: string): string {
  const peak = run.peak === null ? '' : `; highest value ${run.peak}`
  // The list of keys is cut off at 50.
  const keys = run.by_key.length < 50 ? countWords(run.by_key.length, 'key') : '50 keys or more'
  const of = run.firings ? ` of ${keys}` : ''
  const matched = `${countWords(run.matched, 'event')} passed the filters`
  return `${' '.repeat(prefix(runs, title).length)}${countWords(run.firings, 'firing')}${of}; ${matched}${peak}\n`
}

const prefix = (runs: readonly NamedRun[], title: string): string =>
  runs.length > 1 ? `${title.padEnd(widest(runs))}  ` : ''

const widest = (runs: readonly NamedRun[]): number => Math.max(...runs.map(({ title }) => title.length))

/** A line of blocks for the firings of each run, and one for what passed the filters. */
function sparks({ bucket }: BacktestResult, runs: readonly NamedRun[]): string {
  const series = [
    ...runs.map(({ title, run }) => ({
      title: runs.length > 1 ? `firings ${title}` : 'firings',
      values: run.buckets.map(({ firings }) => firings),
    })),
    { title: 'events', values: runs.at(-1)!.run.buckets.map(({ matched }) => matched) },
  ]
  if (series[0]!.values.length === 0) return ''
  const together = Math.ceil(series[0]!.values.length / SPARK_WIDTH)
  const per = together === 1 ? bucket : bucket.replace(/^\d+/, (n) => String(Number(n) * together))
  const width = Math.max(...series.map(({ title }) => title.length))
  // The runs share a scale, so that the eye can compare them.
  const firingsMax = Math.max(...series.slice(0, -1).flatMap(({ values }) => grouped(values, together)))
  return series
    .map(({ title, values }, i) => {
      const groups = grouped(values, together)
      const max = i < series.length - 1 ? firingsMax : Math.max(...groups)
      return `${title.padEnd(width)}  ${sparkline(groups, max)}  at most ${max} in ${per}\n`
    })
    .join('')
}

function grouped(values: readonly number[], together: number): number[] {
  const groups: number[] = []
  for (let at = 0; at < values.length; at += together)
    groups.push(values.slice(at, at + together).reduce((sum, value) => sum + value, 0))
  return groups
}

/** A block for each value; nothing is a dot, so that one is not taken for it. @param max of all, drawn full */
export function sparkline(values: readonly number[], max = Math.max(0, ...values)): string {
  return values
    .map((value) => (value === 0 ? '·' : BLOCKS[Math.ceil((value / max) * BLOCKS.length) - 1]!))
    .join('')
}

/** The buckets in which something fired, the newest. */
function bucketsText(io: Painter, { bucket }: BacktestResult, runs: readonly NamedRun[]): string {
  const rows = runs[0]!.run.buckets
    .map(({ at }, i) => ({ at, of: runs.map(({ run }) => run.buckets[i] ?? { firings: 0, matched: 0 }) }))
    .filter(({ of }) => of.some(({ firings }) => firings > 0))
  if (rows.length === 0) return ''
  const max = Math.max(...rows.flatMap(({ of }) => of.map(({ firings }) => firings)))
  const columns: Column<(typeof rows)[number]>[] = [
    { title: `FROM (${bucket})`, cell: ({ at }) => at },
    { title: 'EVENTS', cell: ({ of }) => String(of.at(-1)!.matched) },
    ...runs.flatMap(({ title }, i): typeof columns => [
      { title: columnTitle(runs, 'FIRINGS', title), cell: ({ of }) => String(of[i]!.firings) },
      {
        title: '',
        cell: ({ of }) => '█'.repeat(Math.ceil((of[i]!.firings / max) * BAR)),
        style: () => 'cyan',
      },
    ]),
  ]
  return table(io, columns, rows.slice(-ROWS)) + cut(io, rows.length, ROWS, 'earlier ones with firings')
}

function keysText(io: Painter, runs: readonly NamedRun[]): string {
  const rows = countsOf(
    runs.map(({ run }) => Object.fromEntries(run.by_key.map(({ key, firings }) => [key, firings]))),
  )
  return countsText(io, rows.slice(0, KEYS), 'KEY', 'FIRINGS', runs) + cut(io, rows.length, KEYS, 'keys')
}

function reasonsText(io: Painter, runs: readonly NamedRun[]): string {
  const rows = countsOf(runs.map(({ run }) => run.reasons)).map(({ name, counts }) => ({
    name: (REASONS as Record<string, string>)[name] ?? name,
    counts,
  }))
  return countsText(io, rows, 'DID NOT FIRE', 'TIMES', runs)
}

interface Counts {
  name: string
  counts: number[]
}

/** Names of either run with their counts, the largest first. */
function countsOf(runs: readonly Record<string, number>[]): Counts[] {
  const names = new Set(runs.flatMap((run) => Object.keys(run)))
  return [...names]
    .map((name) => ({ name, counts: runs.map((run) => run[name] ?? 0) }))
    .sort((a, b) => Math.max(...b.counts) - Math.max(...a.counts) || (a.name < b.name ? -1 : 1))
}

function countsText(
  io: Painter,
  rows: readonly Counts[],
  name: string,
  counted: string,
  runs: readonly NamedRun[],
): string {
  if (rows.length === 0) return ''
  return table(
    io,
    [
      { title: name, cell: (row: Counts) => row.name },
      ...runs.map(({ title }, i) => ({
        title: columnTitle(runs, counted, title),
        cell: ({ counts }: Counts) => String(counts[i]),
      })),
    ],
    rows,
  )
}

function newestText(io: Painter, { title, run }: NamedRun, isOneOfTwo: boolean): string {
  if (run.list.length === 0) return ''
  const text = table(
    io,
    [
      { title: `NEWEST${isOneOfTwo ? ` ${title}` : ''}`, cell: ({ at }: BacktestRun['list'][number]) => at },
      { title: 'KEY', cell: ({ key }) => key },
      { title: 'VALUE', cell: ({ value }) => (value === null ? '' : String(value)) },
      { title: 'EVENTS', cell: ({ events }) => String(events) },
      {
        title: 'FIRST EVENT',
        cell: ({ event_ids, resolved }) => (resolved ? 'over' : (event_ids[0] ?? '')),
      },
    ],
    run.list.slice(0, LISTED),
  )
  return text + cut(io, run.list.length, LISTED, 'earlier ones')
}

const columnTitle = (runs: readonly NamedRun[], counted: string, title: string): string =>
  runs.length > 1 ? `${counted} ${title}` : counted

function cut(io: Painter, all: number, shown: number, what: string): string {
  return all > shown ? paint(io, 'dim', `… and ${all - shown} ${what}; --json has them\n`) : ''
}
