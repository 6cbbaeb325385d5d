/** Incidents in words. */
import type { Incident, IncidentActivity, IncidentCounts } from '../../schemas/types.ts'
import type { Severity } from './incident-acts.ts'
import { RUN_TONES } from './run-tones.ts'
import { lasting, moment } from './time.ts'

export const incidentPath = (of: { number: number } | number, firing?: string): string =>
  `/incidents/${typeof of === 'number' ? of : of.number}${firing ? `?firing=${encodeURIComponent(firing)}` : ''}`

/** By an id such as inc_12. */
export const pathOfIncident = (id: string, firing?: string): string =>
  incidentPath(Number(id.replace('inc_', '')), firing)

export const SEVERITY_WORDS: Record<Severity, string> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Info',
}

export const openTotal = ({ open }: IncidentCounts): number => open.critical + open.warning + open.info

type Stated = Pick<Incident, 'state' | 'assignee' | 'acknowledged' | 'snoozed' | 'handled' | 'opened_at'>

/** How it ended by itself. */
const ENDED: Readonly<Record<string, string>> = {
  quiet: ': quiet for 24 h',
  deleted: ': trigger deleted',
}

/** "Open, unassigned", "mara has it, 8 min", "until 09:00, by jonas", "handled in 18 min by jonas". */
export function stateWords(incident: Stated, now: number): string {
  const { state, assignee, acknowledged, snoozed, handled, opened_at } = incident
  if (state === 'handled' && handled) {
    const took = lasting(Date.parse(handled.at) - Date.parse(opened_at))
    return `Handled${ENDED[handled.how] ?? ` in ${took} by ${handled.how === 'resolved' ? 'its trigger' : handled.by}`}`
  }
  if (state === 'snoozed')
    return `Snoozed ${snoozed?.until ? `until ${moment(Date.parse(snoozed.until), now)}` : 'until it changes'}${
      snoozed?.maintenance ? ' for maintenance' : snoozed ? `, by ${snoozed.by}` : ''
    }`
  if (state === 'acknowledged')
    return `${assignee ?? acknowledged?.by ?? 'Somebody'} has it${
      acknowledged ? `, ${lasting(now - Date.parse(acknowledged.at))}` : ''
    }`
  return assignee ? `Open, ${assignee}` : 'Open, unassigned'
}

/** What a run is at, where nothing was found yet. */
export function runWords({ agent, status, round, max_rounds, reason }: NonNullable<Incident['run']>): string {
  if (status === 'queued') return `${agent} is about to look`
  if (status === 'running') return `${agent} is looking, round ${round} of ${max_rounds}`
  if (status === 'parked') return `${agent} waits for its model`
  if (status === 'succeeded') return `${agent} found nothing to report`
  return `${agent} ${status}${reason ? `: ${reason}` : ''}`
}

/** How loudly that is said: at work, ended without what it was to find, or neither. As lists of runs mark it. */
export function runRole({
  status,
}: Pick<NonNullable<Incident['run']>, 'status'>): 'info' | 'warning' | undefined {
  const tone = RUN_TONES[status]
  return tone === 'busy' ? 'info' : tone === 'bad' ? 'warning' : undefined
}

/** What a row of activity says, after who did it. */
export function activityWords(row: IncidentActivity, now: number): string {
  const { action, firings, severity, assignee, until, how, text } = row
  switch (action) {
    case 'opened':
      return 'Fired'
    case 'fired':
      return firings === 1 ? 'Fired again' : `Fired again, ${firings} times`
    case 'severity':
      return `set severity to ${severity ?? 'none'}`
    case 'acknowledged':
      return 'acknowledged'
    case 'assigned':
      return assignee ? `assigned ${assignee}` : 'unassigned'
    case 'snoozed':
      return `snoozed ${until ? `until ${moment(Date.parse(until), now)}` : 'until it changes'}${text ? `: ${text}` : ''}`
    case 'unsnoozed':
      return 'ended the snooze'
    case 'woken':
      return 'Snooze over'
    case 'handled':
      return how === 'resolved' ? 'Handled: resolved' : ENDED[how!] ? `Handled${ENDED[how!]}` : 'handled'
    case 'reopened':
      return 'reopened'
    case 'note':
      return text ?? ''
  }
}
