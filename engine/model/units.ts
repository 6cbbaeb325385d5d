/**
 * Durations: a number and one of s, m, h, d, such as 5s, 15m, 1.5h, 7d (SPEC.md, Sources and labels 1). Levels of logs,
 * severities, US dollars and instants, too.
 */
import { ownField } from '../../schemas/fields-of.ts'
import type { Incident } from '../../schemas/types.ts'
import { fail } from '../errors.ts'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest window: a hundred years, so that sums stay exact. */
const MAX_MS = 36_525 * 86_400_000

/**
 * Milliseconds of a duration. @param field named in the error.
 * @throws SvcError invalid
 */
export function parseDuration(text: string, field: string): number {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text)
  const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : Number.NaN
  if (ms > MAX_MS)
    fail('invalid', `${field} must be at most ${MAX_MS / UNIT_MS.d}d, a hundred years`, { field })
  if (!(ms > 0))
    fail('invalid', `${field} must be a number above 0 and one of s, m, h, d, such as 15m`, { field })
  return Math.round(ms)
}

/*
 * Levels of logs in one spelling: the six names of OpenTelemetry's ranges of severity numbers
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber).
 */

/** Four numbers each, from 1. */
const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const
const NUMBERED = /^SEVERITY_NUMBER_(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)[1-4]?$/

/** What loggers call them, in capitals. */
const ALIASES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LEVELS.map((level) => [level, level])),
  VERBOSE: 'DEBUG',
  INFORMATION: 'INFO',
  INFORMATIONAL: 'INFO',
  NOTICE: 'INFO',
  WARNING: 'WARN',
  ERR: 'ERROR',
  SEVERE: 'ERROR',
  CRIT: 'FATAL',
  CRITICAL: 'FATAL',
  ALERT: 'FATAL',
  EMERG: 'FATAL',
  EMERGENCY: 'FATAL',
  PANIC: 'FATAL',
}

/** The level a word says; undefined where it says none. */
export function levelNamed(word: string): string | undefined {
  const name = word.trim().toUpperCase()
  return ownField(ALIASES, name)
}

/**
 * The level of a log record. The number goes before the text, since it is the one that is normalised.
 * @param number severityNumber, 1 to 24, or its name. @param text severityText.
 * @returns one of the six; a text of another kind in capitals; undefined where neither says anything.
 */
export function levelOf(number: unknown, text: string | undefined): string | undefined {
  const numbered = NUMBERED.exec(String(number))?.[1] ?? LEVELS[Math.ceil(Number(number) / 4) - 1]
  return numbered ?? (text === undefined ? undefined : (levelNamed(text) ?? text.trim().toUpperCase()))
}

/** A level in small letters, as it may be given and as it is stored; empty for a word that is none. */
export function spellingsOf(word: string): string[] {
  const level = levelNamed(word)
  return level === undefined ? [] : [word.trim().toLowerCase(), level.toLowerCase()]
}

/** Every way to write the level that a word says, as senders do; empty for a word that is none. */
export function levelSpellings(word: string): string[] {
  const level = levelNamed(word)
  if (level === undefined) return []
  const words = Object.keys(ALIASES).filter((alias) => ALIASES[alias] === level)
  const written = words.flatMap((one) => [one, one.toLowerCase(), one[0] + one.slice(1).toLowerCase()])
  return [...new Set([word, ...written])]
}

/* How severe what alerts and triggers tell is. */

export type Severity = Incident['severity']

/** From the lowest, which is 1. */
const RANKS: readonly Severity[] = ['info', 'warning', 'critical']

/** What senders call them, in small letters. Alerts that only show that alerting works have the severity none. */
const SEVERITIES: Readonly<Record<Severity, string>> = {
  critical:
    ' critical crit fatal error err page high major urgent severe disaster blocker emergency emerg alert panic ',
  warning: ' warning warn medium moderate average minor ticket ',
  info: ' info information informational low notice debug trace none ',
}
/** Grades, such as P1, SEV-2 and S3. */
const GRADE = /^(?:p|s|sev|severity|priority)[-_ ]?([0-5])$/
const OF_GRADES: readonly Severity[] = ['critical', 'critical', 'warning', 'warning', 'info', 'info']

/** 3 is critical, 1 info. */
export const rankOf = (severity: Severity): number => RANKS.indexOf(severity) + 1
export const severityOfRank = (rank: number): Severity => RANKS[rank - 1]!

/** The severity a word says; undefined where it says none. */
export function severityNamed(word: unknown): Severity | undefined {
  if (typeof word !== 'string' && typeof word !== 'number') return undefined
  const name = String(word).trim().toLowerCase()
  const grade = GRADE.exec(name)?.[1]
  if (grade !== undefined) return OF_GRADES[Number(grade)]
  return /^[a-z]+$/.test(name) ? RANKS.find((one) => SEVERITIES[one].includes(` ${name} `)) : undefined
}

/*
 * US dollars without the noise of binary fractions: 0.1 + 0.2 is 0.3 to whoever reads it. Rounded where
 * they are priced or summed, to a billionth of a dollar, which is less than a token of the cheapest
 * model costs.
 */

const DIGITS = 9

/** @param usd US dollars. @returns the same to a billionth */
export const dollars = (usd: number): number => Number(usd.toFixed(DIGITS))

/** The same in SQL. @param expression SQL of an amount or of a sum; null stays null. */
export const dollarsSql = (expression: string): string => `round(${expression}, ${DIGITS})`

/* Instants as ISO 8601 has them, in UTC. */

/** Milliseconds of a day of UTC. */
export const DAY_MS = 86_400_000

/** Dates of days met lately, each in the slot of its number: those of a window's ends and of a page of rows. */
const DAYS = 8
const isoDays = new Float64Array(DAYS).fill(Number.NaN)
const isoDates: string[] = Array.from({ length: DAYS }, () => '')
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

/**
 * As `Date.toISOString`, without a Date for each where neighbouring times are of one day, as in a page of rows.
 * @param ms epoch ms. @throws RangeError for no time at all
 */
export function iso(ms: number): string {
  const whole = Math.trunc(ms)
  const day = Math.floor(whole / DAY_MS)
  // Of a time that is none at all the slot is 0, and no day is equal to it.
  const slot = day & (DAYS - 1)
  if (day !== isoDays[slot]) {
    isoDates[slot] = new Date(day * DAY_MS).toISOString().slice(0, -13)
    isoDays[slot] = day
  }
  const inDay = whole - day * DAY_MS
  const seconds = Math.floor(inDay / 1_000)
  const hours = TWO_DIGITS[Math.floor(seconds / 3_600)]!
  const minutes = TWO_DIGITS[Math.floor(seconds / 60) % 60]!
  const fraction = String(1_000 + (inDay % 1_000)).slice(1)
  return `${isoDates[slot]}${hours}:${minutes}:${TWO_DIGITS[seconds % 60]!}.${fraction}Z`
}

/** The same; null where there is none. */
export const isoOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : iso(ms)
