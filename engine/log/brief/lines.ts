/** Findings as lines: ids first, then when, whose, what was usual and what is now. */
import { escapeLine } from '../../../schemas/plain-text.ts'
import { redact } from '../../net/redact.ts'
import type { Flapping } from './changes.ts'
import type { Group } from './groups.ts'
import type { Series } from './series.ts'
import {
  type BrokenCall,
  type BrokenPath,
  type FailingCall,
  namesOf,
  type PathFinding,
  type SlowStep,
  traceIdOf,
} from './traces.ts'
import type { BriefLine, Timed } from './types.ts'
import { ERROR_LEVEL } from './words.ts'

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
  /** Label that says which entity something is of. */
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
  const { lines, first, last, rate, stopped, isNew, lately, source, type } = group
  const isOne = lines.length === 1
  const ids = isOne ? last.row.id : `${first.row.id}…${last.row.id}`
  const from = clock(stopped ? first.t : (group.began ?? first.t), telling)
  const until = isOne ? '' : `–${clock(last.t, telling)}`
  const more = alsoIn ? ` (and in ${alsoIn} more entities)` : ''
  const count = stopped ? lines.length : isNew || rate.expected === null ? lately : rate.found
  return {
    text: `${ids} ${from}${until} ${source} ${type} ${rateText(group, telling)}: ${shortened(last.row.text, telling.textMax)}${spreadText(group, telling)}${more}`,
    shown: isOne
      ? [[last.row.id, 1]]
      : [
          [first.row.id, 0],
          [last.row.id, Math.max(1, count)],
        ],
  }
}

function rateText({ rate, stopped, isNew, lately, last }: Group, telling: Telling): string {
  const { found, window, expected } = rate
  if (stopped)
    return `STOPPED: ${found} in ${minutes(window)}, usual ${number(expected!)}, last at ${clock(last.t, telling)}`
  if (expected === null) return `×${lately}, no history`
  return isNew ? `×${lately} new` : `×${found} in ${minutes(window)}, usual ${number(expected)}`
}

/** What the lines of the focus share: a value, mostly one, or how many there are. */
function spreadText({ lines, last, entity }: Group, telling: Telling): string {
  const { entity: own, labelOf, focus } = telling
  const recent = lines.filter(({ t }) => t >= -focus)
  const parts = entity && entity !== own ? [labelText(labelOf(entity), entity, '', telling)] : []
  for (const name of recent.length ? Object.keys(last.row.labels) : []) {
    if (name === 'value' || name === labelOf(entity)) continue
    const counts = new Map<string, number>()
    for (const { row } of recent) {
      const value = String(row.labels[name] ?? '')
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const [value, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
    if (counts.size === 1) parts.push(labelText(name, value, entity, telling))
    else if (most / recent.length >= MOSTLY)
      parts.push(`${labelText(name, value, entity, telling)} ${Math.round((100 * most) / recent.length)}%`)
    else parts.push(`${counts.size} ${escapeLine(name)}s`)
  }
  return braces(parts, ', ')
}

export function flappingLine({ first, last, times, lasted }: Flapping, telling: Telling): BriefLine {
  const { source, type, text, id } = last.row
  return {
    text: `${first.row.id}…${id} ${source} ${type}: FLAPPING: fired and resolved ${times} times since ${clock(first.t, telling)}, mostly within ${minutes(Math.round(lasted))}, last at ${clock(last.t, telling)}: ${shortened(text, telling.textMax)}`,
    shown: [
      [first.row.id, 1],
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
    text: `${ids} ${source} ${escapeLine(name)}: ${first}${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (peak ${number(peak)})${since}, ${samples} samples${labelsText(labels, series.entity, telling)}`,
    shown: [
      [normal.row.id, 1],
      [far.row.id, 1],
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
  const whose = entity ? ` {${telling.labelOf(entity)}=${entity}}` : ''
  const shown: BriefLine['shown'] = [
    [normal.row.id, 1],
    [example.row.id, 1],
  ]
  const text =
    finding.kind === 'slow'
      ? slowText(finding, telling)
      : finding.kind === 'call'
        ? callText(finding)
        : finding.kind === 'failing'
          ? failingText(finding)
          : brokenText(finding, telling)
  const what = finding.kind === 'slow' && !finding.isPause ? source : `${source} ${type}`
  return { text: `${ids} ${clock(finding.since, telling)} ${what} ${text}${whose}`, shown }
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
