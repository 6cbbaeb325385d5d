/** How bad an incident is: the severity of its trigger, or the one a field of what tripped it says. */
import type { Incident, TriggerSpec } from '../../schemas/types.ts'
import { lookup } from '../ingest/field.ts'
import { severityOf } from '../parts/trigger-spec.ts'
import type { ReadContext } from '../timeline/context.ts'
import { presentRow } from '../timeline/present.ts'

export type Severity = Incident['severity']

/** Events as they can be read in the transaction that stores them. */
export interface EventsAtHand extends Pick<ReadContext, 'rows' | 'dictionary' | 'names'> {
  /** Puts those where they are read that wait to be written in one statement. */
  settle(): void
}

/** From the lowest, which is 1. */
const RANKS: readonly Severity[] = ['info', 'warning', 'critical']
/** Events of a firing whose field is looked at, the newest. */
const LOOKED_AT = 20
const PAYLOAD = 'payload.'

/** What senders call them, in small letters. */
const WORDS: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  crit: 'critical',
  page: 'critical',
  p1: 'critical',
  error: 'critical',
  fatal: 'critical',
  warning: 'warning',
  warn: 'warning',
  p2: 'warning',
  info: 'info',
}

/** 3 is critical, 1 info. */
export const rankOf = (severity: Severity): number => RANKS.indexOf(severity) + 1
export const severityOfRank = (rank: number): Severity => RANKS[rank - 1]!

/** The severity a word says; undefined where it says none. */
export function severityNamed(word: unknown): Severity | undefined {
  if (typeof word !== 'string' && typeof word !== 'number') return undefined
  const name = String(word).trim().toLowerCase()
  return Object.hasOwn(WORDS, name) ? WORDS[name] : undefined
}

/**
 * The severity of a firing: the highest that the field says of its newest events, else that of the trigger.
 * @param ids of the events it carries, as they were folded in
 * @returns none: it opens no incident
 */
export function severityOfFiring(
  ctx: EventsAtHand,
  spec: TriggerSpec,
  ids: () => readonly number[],
): Severity | 'none' {
  const field = spec.severity_field
  const own = severityOf(spec)
  if (!field) return own
  ctx.settle()
  const inPayload = field.startsWith(PAYLOAD)
  const said = ctx.rows.read(ids().slice(-LOOKED_AT), inPayload).flatMap((stored) => {
    const { labels, raw } = presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
    return severityNamed(inPayload ? inText(raw, field) : labels[field]) ?? []
  })
  if (said.length === 0) return own
  return severityOfRank(Math.max(...said.map(rankOf)))
}

function inText(raw: string | undefined, field: string): unknown {
  try {
    return lookup({ payload: JSON.parse(raw ?? '') }, field)
  } catch {
    // What is no JSON has no field.
    return undefined
  }
}
