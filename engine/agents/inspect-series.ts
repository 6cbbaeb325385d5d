/** A number over time: percentiles, when it changed its level, and its range by parts of the window. */

import { type Buckets, bucketsOf, combined, isBelow, quantileOf } from '../../schemas/distributions.ts'
import { gapsSaid } from '../../schemas/event-line.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import { escapeLine } from '../../schemas/plain-text.ts'
import { listSome } from '../../schemas/plain-words.ts'
import {
  ascending,
  type ContextRow,
  cautiousTokens,
  type Numbers,
  numbersOf,
  placesApart,
  quantile,
  type Sample,
  type Shown,
  shortNumber,
  shortNumbers,
  type Timed,
} from '../log/brief/brief.ts'
import { pagesOf, type Steps } from '../log/steps.ts'
import type { KeptRow, ReadContext } from '../log/timeline/context.ts'
import {
  type Around,
  askedQuery,
  gapsOf,
  type Looked,
  silenceIn,
  windowOf,
} from '../log/timeline/inspect-pages.ts'
import { namedCuts, wideContextRows } from '../log/timeline/rows.ts'
import { objectIn, setCounts } from '../log/timeline/traces.ts'
import { DAY_MS, iso } from '../model/units.ts'
import { redact } from '../net/redact.ts'

const ROWS = 100_000
/** Payloads read at a time, before others have their turn. */
const PAYLOADS = 500
/** Series told of at most, and the parts of the window of each. */
const SERIES_MAX = 12
const PARTS = 16
const SHARES = [0.5, 0.9, 0.95, 0.99] as const
/** Of the line that says how many more there are. */
const REST_TOKENS = 25

interface Window {
  from: number
  to: number
}

/** @throws SvcError invalid, not_found */
export function* seriesInSteps(around: Around): Steps<Looked> {
  const { ctx, question, budget } = around
  const { until, ...window } = windowOf(around)
  const query = yield* askedQuery(around, window.from, until)
  const { rows, cuts } = yield* wideContextRows(ctx, query, ROWS, '')
  yield* setCounts(ctx, rows)
  yield
  const lines = rows.map((row): Timed => timed(row, window.to))
  const numbers = numbersNamed(lines, question.label)
  if (question.label !== undefined)
    numbers.push(...(yield* percentilesInSteps(ctx, lines, rows, question.label)))
  const gaps = lines.length ? gapsSaid(gapsOf(around, window)) : ''
  const heading = `${headingOf(around, window, lines.length, numbers.length, namedCuts(ctx, cuts))}${gaps && `. ${gaps}`}`
  const said: string[] = []
  const shown: Shown = []
  let tokens = cautiousTokens(`${heading}\n`) + (numbers.length > 1 ? REST_TOKENS : 0)
  const told = numbers.length
    ? numbers.slice(0, SERIES_MAX).map((one) => numberText(one, window))
    : question.label === undefined
      ? [countText(lines, window)]
      : []
  for (const { text, named } of told) {
    // Where not even one fits with its parts, it is told without them.
    const fitting = [text, text.slice(0, text.lastIndexOf('\n'))].find(
      (one) => one && tokens + cautiousTokens(`${one}\n`) <= budget,
    )
    if (fitting === undefined || (fitting !== text && said.length)) break
    tokens += cautiousTokens(`${fitting}\n`)
    said.push(fitting)
    shown.push(...named)
    if (fitting !== text) break
  }
  const left = numbers.length - said.length
  if (said.length && numbers.length && left > 0)
    said.push(`${left} more series: name a label, event_types or a selector for them`)
  if (said.length === 0) said.push(noneSaid(around, window, lines, numbers.length))
  return { heading, text: said.join('\n'), shown, ...window }
}

function noneSaid(around: Around, window: Window, lines: readonly Timed[], numbers: number): string {
  const { label } = around.question
  if (lines.length === 0) return silenceIn(around, window)
  return numbers > 0 || label === undefined ? 'not one fits: ask for more tokens' : noneOf(label, lines)
}

const timed = (row: ContextRow, to: number): Timed => ({
  ...{ row, t: (row.at - to) / 1000, stream: null, cls: null },
  kind: { source: row.source, type: row.type, count: 1 },
})

/** Names that are told where the one that was asked for is none. */
const NAMES_TOLD = 12

function noneOf(label: string, lines: readonly Timed[]): string {
  const names = [...new Set(numbersNamed(lines, undefined).map(({ name }) => escapeLine(name)))]
  const told = listSome(names, NAMES_TOLD)
  return `no number of that name in this window${didYouMean(label, names)}${told && `; there are ${told}`}`
}

/** @returns those with most samples first */
function numbersNamed(lines: readonly Timed[], wanted: string | undefined): Numbers[] {
  const all =
    wanted === undefined
      ? numbersOf(lines)
      : [
          // A label is asked for by name even where it names something, such as a port.
          ...numbersOf(lines, ({ row }) =>
            typeof row.labels[wanted] === 'number' ? { [wanted]: row.labels[wanted] } : {},
          ),
          ...numbersOf(lines.filter(({ row }) => isNamed(row, wanted))),
        ]
  return all.sort((a, b) => b.samples.length - a.samples.length || (a.name < b.name ? -1 : 1))
}

/** By the name of its series or type. */
function isNamed({ series, type, values, labels }: ContextRow, wanted: string): boolean {
  if (values.value === undefined || typeof labels[wanted] === 'number') return false
  const name = (series ?? type).toLowerCase()
  const asked = wanted.toLowerCase()
  return name === asked || name.startsWith(`${asked}{`) || type.toLowerCase() === asked
}

/** Points of distributions that are read for their percentiles, the newest; more would keep others waiting. */
const DISTRIBUTIONS_MAX = 5_000
const PERCENTILES = [0.5, 0.95, 0.99] as const

/** Percentiles of what was measured since the point before, of distributions of that name. */
function* percentilesInSteps(
  ctx: ReadContext,
  lines: readonly Timed[],
  rows: readonly KeptRow[],
  wanted: string,
): Steps<Numbers[]> {
  const isWanted = (row: KeptRow) => (row.counts ?? 'level') !== 'level' && isNamed(row, wanted)
  const places = rows.flatMap((row, i) => (isWanted(row) ? [i] : [])).slice(-DISTRIBUTIONS_MAX)
  const before = new Map<string, { start: unknown; buckets: Buckets }>()
  const found = new Map<string, Numbers>()
  for (const some of pagesOf(places, PAYLOADS)) {
    yield
    const ids = some.map((i) => rows[i]!.number)
    const payloads = new Map(ctx.rows.read(ids, true).map(({ id, raw }) => [id, objectIn(raw)]))
    for (const i of some) {
      const row = rows[i]!
      const payload = payloads.get(row.number) ?? {}
      const buckets = bucketsOf(payload)
      if (!buckets) continue
      const start = payload.startTimeUnixNano
      const { resourceAttributes, scope, attributes } = payload
      const process = JSON.stringify([row.source, row.series, resourceAttributes, scope, attributes])
      const last = before.get(process)
      before.set(process, { start, buckets })
      // The first total of a window is of what was before it, too.
      if (row.counts === 'total' && !last) continue
      const goesOn = row.counts === 'total' && last && last.start === start
      const step = goesOn ? combined(buckets, last.buckets, -1) : buckets
      if (!step || isBelow(step)) continue
      for (const part of PERCENTILES) {
        const value = quantileOf(step, part)
        if (value === null) continue
        const name = `${row.series} p${part * 100}${row.unit ? ` ${row.unit}` : ''}`
        const { pod = '', region = '' } = row.words ?? row.labels
        const key = `${name}\0${row.source}\0${row.entity}\0${pod}\0${region}`
        const known = found.get(key) ?? { name, by: {}, samples: [], total: 0 }
        known.samples.push({ line: lines[i]!, value })
        found.set(key, known)
      }
    }
  }
  const placeOf = placesApart(found.keys())
  return [...found].map(([key, one]) => ({ ...one, by: placeOf(key) }))
}

function headingOf(
  { question: { label } }: Around,
  { from, to }: Window,
  events: number,
  series: number,
  cuts: ReturnType<typeof namedCuts>,
): string {
  const of = label === undefined ? '' : ` of ${escapeLine(label)}`
  const cut = cuts
    .slice(0, 3)
    .map(({ source, of: n }) => `; of ${source} only the newest ${n.toLocaleString('en')} were looked at`)
  return `Series${of}, ${iso(from)} to ${iso(to)}: ${series} over ${events.toLocaleString('en')} events${cut.join('')}. Parts of the window: samples, least/median/most`
}

interface Told {
  text: string
  named: Shown
}

function numberText({ name, by, samples }: Numbers, window: Window): Told {
  const { source, entity, labels } = samples[0]!.line.row
  const values = samples.map(({ value }) => value)
  const sorted = ascending(values)
  const least = samples.reduce((a, b) => (b.value < a.value ? b : a))
  const most = samples.reduce((a, b) => (b.value > a.value ? b : a))
  const own = Object.entries(labels).find(([, value]) => value === entity)?.[0]
  const parts = Object.entries({ ...(entity ? { [own ?? 'entity']: entity } : {}), ...by })
  const of = parts.length ? ` {${parts.map(([label, value]) => `${label}=${value}`).join(', ')}}` : ''
  const shares = SHARES.map((q) => `p${q * 100} ${shortNumber(quantile(sorted, q))}`).join(', ')
  const changes = changePoints(values).map((at, i, all) =>
    changeText(samples, at, all[i - 1] ?? 0, all[i + 1]),
  )
  const lines = [
    escapeLine(
      redact(
        `${name}${of} (${source}): ${samples.length} samples, least ${shortNumber(least.value)} (${least.line.row.id}), ${shares}, most ${shortNumber(most.value)} (${most.line.row.id}), newest ${shortNumber(values.at(-1)!)} (${samples.at(-1)!.line.row.id})`,
      ),
    ),
    ...(changes.length ? changes.map(({ text }) => `  ${text}`) : ['  no change of its level']),
    `  ${partsOf(samples, window).join(' | ')}`,
  ]
  const quantiles = SHARES.map((q) => quantile(sorted, q))
  const named = [least, most, samples.at(-1)!].map(({ line, value }): Shown[number] => [
    ...([line.row.id, 1] as const),
    shortNumbers(value, ...quantiles),
  ])
  return { text: lines.join('\n'), named: [...named, ...changes.flatMap((change) => change.named)] }
}

/**
 * The last sample of the level before, and the first of the new one. Levels are medians: where one is not the value of the
 * sample at the edge, the nearest sample that has it is named for it, so that no event is told with a value of another.
 */
function changeText(samples: readonly Sample[], at: number, from: number, until?: number): Told {
  const isOf = (level: string) => (sample: Sample) => shortNumber(sample.value) === level
  const levelOf = (some: readonly Sample[]) => shortNumber(medianOf(some.map(({ value }) => value)))
  const [earlier, later] = [samples.slice(from, at), samples.slice(at, until)]
  const [before, after] = [samples[at - 1]!, samples[at]!]
  const [was, is] = [levelOf(earlier), levelOf(later)]
  const [wasOne, isOne] = [earlier.findLast(isOf(was)) ?? before, later.find(isOf(is)) ?? after]
  const idOf = ({ line }: Sample) => line.row.id
  const edge = (sample: Sample) => `${idOf(sample)} at ${shortNumber(sample.value)}`
  const change =
    wasOne === before && isOne === after
      ? `${was} → ${is} (${idOf(before)} → ${idOf(after)})`
      : `${was} → ${is} (as ${idOf(wasOne)} → ${idOf(isOne)}), between ${edge(before)} and ${edge(after)}`
  return {
    text: `changed at ${iso(after.line.row.at)}: ${change}`,
    named: [wasOne, isOne, before, after].map((one) => [idOf(one), 1, shortNumbers(one.value)]),
  }
}

function partsOf(samples: readonly Sample[], window: Window): string[] {
  const parts = Array.from({ length: PARTS }, (): number[] => [])
  for (const { line, value } of samples) parts[partOf(line.row.at, window)]!.push(value)
  return parts.flatMap((values, i) => {
    if (values.length === 0) return []
    const sorted = ascending(values)
    const range =
      values.length === 1
        ? shortNumber(values[0]!)
        : `${shortNumber(sorted[0]!)}/${shortNumber(quantile(sorted, 0.5))}/${shortNumber(sorted.at(-1)!)}`
    return [`${clockOf(i, window)} ${values.length}× ${range}`]
  })
}

function partOf(at: number, { from, to }: Window): number {
  return Math.min(PARTS - 1, Math.max(0, Math.floor(((at - from) * PARTS) / Math.max(1, to - from))))
}

/** Time of day a part begins at; with the day in a long window. */
function clockOf(part: number, { from, to }: Window): string {
  const text = iso(from + ((to - from) * part) / PARTS)
  return to - from > DAY_MS ? text.slice(5, 16).replace('T', ' ') : text.slice(11, 19)
}

/** Without numbers: how many events there were. */
function countText(lines: readonly Timed[], window: Window): Told {
  const counts = new Array<number>(PARTS).fill(0)
  for (const { row } of lines) counts[partOf(row.at, window)]!++
  const first = lines[0]?.row
  const last = lines.at(-1)?.row
  if (!first || !last) return { text: '', named: [] }
  const changes = changePoints(counts).map((at) => {
    const level = (from: number, to?: number) => shortNumber(medianOf(counts.slice(from, to)))
    return `  changed at ${clockOf(at, window)}: ${level(0, at)} → ${level(at)} a part`
  })
  return {
    text: [
      `no numbers; events: ${lines.length}, first ${first.id}, last ${last.id}`,
      ...changes,
      `  ${counts.map((count, i) => `${clockOf(i, window)} ${count}`).join(' | ')}`,
    ].join('\n'),
    named: [
      [first.id, 1],
      [last.id, lines.length],
    ],
  }
}

/*
 * Where a number changed its level: binary segmentation by absolute deviations from the median, which a single
 * outlier does not move. The noise is taken from neighbouring values, so that a change of level is none of it.
 */

/** A level lasts for so many values. */
const LEAST = 3
/** By so many units of noise, times the logarithm of the count, a split must explain the values better. */
const BETTER = 4
/** Of the median, what is noise in any case. */
const NOISE_SHARE = 0.01
const POINTS_MAX = 5
/** Longer series are looked at by medians of their parts. */
const LOOKED_AT = 300

/** @param values in order of time. @returns the places of first values of a new level, ascending */
export function changePoints(values: readonly number[]): number[] {
  const every = Math.max(1, Math.ceil(values.length / LOOKED_AT))
  const parts: number[] = []
  for (let at = 0; at < values.length; at += every) parts.push(medianOf(values.slice(at, at + every)))
  const steps = parts.slice(1).map((value, i) => Math.abs(value - parts[i]!))
  const noise = (medianOf(steps) || 0) + NOISE_SHARE * Math.abs(medianOf(parts)) + Number.EPSILON
  const found: number[] = []
  split(parts, 0, BETTER * noise * Math.log(1 + parts.length), found)
  const rough = found.map((at) => at * every).sort((a, b) => a - b)
  return rough.reduce<number[]>((exact, at, i) => {
    const ends = { from: exact.at(-1) ?? 0, until: rough[i + 1] ?? values.length }
    exact.push(edgeOf(values, at, { ...ends, reach: LEAST * every }))
    return exact
  }, [])
}

/**
 * A split is at the edge of a part, and `LEAST` parts from the ends: where near it the level changed.
 * @returns the place with the fewest values on the other level's side of the middle
 */
function edgeOf(
  values: readonly number[],
  at: number,
  { from, until, reach }: { from: number; until: number; reach: number },
): number {
  const [was, is] = [medianOf(values.slice(from, at)), medianOf(values.slice(at, until))]
  const middle = (was + is) / 2
  let best = at
  let [least, wrong] = [Number.POSITIVE_INFINITY, 0]
  const end = Math.min(until - 1, at + reach)
  for (let place = Math.max(from + 1, at - reach); place <= end; place++) {
    const value = values[place]!
    const isNew = is > was ? value > middle : value < middle
    // Up to here, by how many more values an edge at this place is wrong than one at the first.
    if (isNew && wrong < least) {
      least = wrong
      best = place
    }
    wrong += isNew ? 1 : -1
  }
  return best
}

function split(values: readonly number[], offset: number, needed: number, found: number[]): void {
  if (values.length < 2 * LEAST || found.length >= POINTS_MAX) return
  const whole = deviation(values)
  let best = needed
  let at = 0
  for (let i = LEAST; i <= values.length - LEAST; i++) {
    const gain = whole - deviation(values.slice(0, i)) - deviation(values.slice(i))
    if (gain <= best) continue
    best = gain
    at = i
  }
  if (at === 0) return
  found.push(offset + at)
  split(values.slice(0, at), offset, needed, found)
  split(values.slice(at), offset + at, needed, found)
}

/** Sum of distances from the median. */
function deviation(values: readonly number[]): number {
  const middle = medianOf(values)
  return values.reduce((sum, value) => sum + Math.abs(value - middle), 0)
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
