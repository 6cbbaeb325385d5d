/** Asking the HTTP API of an upstream: credentials, and what went wrong as a sentence with what to do. */

import { readRetryAfter } from '../../../schemas/retry-after.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { type LocalTime, ownZone, type Zone } from '../../log/ingest/time.ts'
import { compileSearch } from '../../model/pattern.ts'
import { withoutSecrets } from '../../net/redact.ts'
import { objectOf, type Reach, UpstreamError } from './connector.ts'

/** An upstream, as a source's config names it. */
export interface Upstream {
  /** What it is called in sentences: Prometheus. */
  name: string
  url: string
  bearer_token?: string | undefined
  username?: string | undefined
  password?: string | undefined
  /** Path of its API below the URL, which people tend to paste along. */
  api: string
  /** The fields that let one in, as a sentence names them. */
  credentials: string
  /** Headers beside the credentials. */
  headers?: Record<string, string>
}

/** What was answered, whatever the status. */
export interface Answer {
  status: number
  /** Parsed JSON; undefined where it is none. */
  body: unknown
  /** A text that is no page: how some tell what is wrong. */
  plain: string | undefined
  /** What the upstream asks to wait, milliseconds. */
  retryAfterMs: number | null
}

const TOLD_MAX = 300

/** Rules of the URL and the credentials of a config. @returns a sentence per fault. */
export function upstreamFaults({ url, bearer_token, username, password }: Partial<Upstream>): string[] {
  const faults: string[] = []
  if (url && URL.canParse(url) && (new URL(url).username || new URL(url).password))
    faults.push('url must not hold a user name or a password, which have fields of their own')
  if (bearer_token && (username || password))
    faults.push('bearer_token and username exclude each other: keep the token, or the name and password')
  return faults
}

/**
 * Sends one request below the upstream's URL.
 * @param path begins with a slash. @param form sent as a POST; absent: a GET.
 * @throws UpstreamError where there is no answer.
 */
export async function ask(
  upstream: Upstream,
  path: string,
  reach: Reach,
  form?: Record<string, string>,
): Promise<Answer> {
  try {
    const response = await reach.fetch(`${upstream.url.replace(/\/+$/, '')}${path}`, {
      headers: { accept: 'application/json', ...upstream.headers, ...authorization(upstream) },
      signal: reach.signal,
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: parsed(text),
      plain: response.headers.get('content-type')?.startsWith('text/plain') ? text.trim() : undefined,
      retryAfterMs: retryAfter(response.headers.get('retry-after'), reach.clock.now()),
    }
  } catch (error) {
    throw new UpstreamError(`${upstream.name} ${reasonOf(error, reach.signal)}`)
  }
}

/**
 * What an answer that is none of use says, as a sentence with what to change.
 * @param told what the upstream itself says of it; shown shortened, without the credentials.
 */
export function refusal(upstream: Upstream, { status, retryAfterMs }: Answer, told?: string): UpstreamError {
  const { name } = upstream
  const own = told
    ? `: ${oneLine(withoutSecrets(told, [upstream.bearer_token, upstream.password]), TOLD_MAX)}`
    : ''
  return new UpstreamError(sentence(upstream, status, name, own), retryAfterMs)
}

function sentence(upstream: Upstream, status: number, name: string, own: string): string {
  const hasCredentials = Boolean(upstream.bearer_token || upstream.username)
  switch (status) {
    case 401:
      return hasCredentials
        ? `${name} does not take the credentials (401)${own}. Check ${upstream.credentials}.`
        : `${name} asks for credentials (401)${own}. Set ${upstream.credentials}.`
    case 403:
      return `${name} forbids the request (403)${own}. The credentials need the right to read.`
    case 404:
      return `${name} has no API at this address (404)${own}. url is the base address, with the prefix of a proxy and without ${upstream.api}.`
    case 400:
    case 422:
      return `${name} refuses the request (${status})${own}.`
    case 429:
      return `${name} asks to be asked less often (429)${own}. A longer poll interval helps.`
    default:
      return status >= 200 && status < 300
        ? `What answers at this address is not ${name}${own}. Check url.`
        : `${name} answered ${status}${own}.`
  }
}

function authorization({ bearer_token, username, password }: Upstream): Record<string, string> {
  if (bearer_token) return { authorization: `Bearer ${bearer_token}` }
  if (!username) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A page of a proxy, say: the status, or that this is no JSON, is what is told.
    return undefined
  }
}

/** Longest wait an upstream is granted (SPEC.md, Limits: up to one hour). */
const RETRY_AFTER_MAX_MS = 3_600_000
/** Milliseconds a Retry-After header asks for, an hour at most; null for none. */
export function retryAfter(header: string | null, now: number): number | null {
  const asked = readRetryAfter(header, now)
  return asked === null ? null : Math.min(RETRY_AFTER_MAX_MS, asked)
}

/** As UTF-8 without a byte order mark, whatever it says it is in; what is in nothing known stays as it is. */
export function utf8Of(bytes: Buffer, type: string | null): Buffer {
  const named = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type ?? '')?.[1]
  const mark = MARKS.find(([first]) => first.every((byte, i) => bytes[i] === byte))
  const charset = (mark?.[1] ?? named ?? UTF8).toLowerCase()
  if (charset === UTF8 || charset === 'utf8') return mark ? bytes.subarray(mark[0].length) : bytes
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes))
  } catch {
    // RangeError: a name that says nothing.
    return bytes
  }
}

const UTF8 = 'utf-8'
const MARKS: readonly [first: readonly number[], charset: string][] = [
  [[0xef, 0xbb, 0xbf], UTF8],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/** The way out says why in words without addresses; anything else keeps to itself. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'gave no answer in the time of a poll.'
  const { cause, message } = error as { cause?: { fault?: unknown; message?: string }; message?: string }
  if (message?.startsWith('answer is over')) return 'answers more than is taken. Ask it for less.'
  const reason = cause?.fault !== undefined && cause.message ? cause.message : 'the connection broke off'
  return `cannot be reached: ${reason}. Check url, and that it runs.`
}

/*
 * What a line of a log says of itself: the fields of a JSON line, else its level and the request it
 * notes. For every connector that reads logs, so that a label made for one means the same for another.
 */

const ANSI = new RegExp(`${String.fromCharCode(0x1b)}\\[[0-9;?]*[A-Za-z]`, 'g')
const WORDS = 'trace|debug|info|notice|warn|warning|error|fatal|crit|critical'
/** What a program says in brackets, such as `[error]`, `[core:error]`, `[Warning]`; the last three are of nginx, Apache and MySQL. */
const BRACKETED = `${WORDS}|emerg|alert|note`
/** A level as loggers write it: a word in capitals, in brackets, or after `level=`. */
const LEVEL = new RegExp(
  [
    `\\b(${WORDS.toUpperCase()})\\b`,
    '\\blevel"?[=:]\\s*"?([a-zA-Z]+)',
    `^\\W{0,3}(${WORDS})\\b`,
    // Apache numbers its traces.
    `\\[(?:\\w+:)?(${BRACKETED}|${BRACKETED.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase())})\\d?\\]`,
  ].join('|'),
)
const LEVELS: Readonly<Record<string, string>> = {
  ...{ WARNING: 'WARN', CRITICAL: 'CRIT', ALERT: 'CRIT', EMERG: 'CRIT', NOTE: 'NOTICE' },
}
/** Combined log format and its kin: "GET /path HTTP/1.1" 200. */
const REQUEST = /"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) [^"]*"\s+(\d{3})\b/
/** Where a level or a request is looked for; what follows is message. */
const SEARCHED = 4_096

/** The line without the colours of a terminal. */
export const plainLine = (line: string): string => (line.includes('\u001b') ? line.replace(ANSI, '') : line)

/**
 * The object a JSON line holds; null where it is no such line.
 * @param line without colours.
 */
export function jsonLine(line: string): Record<string, unknown> | null {
  const text = line.trim()
  if (!text.startsWith('{') || !text.endsWith('}')) return null
  try {
    const value: unknown = parseDigits(text)
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/**
 * Level (TRACE, DEBUG, INFO, NOTICE, WARN, ERROR, FATAL, CRIT) and request of a line of text.
 * @param line without colours.
 */
export function textFields(line: string): { level?: string; http_method?: string; http_status?: number } {
  const head = line.slice(0, SEARCHED)
  const level = LEVEL.exec(head)
  const found = level
    ?.slice(1)
    .find((word) => word !== undefined)
    ?.toUpperCase()
  const request = REQUEST.exec(head)
  return {
    ...(found === undefined ? {} : { level: LEVELS[found] ?? found }),
    ...(request ? { http_method: request[1]!, http_status: Number(request[2]) } : {}),
  }
}

/** MongoDB's severities, by their first letter: D1 to D5 are of debugging. */
const MONGODB: Readonly<Record<string, string>> = { F: 'FATAL', E: 'ERROR', W: 'WARN', I: 'INFO', D: 'DEBUG' }

/**
 * What a line says of itself in fields: a JSON line its own, and the level of one of MongoDB; of another, what
 * `textFields` finds.
 * @param fields those of a JSON line.
 */
export function lineFields(fields: Record<string, unknown> | null, line: string): Record<string, unknown> {
  if (fields === null) return textFields(line)
  const { s: severity, t: time, level } = fields
  if (level !== undefined || typeof severity !== 'string' || objectOf(time).$date === undefined) return fields
  const said = /^[FEWI]$|^D[1-5]?$/.test(severity) ? MONGODB[severity[0]!] : undefined
  return said === undefined ? fields : { ...fields, level: said }
}

const MESSAGES = ['msg', 'message']

/** What a JSON line says in words; undefined where it says nothing so. */
export function messageOf(fields: Record<string, unknown> | null): string | undefined {
  const told = MESSAGES.map((name) => fields?.[name])
  return told.find((text): text is string => typeof text === 'string' && text.trim() !== '')
}

/**
 * Which lines are kept: those that `match` is found in, without those that `drop` is found in.
 * @param patterns without a `patternFault`.
 */
export function compileWanted({ match, drop }: { match?: string; drop?: string }): (line: string) => boolean {
  const keeps = match === undefined ? null : compileSearch(match)
  const drops = drop === undefined ? null : compileSearch(drop)
  return (line) => (!keeps || keeps(line)) && !drops?.(line)
}

/*
 * When a line was written, as it says itself.
 */

const TIMES = ['time', 'timestamp', '@timestamp', 'ts']
/** Names of zones, which no logger writes for anything else; those of several zones, too, so that no time loses its zone. */
const ZONES =
  'UTC|GMT|[ECMP][SD]T|WES?T|CES?T|EES?T|MSK|BST|IST|JST|KST|HKT|SGT|PKT|BRT|SAST|A[CEKW][SD]T|NZ[SD]T|HST'
/** A date and time at the beginning of a line, as loggers write it: ISO 8601, also with a space, with slashes, in brackets. */
const TIME = new RegExp(
  `^\\W{0,2}(\\d{4}(?:-\\d\\d-|/\\d\\d/)\\d\\d[T ]\\d{1,2}:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?: ?[AaPp][Mm]\\b)?(?:Z| ?[+-]\\d\\d:?\\d\\d(?!\\d)| (?:${ZONES})\\b)?)`,
)

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const DAY_TIME = `${MONTH} {1,2}\\d{1,2} \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?`
/** As servers write it. */
const SERVER_TIMES = [
  // [Sun Nov 29 10:50:18.123456 2026] of Apache's errors, and syslog's Nov 29 10:50:18
  new RegExp(`^\\W{0,2}((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${DAY_TIME} \\d{4})\\b`),
  new RegExp(`^(${DAY_TIME}) `),
  // 192.0.2.1 - - [29/Nov/2026:10:50:18 +0000] of access logs, also with the name of the host before
  new RegExp(`^(?:\\S+ [^"[\\]]{0,200})?\\[(\\d\\d/${MONTH}/\\d{4}:\\d\\d:\\d\\d:\\d\\d(?: [+-]\\d{4})?)\\]`),
]
/** How nginx and Go, Apache's errors, and syslog begin a time, which says no zone as a rule. */
const OF_SERVERS = /^(?:\d{4}\/|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} )/

/**
 * What the line says of when it was written; undefined: nothing.
 * @param line without colours. @param fields those of a JSON line.
 * @param zone of times that say none. Without it they are of UTC, but for those of servers, which write the local time of
 *   their machine: a file is read on it, so its zone is that of this process (`TZ`).
 */
export function lineTime(line: string, fields: Record<string, unknown> | null, zone: Zone | null): unknown {
  const said = fields ? jsonTime(fields) : writtenTime(line.split('\n', 1)[0]!)
  if (typeof said !== 'string') return said
  const given = said.replace(',', '.')
  const local = zone ?? (fields === null && OF_SERVERS.test(given) ? ownZone : null)
  return local === null ? given : ({ given, zone: local } satisfies LocalTime)
}

/** MongoDB writes {"t": {"$date": …}}. */
const jsonTime = (fields: Record<string, unknown>): unknown =>
  TIMES.map((name) => fields[name]).find((one) => one !== undefined) ?? objectOf(fields.t).$date

const writtenTime = (line: string): string | undefined =>
  [TIME, ...SERVER_TIMES].map((form) => form.exec(line)?.[1]).find((one) => one !== undefined)
