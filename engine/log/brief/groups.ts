/**
 * Groups, lines of one template of one entity with how unusual they are now; and their ranking, one list of what moved
 * over all entities, when it began, and who is near.
 */

import type { SourceGap } from '../../../schemas/types.ts'
import { type Paths, REQUESTS_MIN } from './paths.ts'
import type { Series } from './series.ts'
import type { Templates } from './skeletons.ts'
import { type BrokenPath, placeIn, traceIdOf } from './traces.ts'
import {
  ascending,
  type GroupLines,
  listAt,
  mapAt,
  quantile,
  ratioDown,
  ratioUp,
  type Stream,
  type Template,
  type Timed,
  type Windows,
} from './types.ts'
import { ERROR_LEVEL, TROUBLE, WARN_LEVEL, wordsOf } from './words.ts'

/** The share of the baseline that is early enough to tell how often a stream brings a new pattern. */
const EARLY = 0.75
const MOVED = 3
const TEXT_LOOKED_AT = 400

export interface Group {
  source: string
  type: string
  entity: string
  template: Template
  /** In order of time. */
  lines: Timed[]
  last: Timed
  rate: Rate
  /** Lines of the focus. */
  lately: number
  stopped: boolean
  isNew: boolean
  /** New, risen, stopped, or without a past. */
  moved: boolean
  /** By its level, or in words. */
  saysTrouble: boolean
  score: number
  /** Seconds before the end; null: it goes on as it did. */
  began: number | null
}

/**
 * The lines of a group that its line in the brief stands for: all of one that stopped, else those since it began, or
 * the latest. The ids, the time and the count of that line are of these.
 */
export function linesToldOf(
  { lines, stopped, began, lately }: Pick<Group, 'lines' | 'stopped' | 'began' | 'lately'>,
  focus: number,
): readonly Timed[] {
  if (stopped) return lines
  const since = began ?? (lately > 0 ? -focus : Number.NEGATIVE_INFINITY)
  let first = lines.length
  while (first > 0 && lines[first - 1]!.t >= since) first--
  return first === 0 ? lines : lines.slice(first)
}

/** @param lines without samples and changes, in order of time, with their streams. */
export function groupsOf(lines: readonly Timed[], templates: Templates, windows: Windows): Group[] {
  const { focus, baseline } = windows
  const groups: GroupLines[] = []
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const { t, row } = line
    const stream = line.stream!
    const isEarly = t < -focus && t > -focus - EARLY * baseline
    const { byEntity } = templates.of(line)
    const known = byEntity.get(row.entity)
    if (known) {
      known.lines.push(line)
      known.times.push(t)
    } else {
      const group = { lines: [line], times: [t] }
      byEntity.set(row.entity, group)
      groups.push(group)
      if (isEarly) stream.firsts++
    }
    if (isEarly) stream.before++
    else if (t >= -focus) stream.lately++
  }
  return groups.map((group) => judged(group, templates, windows))
}

function judged({ lines, times }: GroupLines, templates: Templates, windows: Windows): Group {
  const last = lines.at(-1)!
  const stream = last.stream!
  const { source, type, entity } = last.row
  const isError = ERROR_LEVEL.test(type)
  const rate = strongestRate(times, stream, windows, isError)
  const lately = times.length - countBefore(times, -windows.focus)
  const stopped = hasStopped(rate)
  const isNew =
    rate.expected !== null && !stopped && (rate.before === 0 || lately === lines.length) && lately > 0
  const moved = stopped || (lately > 0 && (isNew || rate.expected === null || rate.surprise > MOVED))
  const isTrouble = TROUBLE.test(`${type} ${last.row.text.slice(0, TEXT_LOOKED_AT)}`)
  const group = { source, type, entity, lines, last, rate, lately, stopped, isNew, moved }
  return {
    ...group,
    template: templates.of(last),
    saysTrouble: isTrouble || isError,
    score: scoreOf(group, stream, isTrouble),
    began: beganAt(group, times, windows, isError && beganWithStream(stream)),
  }
}

/** @param times ascending */
function countBefore(times: readonly number[], t: number): number {
  let count = times.length
  while (count > 0 && times[count - 1]! >= t) count--
  return count
}

function scoreOf(
  { type, rate, lately, stopped }: Pick<Group, 'type' | 'rate' | 'lately' | 'stopped'>,
  stream: Stream,
  isTrouble: boolean,
): number {
  let score = Math.log1p(rate.surprise)
  if (rate.expected === null && lately)
    score += isTrouble ? Math.log1p(ratioUp(lately, 0.5)) + 0.5 : 0.3 * Math.log1p(lately)
  if (ERROR_LEVEL.test(type)) score += 1.5
  else if (WARN_LEVEL.test(type)) score += 0.5
  if (isTrouble) score += 1.2
  if (stopped) score += 0.3
  // A stream with a long tail of wordings brings new ones by chance.
  const byChance = ((stream.firsts + 0.5) / (stream.before + 5)) * stream.lately
  return lately <= 2 && byChance > 1 ? score - Math.log(byChance) : score
}

/** So many lines of a window are a run, which is followed back; a gap of so many usual ones, or seconds, ends it. */
const RUN = { lines: 8, gaps: 5, seconds: 20 }

function beganAt(
  { stopped, isNew, last, rate }: Pick<Group, 'stopped' | 'isNew' | 'last' | 'rate'>,
  times: readonly number[],
  { focus }: Windows,
  isFromStart: boolean,
): number | null {
  if (stopped) return last.t
  if (isFromStart) return times[0]!
  const since = isNew ? -focus : -rate.window
  let first = times.findIndex((t) => t >= since)
  if (first < 0) return null
  const lines = times.length - first
  if (isNew || lines < RUN.lines || !(rate.surprise > MOVED)) return times[first]!
  const most = Math.max(RUN.seconds, (RUN.gaps * (times.at(-1)! - times[first]!)) / lines)
  while (first > 0 && times[first]! - times[first - 1]! <= most) first--
  return times[first]!
}

/* Whether the lines of a group come more often than before, or have stopped. */

/** Less covered time, seconds, is no baseline, and no window. */
const COVERED_BEFORE = 40
const COVERED_NOW = 15
const DISPERSION_MAX = 12
/** A group that stopped had this many lines, has under this share of what is expected, and this many gaps of silence. */
const STOPPED = { lines: 5, share: 0.3, gaps: 2.5, score: 2 }

interface Rate {
  /** Log likelihood ratio, over the group's own dispersion. */
  surprise: number
  isUp: boolean
  /** Seconds. */
  window: number
  found: number
  /** Null: there is no time before to compare with. */
  expected: number | null
  before: number
}

/** An entity that was known for so long before, seconds, had time to write a line that it did not. */
const KNOWN_BEFORE = 1_800

/** Whether errors began with the stream that has them, of an entity that wrote none before. */
const beganWithStream = (stream: Stream): boolean => isYoung(stream, KNOWN_BEFORE)

/**
 * The window in which the rate moved most.
 * @param times of the group, ascending, seconds before now
 * @param isError where its stream is young, the time before counts, in which its entity wrote no error
 */
function strongestRate(
  times: readonly number[],
  stream: Stream,
  { focus, baseline, rates }: Windows,
  isError = false,
): Rate {
  const from = isError && beganWithStream(stream) ? Math.max(-baseline - focus, stream.known) : null
  const quiet = -times.at(-1)!
  let best: Rate = { surprise: 0, isUp: true, window: focus, found: 0, expected: 0, before: 0 }
  let before = times.length
  for (const window of rates) {
    while (before > 0 && times[before - 1]! >= -window) before--
    const found = times.length - before
    const now = covered(stream, -window, 0)
    const past = from === null ? covered(stream, -baseline - focus, -window) : Math.max(0, -window - from)
    if (past < COVERED_BEFORE || now < COVERED_NOW) {
      if (found && window === focus && !best.surprise)
        best = { surprise: 0, isUp: true, window, found, expected: null, before: 0 }
      continue
    }
    const expected = ((before + 0.3) / past) * Math.max(now, COVERED_NOW)
    const phi = before >= 4 ? dispersion(times, before, window, past) : 1
    const up = ratioUp(found, expected) / phi
    // The gaps are looked at last: they are to be sorted.
    const isSilent =
      before >= STOPPED.lines && found <= STOPPED.share * expected && quiet > STOPPED.gaps * usualGap(times)
    const down = isSilent ? ratioDown(found, expected) / phi : 0
    const surprise = Math.max(up, down)
    const isFirst = window === focus && !best.found && !best.surprise
    if (surprise > best.surprise + 0.5 || isFirst)
      best = { surprise, isUp: up >= down, window, found, expected, before }
  }
  return best
}

const hasStopped = ({ isUp, surprise }: Rate): boolean => !isUp && surprise > STOPPED.score

/** Whether its source took nothing in for most of the time since its last line. @param now epoch ms */
export function stoppedWithSource(
  { source, last }: Pick<Group, 'source' | 'last'>,
  now: number,
  gaps: readonly SourceGap[],
): boolean {
  const since = now + last.t * 1000
  const still = gaps
    .filter((gap) => gap.source === source)
    .reduce((all, { from, to }) => {
      const end = to === null ? now : Math.min(now, Date.parse(to))
      return all + Math.max(0, end - Math.max(since, Date.parse(from)))
    }, 0)
  return still > (now - since) / 2
}

/** 95 % of the gaps between lines, seconds, at least 1. */
function usualGap(times: readonly number[]): number {
  if (times.length <= 4) return Number.POSITIVE_INFINITY
  return Math.max(1, quantile(ascending(times.slice(1).map((t, i) => t - times[i]!)), 0.95))
}

/** Variance over mean of the counts per window before: bursty lines must rise by more to have risen. */
function dispersion(times: readonly number[], before: number, window: number, past: number): number {
  const windows = Math.max(2, Math.round(past / window))
  if (windows < 6) return 1
  const mean = before / windows
  let used = 0
  let variance = 0
  // Times ascend, so that those of one window are neighbours.
  for (let i = 0; i < before; used++) {
    const at = Math.floor((-window - times[i]!) / window)
    const from = i
    while (i < before && Math.floor((-window - times[i]!) / window) === at) i++
    variance += (i - from - mean) ** 2
  }
  variance += Math.max(0, windows - used) * mean * mean
  return Math.min(DISPERSION_MAX, Math.max(1, variance / windows / mean))
}

/*
 * Streams: what one pod or component of an entity writes to one source. A rate is told over the time that
 * its stream covers, so that a pod of five minutes is not seen to have risen from nothing.
 */

/** A silence longer than this, seconds, or 20 usual gaps, is time that is not covered. */
const SILENCE = 600
const GAPS = 20
/** A stream that ended this long ago, or less, has stopped; one that ended before has only ended. */
const ENDED = 1_800

/** Sets the stream of each. @param lines without samples, in order of time. */
export function setStreams(lines: readonly Timed[]): void {
  const sources = new Map<string, Map<string, Map<string, Stream>>>()
  const known = new Map<Map<string, Stream>, number>()
  const streams: Stream[] = []
  // Rows share their labels, and with them mostly all that tells a stream.
  const shared = new Map<Timed['row']['labels'], Timed>()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const { source, entity, labels, words } = line.row
    const like = labels === words ? shared.get(words) : undefined
    if (like?.row.source === source && like.row.entity === entity) {
      line.stream = like.stream!
      line.stream.times.push(line.t)
      continue
    }
    if (labels === words) shared.set(words, line)
    const parts = mapAt(mapAt(sources, source), entity)
    const part = String(labels.pod ?? labels.component ?? '')
    let stream = parts.get(part)
    if (!stream) {
      if (!known.has(parts)) known.set(parts, line.t)
      stream = { times: [], known: known.get(parts)!, spans: [], firsts: 0, before: 0, lately: 0 }
      parts.set(part, stream)
      streams.push(stream)
    }
    stream.times.push(line.t)
    line.stream = stream
  }
  for (const stream of streams) stream.spans = spansOf(stream.times)
}

function spansOf(times: readonly number[]): [number, number][] {
  const most = Math.max(SILENCE, GAPS * usualStreamGap(times))
  const spans: [number, number][] = []
  let from = times[0]!
  for (let i = 1; i < times.length; i++) {
    if (times[i]! - times[i - 1]! <= most) continue
    spans.push([from, times[i - 1]!])
    from = times[i]!
  }
  const end = times.at(-1)!
  spans.push([from, -end <= Math.max(most, ENDED) ? 0 : end])
  return spans
}

/**
 * Median of the gaps between times, seconds; 0 where it is too short to matter, which most streams are told
 * by without sorting: half of the gaps would have to be longer than SILENCE / GAPS.
 */
function usualStreamGap(times: readonly number[]): number {
  const length = times.at(-1)! - times[0]!
  if (length < (SILENCE / GAPS) * Math.floor((times.length - 1) / 2)) return 0
  return quantile(ascending(times.slice(1).map((t, i) => t - times[i]!)), 0.5) || 0
}

/** Whether a stream began after its entity was known for this long, seconds. */
const isYoung = ({ spans, known }: Stream, after: number): boolean => spans[0]![0] > known + after

/** Seconds that a stream covers between two times. */
function covered({ spans }: Stream, from: number, to: number): number {
  let sum = 0
  // A pair that is taken apart is gone through, too.
  for (let i = 0; i < spans.length; i++) {
    const span = spans[i]!
    sum += Math.max(0, Math.min(to, span[1]) - Math.max(from, span[0]))
  }
  return sum
}

const OWN = 1.5
const NEAR = 1
const AT_ONSET = 0.7
/** Seconds before and after the onset in which what began belongs to it. */
const ONSET_BEFORE = 120
const ONSET_AFTER = 420
/** One wording in so many entities is told once. */
const ENTITIES = 3
/** What requests say of the first entities lifts their other lines. */
const LIFT = { first: 3, from: 3, full: 6, most: 1.5, step: 0.3 }
/** A step in code that stopped, of a service whose requests go on as before, is seldom a finding. */
const STOPPED_BY_MIX = 1.2
const CLUSTER = { candidates: 12, score: 2.5, seconds: 150 }
/** What a line weighs in dating the trouble that says nothing of any. */
const BY_CHANCE = 0.3
const STRONG = 8

export interface Item {
  entity: string
  score: number
  began: number | null
  group: Group | null
  series: Series | null
  /** Other entities with the same wording. */
  alsoIn: number
}

const byScore = (a: Item, b: Item): number => b.score - a.score

/** @returns the strongest first */
export function rankItems(
  groups: readonly Group[],
  series: readonly Series[],
  entity: string,
  paths: Paths,
): Item[] {
  const own = (of: string) => (of === entity ? OWN : 0)
  const items: Item[] = [
    ...groups
      .filter(({ moved }) => moved)
      .map((group) => ({
        ...{ entity: group.entity, score: group.score + own(group.entity), began: group.began },
        ...{ group, series: null, alsoIn: 0 },
      })),
    ...series.map((one) => ({
      ...{ entity: one.entity, score: one.score + own(one.entity), began: one.began },
      ...{ group: null, series: one, alsoIn: 0 },
    })),
  ].sort(byScore)
  foldWordings(items, entity)
  const lifts = liftsOf(paths)
  const gone = goneSteps(paths)
  for (const item of items) {
    item.score += lifts.get(item.entity) ?? 0
    if (item.group?.stopped && paths.requests >= REQUESTS_MIN && isOfRequests(item.group, gone))
      item.score -= STOPPED_BY_MIX
  }
  return items.sort(byScore)
}

/** The same wording in three entities and more is one line; the others are dropped. */
function foldWordings(items: readonly Item[], entity: string): void {
  const byTemplate = new Map<number, Item[]>()
  for (const item of items)
    if (item.group && item.entity !== entity) listAt(byTemplate, item.group.template.n).push(item)
  for (const [first, ...others] of byTemplate.values()) {
    if (others.length + 1 < ENTITIES) continue
    first!.alsoIn = others.length
    first!.score += 0.5 * Math.log1p(others.length + 1)
    for (const other of others) other.score = -1
  }
}

function liftsOf({ entities }: Paths): Map<string, number> {
  const lifts = [...entities]
    .slice(0, LIFT.first)
    .map(([entity, score], i): [string, number] => [
      entity,
      score >= LIFT.from ? LIFT.most * (1 - i * LIFT.step) * Math.min(1, score / LIFT.full) : 0,
    ])
  return new Map(lifts)
}

const goneSteps = ({ findings }: Paths): Set<string> =>
  new Set(findings.flatMap((finding) => (finding.kind === 'path' && finding.gone ? [finding.gone.key] : [])))

function isOfRequests({ entity, last }: Group, gone: ReadonlySet<string>): boolean {
  if (traceIdOf(last) === null) return false
  const place = placeIn(last.row.text)
  return place !== null && !gone.has(`${entity}\0${place}`)
}

/** Where nothing says when trouble began, changes are ranked as if it began now: seconds before the end. */
export const RANKED_FROM = -60

/**
 * The beginning of the heaviest cluster among the strongest; requests that fail anew are dated best.
 * @returns seconds before the end; null: nothing says when trouble began
 */
export function onsetOf(items: readonly Item[], { findings }: Paths): number | null {
  const lead = findings.find(
    (finding): finding is BrokenPath =>
      finding.kind === 'path' &&
      finding.first >= 0.5 * finding.hits &&
      finding.score >= 5 &&
      finding.fresh?.before === 0,
  )
  if (lead) return lead.since
  const candidates = items
    .slice(0, CLUSTER.candidates)
    .filter(({ began, score }) => began !== null && score > CLUSTER.score)
  let onset: number | null = null
  let heaviest = 0
  for (const { began } of candidates) {
    const from = began!
    const weight = candidates
      .filter((one) => one.began! >= from && one.began! <= from + CLUSTER.seconds)
      .reduce((sum, item) => sum + (saysTrouble(item) ? 1 : BY_CHANCE) * item.score, 0)
    if (weight <= heaviest + 0.01) continue
    heaviest = weight
    onset = from
  }
  return onset
}

/** Of lines that say nothing of trouble some come more often at any time. */
const saysTrouble = ({ group, series }: Item): boolean =>
  series !== null || group!.stopped || group!.saysTrouble

export interface Surroundings {
  /** Entities that the trouble or the alert names, or that share a prefix with the entity. */
  near: Set<string>
  /** Words of what is wrong. */
  words: Set<string>
}

/** @param alerts lines that tripped the trigger. */
export function surroundingsOf(
  items: readonly Item[],
  alerts: readonly Timed[],
  entities: Iterable<string>,
  entity: string,
): Surroundings {
  const strong = items.filter((item) => item.group && item.entity === entity).slice(0, STRONG)
  const texts = strong.map(({ group }) => group!.last.row.text)
  const alert = alerts.map(({ row }) => row.text).join(' ')
  const said = `${texts.join(' ')} ${alert}`.toLowerCase()
  const near = new Set<string>()
  for (const other of entities)
    if (other !== '' && other !== entity && (isKin(other, entity) || names(said, other))) near.add(other)
  return { near, words: new Set([...texts.slice(0, 4).flatMap(wordsOf), ...wordsOf(alert)]) }
}

const isKin = (a: string, b: string): boolean => b !== '' && (a.startsWith(`${b}-`) || b.startsWith(`${a}-`))

/** Whether a text has a name as a word of its own. */
function names(text: string, name: string): boolean {
  const wanted = name.toLowerCase()
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + wanted.length] ?? ' '}`
    if (!/[a-z0-9-]/.test(around)) return true
  }
  return false
}

/** Lifts what is near and what began at the onset; sorts again. */
export function liftAround(items: Item[], near: ReadonlySet<string>, onset: number): void {
  for (const item of items) {
    if (near.has(item.entity)) item.score += NEAR
    const { began } = item
    if (began !== null && began >= onset - ONSET_BEFORE && began <= onset + ONSET_AFTER)
      item.score += AT_ONSET
  }
  items.sort(byScore)
}
