/** What a person does to an incident: how it is at once, before it is answered, and how it is taken back. */
import type { Incident } from '../../schemas/types.ts'

export type Severity = Incident['severity']

export type Act =
  | { action: 'acknowledge' | 'unsnooze' | 'handle' | 'reopen' }
  /** Absent: whoever asks. */
  | { action: 'assign'; assignee?: string | null }
  /** ISO 8601; null: until it changes. */
  | { action: 'snooze'; until: string | null }
  | { action: 'severity'; severity: Severity }
  | { action: 'note'; text: string }

/** What both lists and pages have of an incident. */
export type Worked = Pick<
  Incident,
  'state' | 'severity' | 'assignee' | 'acknowledged' | 'snoozed' | 'snoozed_until' | 'handled'
>

/** As it most likely is once the act is done. @param by who acts, as far as is known here @param at ISO 8601 */
export function foreseen<T extends Worked>(incident: T, act: Act, by: string, at: string): T {
  const free = { snoozed: null, snoozed_until: null }
  switch (act.action) {
    case 'acknowledge':
      return {
        ...incident,
        ...free,
        state: 'acknowledged',
        acknowledged: { at, by },
        assignee: incident.assignee ?? by,
      }
    case 'handle':
      return { ...incident, ...free, state: 'handled', handled: { at, by, how: 'person' } }
    case 'snooze':
      return {
        ...incident,
        state: 'snoozed',
        snoozed: { at, by, until: act.until },
        snoozed_until: act.until,
      }
    case 'unsnooze':
      return { ...incident, ...free, state: 'open' }
    case 'reopen':
      return { ...incident, ...free, state: 'open', acknowledged: null, handled: null }
    case 'assign':
      return { ...incident, assignee: act.assignee === undefined ? by : act.assignee }
    case 'severity':
      return { ...incident, severity: act.severity }
    case 'note':
      return incident
  }
}

/**
 * Whether the daemon would take an act of a key of lists. What it accepts was read before acts that are shown at once,
 * so that the state says it too.
 */
export const takesAct = (
  { state, accepts }: Pick<Incident, 'state' | 'accepts'>,
  action: 'acknowledge' | 'handle',
): boolean =>
  accepts.includes(action) && state !== 'handled' && !(action === 'acknowledge' && state === 'acknowledged')

/** The first act that brings an incident nearer to how it was; null: it is as it was. Asked again after each. */
export function actBack(now: Worked, before: Worked): Exclude<Act, { action: 'note' }> | null {
  if (now.state !== before.state) {
    if (now.state === 'handled') return { action: 'reopen' }
    if (before.state === 'snoozed') return { action: 'snooze', until: before.snoozed_until }
    if (now.state === 'snoozed') return { action: 'unsnooze' }
    if (before.state === 'open') return { action: 'reopen' }
    if (before.state === 'acknowledged') return { action: 'acknowledge' }
    return { action: 'handle' }
  }
  if (now.severity !== before.severity) return { action: 'severity', severity: before.severity }
  if (now.assignee !== before.assignee) return { action: 'assign', assignee: before.assignee }
  return null
}

/** What was done, past tense. @param number of the incident */
export function doneWords(act: Act, number: number): string {
  switch (act.action) {
    case 'acknowledge':
      return `#${number} acknowledged`
    case 'handle':
      return `#${number} handled`
    case 'snooze':
      return `#${number} snoozed`
    case 'unsnooze':
      return `Snooze of #${number} ended`
    case 'reopen':
      return `#${number} reopened`
    case 'assign':
      return act.assignee === null ? `#${number} unassigned` : `#${number} assigned`
    case 'severity':
      return `#${number} is ${act.severity} now`
    case 'note':
      return `Note added to #${number}`
  }
}

/** Who was first, where somebody changed it meanwhile; null: the answer does not say. */
export function firstWords(incident: Incident): string | null {
  const { number, state, handled, acknowledged, snoozed, assignee } = incident
  if (state === 'handled' && handled) return `${handled.by} handled #${number} first`
  if (state === 'snoozed' && snoozed) return `${snoozed.by} snoozed #${number} first`
  if (state === 'acknowledged' && acknowledged) return `${acknowledged.by} acknowledged #${number} first`
  if (assignee) return `${assignee} has #${number} now`
  return null
}
