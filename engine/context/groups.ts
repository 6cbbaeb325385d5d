/** Groups: lines of one template of one entity, with how unusual they are now. */
import { mapAt, ratioUp } from './measures.ts'
import { beganWithStream, hasStopped, type Rate, strongestRate } from './rates.ts'
import type { Templates } from './templates.ts'
import type { Stream, Template, Timed } from './types.ts'
import type { Windows } from './windows.ts'
import { ERROR_LEVEL, TROUBLE, WARN_LEVEL } from './words.ts'

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
  first: Timed
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

/** @param lines without samples and changes, in order of time, with their streams. */
export function groupsOf(lines: readonly Timed[], templates: Templates, windows: Windows): Group[] {
  const { focus, baseline } = windows
  const byTemplate = new Map<Template, Map<string, Timed[]>>()
  const groups: Timed[][] = []
  for (const line of lines) {
    const stream = line.stream!
    const isEarly = line.t < -focus && line.t > -focus - EARLY * baseline
    const byEntity = mapAt(byTemplate, templates.of(line))
    const known = byEntity.get(line.row.entity)
    if (known) known.push(line)
    else {
      const group = [line]
      byEntity.set(line.row.entity, group)
      groups.push(group)
      if (isEarly) stream.firsts++
    }
    if (isEarly) stream.before++
    else if (line.t >= -focus) stream.lately++
  }
  return groups.map((group) => judged(group, templates, windows))
}

function judged(lines: Timed[], templates: Templates, windows: Windows): Group {
  const last = lines.at(-1)!
  const stream = last.stream!
  const { source, type, entity } = last.row
  const times = lines.map(({ t }) => t)
  const isError = ERROR_LEVEL.test(type)
  const rate = strongestRate(times, stream, windows, isError)
  const lately = times.filter((t) => t >= -windows.focus).length
  const stopped = hasStopped(rate)
  const isNew =
    rate.expected !== null && !stopped && (rate.before === 0 || lately === lines.length) && lately > 0
  const moved = stopped || (lately > 0 && (isNew || rate.expected === null || rate.surprise > MOVED))
  const isTrouble = TROUBLE.test(`${type} ${last.row.text.slice(0, TEXT_LOOKED_AT)}`)
  const group = { source, type, entity, lines, last, rate, lately, stopped, isNew, moved }
  return {
    ...group,
    first: lines[0]!,
    template: templates.of(last),
    saysTrouble: isTrouble || isError,
    score: scoreOf(group, stream, isTrouble),
    began: beganAt(group, times, windows, isError && beganWithStream(stream)),
  }
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
