/**
 * What a line of a log says of itself: the fields of a JSON line, else its level and the request it
 * notes. For every connector that reads logs, so that a label made for one means the same for another.
 */

import { parseDigits } from '../ingest/json-digits.ts'
import { compileSearch } from '../ingest/pattern.ts'

const ANSI = new RegExp(`${String.fromCharCode(0x1b)}\\[[0-9;?]*[A-Za-z]`, 'g')
/** A level as loggers write it: a word in capitals, in brackets, or after `level=`. */
const LEVEL =
  /\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRIT|CRITICAL)\b|\blevel"?[=:]\s*"?([a-zA-Z]+)|^\W{0,3}(trace|debug|info|notice|warn|warning|error|fatal|crit|critical)\b/
const LEVELS: Readonly<Record<string, string>> = { WARNING: 'WARN', CRITICAL: 'CRIT' }
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
  const found = (level?.[1] ?? level?.[2] ?? level?.[3])?.toUpperCase()
  const request = REQUEST.exec(head)
  return {
    ...(found === undefined ? {} : { level: LEVELS[found] ?? found }),
    ...(request ? { http_method: request[1]!, http_status: Number(request[2]) } : {}),
  }
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
