/**
 * Findings as lines: ids first, then when, whose, what was usual and what is now. What somebody or something did
 * (deploys, flags, failovers, rare kinds of events) is told by itself, and never folded.
 */
import { escapeLine } from '../../../schemas/plain-text.ts'
import { redact } from '../../net/redact.ts'
import { type Group, linesToldOf } from './groups.ts'
import type { Series } from './series.ts'
import type { Templates } from './skeletons.ts'
import {
  type BrokenCall,
  type BrokenPath,
  type FailingCall,
  namesOf,
  type PathFinding,
  type SlowStep,
  traceIdOf,
} from './traces.ts'
import { type BriefLine, type ContextRow, type Kind, type Shown, type Timed, valueAt } from './types.ts'
import { CHANGE_KIND, ERROR_LEVEL, LEVEL, NO_CHANGE_KIND, ROUTINE, TROUBLE, wordsOf } from './words.ts'

/** A kind is rare with at most so many events in the window, or with this share of all. */
const RARE = 12
const RARE_SHARE = 0.0005
/** Changes of others are looked at from so long before the onset, seconds. */
const BEFORE_ONSET = 1_800
const AFTER_ONSET = 120

export interface RankedChange {
  line: Timed
  score: number
  /** Its place in order of time, and as they came within an instant: a diff of several lines reads as it was written. */
  n: number
}

const saysTrouble = ({ row: { type, text } }: Timed): boolean => TROUBLE.test(`${type} ${text}`)
export const isRoutine = (line: Timed): boolean =>
  ROUTINE.test(`${line.row.type} ${line.row.text}`) && !saysTrouble(line)

/** Which events are changes: by how rare their kind is in its window, and by words that name one. */
export class Kinds {
  private readonly sources = new Map<string, { all: number; levels: number }>()
  private readonly rareMax: number
  private readonly fired: ReadonlySet<string>

  /** @param kinds of all lines. @param fired events that tripped the trigger: what is asked about is no change. */
  constructor(kinds: readonly Kind[], fired: ReadonlySet<string>) {
    this.fired = fired
    let lines = 0
    for (const kind of kinds) {
      lines += kind.count
      const source = valueAt(this.sources, kind.source, () => ({ all: 0, levels: 0 }))
      source.all += kind.count
      if (LEVEL.test(kind.type)) source.levels += kind.count
    }
    this.rareMax = Math.max(RARE, lines * RARE_SHARE)
  }

  isRare({ kind }: Timed): boolean {
    return kind.count <= this.rareMax && !LEVEL.test(kind.type)
  }

  isChange(line: Timed): boolean {
    const { row, kind } = line
    kind.isChange ??= row.isFinding === true || this.isRare(line) || namesChange(row)
    return kind.isChange && !row.isSample && !this.fired.has(row.id)
  }

  /** Rare kinds of a source of log lines are seldom changes. */
  isLog(source: string): boolean {
    const { all, levels } = this.sources.get(source)!
    return levels / all > 0.5
  }
}

function namesChange({ source, type }: Timed['row']): boolean {
  return CHANGE_KIND.test(`${type} ${source}`) && !LEVEL.test(type) && !NO_CHANGE_KIND.test(type)
}

/** Wordings that changes alone have: no group is of them. */
export function wordingsOf(lines: readonly Timed[], kinds: Kinds, templates: Templates): number {
  const found = new Set<string>()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const { entity, isFinding } = line.row
    if (isFinding || !kinds.isChange(line)) continue
    const { n, byEntity } = templates.of(line)
    if (!byEntity.has(entity)) found.add(`${n} ${entity}`)
  }
  return found.size
}

interface Around {
  entity: string
  near: ReadonlySet<string>
  /** Seconds before the end. */
  onset: number
  /** Words of what is wrong. */
  words: ReadonlySet<string>
  /** Length of what is told of, seconds. */
  focus: number
}

/** @returns the strongest first */
export function rankChanges(lines: readonly Timed[], kinds: Kinds, around: Around): RankedChange[] {
  const { entity, near, onset, focus } = around
  return lines
    .filter(
      (line) =>
        kinds.isChange(line) &&
        (line.row.entity === entity ||
          near.has(line.row.entity) ||
          (line.t >= onset - BEFORE_ONSET && line.t <= onset + AFTER_ONSET) ||
          line.t >= -focus),
    )
    .map((line, n) => ({ line, score: scoreOf(line, kinds, around), n }))
    .sort((a, b) => b.score - a.score)
}

function scoreOf(line: Timed, kinds: Kinds, { entity, near, onset, words, focus }: Around): number {
  const { row, t } = line
  const isTrouble = saysTrouble(line)
  const beforeOnset = t <= onset + AFTER_ONSET ? Math.max(30, onset - t) : 600
  const lately = isTrouble && t >= -focus ? Math.max(60, -t / 2) : Number.POSITIVE_INFINITY
  const gap = Math.min(beforeOnset, lately)
  const shared = wordsOf(row.text).filter((word) => words.has(word) && word !== entity).length
  return (
    6 / (1 + Math.log2(1 + gap / 60)) +
    (row.entity === entity ? 2 : near.has(row.entity) ? 1.5 : 0) +
    1.5 * Math.min(2, shared) +
    (kinds.isRare(line) ? 1 : 0) +
    (isTrouble ? 2 : 0) -
    (kinds.isLog(row.source) ? 4 : 0) -
    (isRoutine(line) ? 3 : 0)
  )
}

/* Alerts that fired and resolved many times before: that one fires again says little. */

const FIRING = new Set(['firing', 'fired', 'triggered', 'alerting', 'problem', 'opened'])
const RESOLVED = new Set(['resolved', 'recovered', 'cleared', 'ok', 'recovery', 'closed'])
/** Labels that name an alert. */
const NAMES = ['alertname', 'alert', 'rule', 'monitor']
/** So many times are many. */
const TIMES = 3

export interface Flapping {
  /** The first and the last time it fired. */
  first: Timed
  last: Timed
  /** How often it fired and was resolved. */
  times: number
  /** From firing to resolved, seconds, the median. */
  lasted: number
}

/** @param lines in order of time. @param entity whose alerts are looked at. @returns those that fired most often first */
export function flappingOf(lines: readonly Timed[], entity: string): Flapping[] {
  const alerts = new Map<string, { open: Timed | null; fired: Timed[]; lasted: number[] }>()
  // Rows share their labels, mostly those of a kind, so that few are looked at.
  const labelled = new Map<ContextRow['labels'], { kind: Kind; state: string | undefined }>()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const { row } = line
    if (row.entity !== entity || row.isSample) continue
    const { labels } = row
    let known = labelled.get(labels)
    if (known?.kind !== line.kind) {
      const state = stateIn(labels.status) ?? stateIn(labels.state) ?? stateIn(line.kind.type)
      known = { kind: line.kind, state }
      labelled.set(labels, known)
    }
    const state = known.state ?? stateSaid(row)
    if (state === undefined) continue
    const { type, source } = row
    const name = NAMES.map((label) => labels[label]).find((value) => value !== undefined)
    const key = `${source}\0${name ?? (type.toLowerCase() === state ? '' : type)}`
    const alert = valueAt(alerts, key, () => ({ open: null, fired: [], lasted: [] }))
    if (FIRING.has(state)) alert.open = line
    else if (alert.open) {
      alert.fired.push(alert.open)
      alert.lasted.push(line.t - alert.open.t)
      alert.open = null
    }
  }
  return [...alerts.values()]
    .filter(({ fired }) => fired.length >= TIMES)
    .map(({ fired, lasted }) => ({
      ...{ first: fired[0]!, last: fired.at(-1)!, times: fired.length },
      lasted: lasted.sort((a, b) => a - b)[Math.floor(lasted.length / 2)]!,
    }))
    .sort((a, b) => b.times - a.times)
}

/* As connectors of alerts say it: in a label, as the type, or as the first word of the text. */

function stateIn(word: string | number | undefined): string | undefined {
  const state = String(word ?? '').toLowerCase()
  return FIRING.has(state) || RESOLVED.has(state) ? state : undefined
}

const [F, R] = ['F', 'R'].map((letter) => letter.charCodeAt(0))

function stateSaid(row: ContextRow): string | undefined {
  const first = row.page?.[row.from ?? 0]
  if (row.page && first !== F && first !== R) return undefined
  const { text } = row
  return text.startsWith('FIRING:') || text.startsWith('RESOLVED:')
    ? text.slice(0, text.indexOf(':')).toLowerCase()
    : undefined
}

/** Longer texts keep their ends: Java and containerd put the cause last. This share is the head. */
const HEAD_SHARE = 0.56
/** Ids in texts are told by their first letters: two lines that differ in them alone are one line. */
const LONG_ID = /\b([0-9a-f]{8})(?:-?[0-9a-f]{4,}){2,}\b/gi
const LABEL_MAX = 60
/** Of a label that one value has in so much of a group, the value is told. */
const MOSTLY = 0.7
const HALF_DAY = 43_200

/** What lines need to know of the whole. */
export interface Telling {
  entity: string
  /** End of the window, epoch ms. */
  now: number
  /** Label that says which entity something is of, where its own lines do not. */
  labelOf(entity: string): string
  /** Characters of a text. */
  textMax: number
  /** Whether labels that repeat the entity's name are shortened. */
  isTight: boolean
  /** Length of what is told of, seconds. */
  focus: number
}

/** A text in one line without what looks like a secret. */
const oneLine = (text: string): string => escapeLine(redact(text.replace(/[\r\n\u2028\u2029]+/g, ' ⏎ ')))

/** In so many characters, both ends kept. */
export function shortened(text: string, most: number): string {
  const plain = oneLine(text).replace(LONG_ID, '$1…')
  if (plain.length <= most) return plain
  const head = Math.floor(most * HEAD_SHARE)
  return `${plain.slice(0, head)} … ${plain.slice(head + 3 - most)}`
}

/** As people read numbers: four digits. */
export const number = (value: number): string =>
  Math.abs(value) >= 1000 ? String(Math.round(value)) : String(+value.toPrecision(4))

/** Numbers as they are told, for those who check what was said of them. */
export const shortNumbers = (...values: readonly number[]): number[] =>
  values.filter(Number.isFinite).map((value) => Number(number(value)))

/** How many lines were to be expected: a rate over a while, which knows two digits of a small number. */
const expectedWords = (lines: number): string =>
  lines < 10 ? String(+lines.toPrecision(2)) : number(Math.round(lines))

const named = (id: string, count: number, numbers: number[]): Shown[number] =>
  numbers.length ? [id, count, numbers] : [id, count]

/** Time of day, UTC; with the day where it is more than half a day ago. */
export function clock(t: number, { now }: Pick<Telling, 'now'>): string {
  const iso = new Date(now + t * 1000).toISOString()
  return t < -HALF_DAY ? iso.slice(5, 16).replace('T', ' ') : iso.slice(11, 19)
}

const minutes = (seconds: number): string => (seconds % 60 ? `${seconds}s` : `${seconds / 60}m`)

const braces = (parts: readonly string[], between: string): string =>
  parts.length ? ` {${parts.join(between)}}` : ''

/** @param of entity: a pod that begins with its name is told by its end where room is tight. */
function labelText(name: string, value: unknown, of: string, { isTight }: Pick<Telling, 'isTight'>): string {
  const plain = redact(String(value))
  const isNamed = isTight && of !== '' && plain.startsWith(`${of}-`) && plain.length > of.length + 7
  return escapeLine(`${name}=${isNamed ? `…${plain.slice(-6)}` : plain.slice(0, LABEL_MAX)}`)
}

/** Labels of an event; not the one that says it is of the entity asked about. */
function labelsText(labels: Timed['row']['labels'], of: string, telling: Telling): string {
  const { entity, labelOf } = telling
  const told = Object.entries(labels).filter(
    ([name, value]) => name !== 'value' && !(name === labelOf(entity) && value === entity),
  )
  return braces(
    told.map(([name, value]) => labelText(name, value, of, telling)),
    ' ',
  )
}

export function changeLine(line: Timed, telling: Telling): BriefLine {
  const { id, source, type, text, labels, entity } = line.row
  const said = `${id} ${clock(line.t, telling)} ${source} ${type}: ${shortened(text, telling.textMax)}${labelsText(labels, entity, telling)}`
  return { text: said, shown: [[id, 1]] }
}

export function groupLine(group: Group, alsoIn: number, telling: Telling): BriefLine {
  const { last, source, type } = group
  const lines = linesToldOf(group, telling.focus)
  const first = lines[0]!
  const isOne = lines.length === 1
  const ids = isOne ? last.row.id : `${first.row.id}…${last.row.id}`
  const from = clock(first.t, telling)
  const until = isOne ? '' : `–${clock(last.t, telling)}`
  const { found, expected } = group.rate
  const rate = expected === null || group.isNew ? [] : [found, Number(expectedWords(expected))]
  const more = alsoIn ? ` (and in ${alsoIn} more entities)` : ''
  return {
    text: `${ids} ${from}${until} ${source} ${type} ${rateText(group, lines.length, telling)}: ${shortened(last.row.text, telling.textMax)}${spreadText(group, telling)}${more}`,
    shown: isOne
      ? [named(last.row.id, 1, rate)]
      : [[first.row.id, 0], named(last.row.id, lines.length, rate)],
  }
}

/** @param told lines that it is said of: where a run goes back beyond the window of its rate, both are said */
function rateText({ rate, stopped, isNew, last }: Group, told: number, telling: Telling): string {
  const { found, window, expected } = rate
  if (stopped)
    return `STOPPED: ${found} in ${minutes(window)}, usual ${expectedWords(expected!)}, last at ${clock(last.t, telling)}`
  if (expected === null) return `×${told}, no history`
  if (isNew) return `×${told} new`
  const counted = `in ${minutes(window)}, usual ${expectedWords(expected)}`
  return told === found ? `×${found} ${counted}` : `×${told}, ${found} ${counted}`
}

/** What names an entity in its own lines: another source may call it otherwise. */
function ownLabel([line, ...others]: readonly Timed[], entity: string, { labelOf }: Telling): string {
  const isIn = ({ row }: Timed, name: string) => String(row.labels[name] ?? '') === entity
  const names = [labelOf(entity), ...Object.keys(line!.row.labels)].filter((name) => isIn(line!, name))
  return names.find((name) => others.every((one) => isIn(one, name))) ?? names[0] ?? labelOf(entity)
}

/** What the lines of the focus share: a value, mostly one, or how many there are. */
function spreadText({ lines, last, entity }: Group, telling: Telling): string {
  const { entity: own, labelOf, focus } = telling
  const recent = lines.filter(({ t }) => t >= -focus)
  const label = entity === own ? labelOf(entity) : ownLabel([last, ...recent], entity, telling)
  const parts = entity && entity !== own ? [labelText(label, entity, '', telling)] : []
  for (const name of recent.length ? Object.keys(last.row.labels) : []) {
    if (name === 'value' || name === label) continue
    const counts = new Map<string, number>()
    for (const { row } of recent) {
      const value = String(row.labels[name] ?? '')
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const [value, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
    if (counts.size === 1) parts.push(labelText(name, value, entity, telling))
    else if (most / recent.length >= MOSTLY)
      parts.push(`${labelText(name, value, entity, telling)} ${Math.round((100 * most) / recent.length)}%`)
    else parts.push(`${counts.size} ${escapeLine(name)}${name.endsWith('s') ? ' values' : 's'}`)
  }
  return braces(parts, ', ')
}

export function flappingLine({ first, last, times, lasted }: Flapping, telling: Telling): BriefLine {
  const { source, type, text, id } = last.row
  return {
    text: `${first.row.id}…${id} ${source} ${type}: FLAPPING: fired and resolved ${times} times since ${clock(first.t, telling)}, mostly within ${minutes(Math.round(lasted))}, last at ${clock(last.t, telling)}: ${shortened(text, telling.textMax)}`,
    shown: [
      [first.row.id, 0],
      [id, times],
    ],
  }
}

export function seriesLine(series: Series, telling: Telling): BriefLine {
  const { source, name, usual, low, high, start, now, peak, began, samples, normal, far, labels } = series
  const hasTrend = Number.isFinite(start) && Math.abs(start - usual) > 0.15 * Math.abs(usual)
  const first = hasTrend ? `at first ${number(start)}, ` : ''
  const since = began === null ? '' : ` since ${clock(began, telling)}`
  const ids = normal === far ? far.row.id : `${normal.row.id}…${far.row.id}`
  return {
    text: `${ids} ${source} ${escapeLine(name)}: ${first}${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (${peak < low ? 'lowest' : 'peak'} ${number(peak)})${since}, ${samples} samples${labelsText(labels, series.entity, telling)}`,
    shown: [
      [normal.row.id, 1, shortNumbers(usual, low, high, start)],
      [far.row.id, 1, shortNumbers(now, peak)],
    ],
  }
}

/* Findings of requests as lines: the last normal event, an example, and what differs between them. */

/** Of the text of a new step. */
const STEP_TEXT = 150
/** From this share of requests on it is said that they break here first. */
const BREAKS_FIRST = 0.3

export function pathLine(finding: PathFinding, telling: Telling): BriefLine {
  const { normal, example, entity } = finding
  const ids = normal.row.id === example.row.id ? example.row.id : `${normal.row.id}…${example.row.id}`
  const { source, type } = example.row
  const whose = entity ? ` {${ownLabel([example], entity, telling)}=${entity}}` : ''
  const isSlow = finding.kind === 'slow'
  const was = isSlow ? shortNumbers(finding.usual, finding.low, finding.high, finding.wholeUsual) : []
  const now = isSlow ? shortNumbers(finding.now, finding.p90, finding.peak, finding.wholeNow) : []
  const shown: Shown = [named(normal.row.id, 1, was), named(example.row.id, 1, now)]
  const text =
    finding.kind === 'slow'
      ? slowText(finding, telling)
      : finding.kind === 'call'
        ? callText(finding)
        : finding.kind === 'failing'
          ? failingText(finding)
          : brokenText(finding, telling)
  const what = finding.kind === 'slow' && !finding.isPause ? source : `${source} ${type}`
  // Names of entities and steps are of the rows: none of them begins another line.
  return { text: oneLine(`${ids} ${clock(finding.since, telling)} ${what} ${text}${whose}`), shown }
}

/** What a line tells, so that the same is not told again by other parts. */
export function toldBy(finding: PathFinding): string[] {
  if (finding.kind === 'slow') return [`${finding.at}\0${finding.operation}`]
  if (finding.kind === 'failing') return []
  return [finding.gone?.key, finding.fresh?.key].filter((key) => !!key) as string[]
}

/** A step by its place, with the entity where that is another. */
function stepName(key: string, at: string): string {
  if (key === '') return 'end of its lines'
  const { entity, place } = namesOf(key)
  return entity === at ? place : `${entity} ${place}`
}

function traceText(line: Timed): string {
  const id = traceIdOf(line)
  return id === null ? '' : ` trace=${id}`
}

function brokenText(finding: BrokenPath, telling: Telling): string {
  const { after, gone, fresh, nowCount, beforeCount, hits, first, example, lastNormal } = finding
  const { entity, place } = namesOf(after)
  const parts: string[] = []
  if (gone) {
    const last = lastNormal === null ? '' : `, last at ${clock(lastNormal, telling)}`
    parts.push(
      `${stepName(gone.key, entity)} ${gone.now ? 'FEWER' : 'STOPPED'}: ${gone.now} of ${nowCount} requests, expected ${Math.round(gone.share * nowCount)}${last}`,
    )
  }
  if (fresh) {
    const isError = fresh.key !== '' && ERROR_LEVEL.test(example.row.type)
    const said = fresh.key === '' ? '' : `: ${stepText(example, namesOf(fresh.key).place)}`
    parts.push(
      `${gone ? 'now' : 'NEW'} ${stepName(fresh.key, entity)}${isError ? ' ERROR' : ''} ×${fresh.now} of ${nowCount} (usual ${fresh.before} of ${beforeCount})${said}`,
    )
  }
  if (hits && first / hits >= BREAKS_FIRST) parts.push(`breaks first here in ${first} of ${hits}`)
  return `after ${entity} ${place}: ${parts.join('; ')}${traceText(example)}`
}

/** What a step says, without its time, ids and place, which are told already. */
function stepText({ row }: Timed, place: string): string {
  const plain = row.text
    .replace(/^[\d:.,TZ-]+\s+\w+\s+/, '')
    .replace(/trace[_\s-]?id["']?\s*[:=]\s*\S+\s*/i, '')
    .replace(/span[_\s-]?id["']?\s*[:=]\s*\S+\s*/i, '')
    .replace(`${place} `, '')
  return shortened(plain, STEP_TEXT)
}

function callText({ of, gone, fresh, nowCount, beforeCount, example }: BrokenCall): string {
  const { entity, place } = namesOf(of)
  const what = gone
    ? `call of ${stepName(gone.key, entity)} ${gone.now ? 'FEWER' : 'STOPPED'}: in ${gone.now} of ${nowCount}, usual ${Math.round((100 * gone.before) / beforeCount)} %`
    : `NEW call of ${stepName(fresh!.key, entity)}: ${fresh!.now} in ${nowCount}, usual ${fresh!.before} in ${beforeCount}`
  return `${entity} ${place}: ${what}${traceText(example)}`
}

function failingText(finding: FailingCall): string {
  const { of, beforeCount, beforeFailed, nowCount, nowFailed, first, example } = finding
  const { entity, place } = namesOf(of)
  const breaks = first / nowFailed >= BREAKS_FIRST ? `; breaks first here in ${first} of ${nowFailed}` : ''
  return `${entity} ${place} FAILING: ${nowFailed} of ${nowCount} requests, usual ${beforeFailed} of ${beforeCount}${breaks}: ${shortened(example.row.text, STEP_TEXT)}${traceText(example)}`
}

function slowText(finding: SlowStep, telling: Telling): string {
  const { at, operation, calls, isPause, usual, low, high, now, p90, peak, above, nowCount } = finding
  const to = calls ? ` (${isPause ? 'then' : 'calls'} ${calls})` : ''
  const took = isPause
    ? `pause ${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (p90 ${number(p90)}, peak ${number(peak)}) ms`
    : `whole ${number(finding.wholeUsual)} → ${number(finding.wholeNow)} (peak ${number(peak)}) ms, own ${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (p90 ${number(p90)}) ms`
  const pairs = finding.slowPairs ? `; calls of ${finding.entity} slow: ${finding.slowPairs}` : ''
  return `${at} ${operation}${to} SLOWER: ${took}; ${above} of ${nowCount} above usual since ${clock(finding.since, telling)}${pairs}`
}
