/**
 * Times of schedules. A slot is one time a schedule fires at; each is fired once, whatever happens to
 * the clock, because its instant is the cause of its firing. After downtime the latest slot that was
 * missed fires once, late, and the others are skipped.
 */
import { Cron } from 'croner'
import { CRON_RULE } from '../../schemas/pattern-rules.ts'
import type { Condition } from '../../schemas/types.ts'
import { parseDuration } from './units.ts'

type Schedule = Extract<Condition, { every: string } | { cron: string }>

/** The least time between two slots of a cron expression: as for an interval. */
const CRON_MIN_MS = 60_000

/** Times of a cron expression. */
export type CronTimes = Pick<Extract<Condition, { cron: string }>, 'cron' | 'time_zone'>

/**
 * @param of the field that has them, for the message
 * @returns the field and the rule that times of a cron expression break, or null
 */
export function cronFault(
  { cron, time_zone }: CronTimes,
  of: string,
): { field: 'cron' | 'time_zone'; message: string } | null {
  if (time_zone !== undefined && !isTimeZone(time_zone))
    return {
      field: 'time_zone',
      message: `${of}.time_zone must be an IANA time zone, such as Europe/Paris`,
    }
  try {
    const next = cronOf(cron, time_zone).nextRun(new Date(0))
    if (next) return null
  } catch {
    return { field: 'cron', message: `${of}.cron ${cronRule(cron)}` }
  }
  return { field: 'cron', message: `${of}.cron never comes: no date fits it` }
}

/** The five fields, each with what it may be. */
const CRON_FIELDS = [
  ['minute', 'from 0 to 59'],
  ['hour', 'from 0 to 23'],
  ['day of month', 'from 1 to 31'],
  ['month', 'from 1 to 12, or JAN to DEC'],
  ['day of week', 'from 0 to 7, or SUN to SAT'],
] as const

/** The rule that an expression breaks: how many fields there are, else what the first that is wrong may be. */
function cronRule(cron: string): string {
  const fields = cron.trim().split(/\s+/)
  const isWrong = (field: string, place: number): boolean => {
    try {
      cronOf(CRON_FIELDS.map((_, at) => (at === place ? field : '*')).join(' '), undefined)
      return false
    } catch {
      return true
    }
  }
  const place = fields.length === CRON_FIELDS.length ? fields.findIndex(isWrong) : -1
  const of = CRON_FIELDS[place]
  if (!of) return CRON_RULE
  const [name, range] = of
  return `has ${fields[place]} as its ${name}, which must be ${range}: one, a list (1,5), a range from low to high (1-5), every one (*) or each so many (*/10), at least 1`
}

/**
 * The first slot after an instant.
 * @param anchor epoch ms an interval counts from: when the schedule began.
 * @returns epoch ms; null when none is left
 */
export function nextSlot(schedule: Schedule, anchor: number, after: number): number | null {
  if ('every' in schedule) {
    const every = parseDuration(schedule.every, 'condition.every')
    return anchor + Math.max(0, Math.floor((after - anchor) / every) + 1) * every
  }
  return cronOf(schedule.cron, schedule.time_zone).nextRun(new Date(after))?.getTime() ?? null
}

/**
 * The latest slot at or before an instant and after another.
 * @returns epoch ms, with how many slots between were skipped; null when there is none
 */
export function latestSlot(
  schedule: Schedule,
  anchor: number,
  after: number,
  now: number,
): { slot: number; skipped: number } | null {
  if ('every' in schedule) {
    const every = parseDuration(schedule.every, 'condition.every')
    const first = nextSlot(schedule, anchor, after)!
    if (first > now) return null
    const skipped = Math.floor((now - first) / every)
    return { slot: first + skipped * every, skipped }
  }
  const first = nextSlot(schedule, anchor, after)
  if (first === null || first > now) return null
  const slot = Math.max(first, lastCronSlot(schedule, now) ?? first)
  // How many were skipped is told; beyond a thousand their number says nothing more.
  let skipped = 0
  for (let at: number | null = first; at !== null && at < slot && skipped < 1_000; skipped++)
    at = nextSlot(schedule, anchor, at)
  return { slot, skipped }
}

/** The latest time of a cron expression at or before an instant, epoch ms; null: there was none. */
export function lastCronSlot({ cron, time_zone }: CronTimes, now: number): number | null {
  // Those before the next second, which none is in that comes after `now`.
  const end = new Date((Math.floor(now / 1_000) + 1) * 1_000)
  return cronOf(cron, time_zone).previousRuns(1, end)[0]?.getTime() ?? null
}

/** Length of the window a slot summarises: since the slot before it. Milliseconds. */
export function windowOfSlot(schedule: Schedule, slot: number): number {
  if ('every' in schedule) return parseDuration(schedule.every, 'condition.every')
  const before = cronOf(schedule.cron, schedule.time_zone).previousRuns(1, new Date(slot))[0]
  return before ? Math.max(CRON_MIN_MS, slot - before.getTime()) : CRON_MIN_MS
}

function cronOf(pattern: string, timeZone: string | undefined): Cron {
  return new Cron(pattern, { timezone: timeZone ?? 'UTC', mode: '5-part', paused: true })
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    // RangeError is how Intl says no.
    return false
  }
}
