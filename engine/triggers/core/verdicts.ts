/** What a judgement came to, as a record. */
import type { TriggerDefinition, Verdict } from '../types.ts'

type About = Pick<Verdict, 'eventId' | 'key' | 'at' | 'reason' | 'text'> &
  Partial<Pick<Verdict, 'field' | 'expected' | 'actual' | 'value' | 'until'>>

/** @param about all but what follows from the definition. */
export function verdictOf({ id, spec: { condition } }: TriggerDefinition, about: About): Verdict {
  return {
    triggerId: id,
    field: null,
    expected: null,
    actual: null,
    value: null,
    until: null,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: windowText(condition),
    ...about,
  }
}

function windowText(condition: TriggerDefinition['spec']['condition']): string | null {
  if ('window' in condition) return condition.window
  if ('within' in condition) return condition.within
  return 'absent_for' in condition ? condition.absent_for : null
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A span in words: the two largest units of it, such as "26h 5m" or "40s". */
export function spanWords(ms: number): string {
  const parts: string[] = []
  let rest = Math.max(0, ms)
  for (const [unit, length] of UNITS) {
    const n = Math.floor(rest / length)
    rest -= n * length
    if (n > 0) parts.push(`${n}${unit}`)
    if (parts.length === 2) break
  }
  return parts.join(' ') || 'under 1s'
}

export const instantWords = (ms: number): string => new Date(ms).toISOString()
