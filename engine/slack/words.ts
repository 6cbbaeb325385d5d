/** What happened to an incident, in words for its thread. */
import type { ActivityRow, IncidentRow, Severity } from '../incidents/steps.ts'
import { fitted, type SlackMessage } from '../outbox/slack-messages.ts'

/** Slack takes 2,000 characters there. */
const LINE_MAX = 1_500
/** Of a thread that was long not brought up to date the newest are said. */
const LINES_MAX = 20

/** "acknowledged by mara". */
export function stateWords(row: IncidentRow): string {
  switch (row.state) {
    case 'acknowledged':
      return `acknowledged by ${row.acknowledged_by ?? ''}${row.assignee && row.assignee !== row.acknowledged_by ? `, assigned to ${row.assignee}` : ''}`
    case 'snoozed':
      return `snoozed by ${row.snoozed_by ?? ''} ${untilWords(row.snoozed_until)}`
    case 'handled':
      return handledWords(row.handled_how ?? 'person', row.handled_by ?? '').toLowerCase()
    default:
      return row.assignee ? `open, assigned to ${row.assignee}` : 'open, nobody has it yet'
  }
}

const untilWords = (until: number | null): string =>
  until === null
    ? 'until it changes'
    : `until ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function handledWords(how: NonNullable<IncidentRow['handled_how']>, by: string): string {
  if (how === 'person') return `Handled by ${by}`
  if (how === 'verdict') return `Handled by the verdict of ${by}`
  return how === 'resolved' ? 'Over: what set it off has ended' : 'Over: nothing fired for 24 hours'
}

/** Each as a line, those left out that the message itself shows. */
export function activityLines(rows: readonly ActivityRow[]): string[] {
  return rows
    .flatMap((row) => lineOf(row) ?? [])
    .slice(-LINES_MAX)
    .map((line) => fitted(line, LINE_MAX))
}

function lineOf({ action, by_name: by, detail: stored }: ActivityRow): string | null {
  const detail = JSON.parse(stored) as {
    severity?: Severity
    assignee?: string | null
    until?: number | null
    how?: NonNullable<IncidentRow['handled_how']>
    text?: string
  }
  const who = by === 'svc' ? '' : ` by ${by}`
  switch (action) {
    case 'acknowledged':
      return `Acknowledged by ${by}`
    case 'assigned':
      return detail.assignee ? `Assigned to ${detail.assignee}${who}` : `Assigned to nobody${who}`
    case 'snoozed':
      return `Snoozed by ${by} ${untilWords(detail.until ?? null)}`
    case 'unsnoozed':
      return `The snooze was ended${who}`
    case 'woken':
      return 'The snooze is over'
    case 'handled':
      return handledWords(detail.how ?? 'person', by)
    case 'reopened':
      return `Opened again${who}`
    case 'severity':
      return `Its severity is ${detail.severity ?? ''} now${who}`
    case 'note':
      return `${by}: ${detail.text ?? ''}`
    default:
      return null
  }
}

/** One message of them all. */
export const replyOf = (lines: readonly string[]): SlackMessage => ({
  text: lines.at(-1) ?? '',
  blocks: lines.map((text) => ({ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] })),
})
