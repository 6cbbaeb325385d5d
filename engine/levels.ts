/**
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
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
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
