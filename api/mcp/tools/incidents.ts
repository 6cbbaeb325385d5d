/** The tools of incidents: what is open, and taking one. */
import type {
  Incident,
  ToolAcknowledgeIncident,
  ToolAcknowledgeIncidentResult,
  ToolListIncidents,
  ToolListIncidentsResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { adds, defineTool, READS } from '../tool.ts'

const LIMIT = 20

export const listIncidents = defineTool<ToolListIncidents, ToolListIncidentsResult>({
  name: 'list_incidents',
  title: 'List incidents',
  description: 'What is wrong now, worst first, and who has it: look here before you begin.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ state, cursor }, context) {
    const { incidents, next_before } = await context.daemon.ask(
      calls.listIncidents,
      { state, limit: LIMIT, before: cursor },
      context.signal,
    )
    const shown = incidents.map(shownOf)
    return {
      text:
        (shown.map(lineOf).join('\n\n') || 'no incidents') +
        (next_before ? `\n\nmore: cursor ${next_before}` : ''),
      content: { incidents: shown, next_cursor: next_before },
    }
  },
})

export const acknowledgeIncident = defineTool<ToolAcknowledgeIncident, ToolAcknowledgeIncidentResult>({
  name: 'acknowledge_incident',
  title: 'Acknowledge an incident',
  description: 'Say that you have an incident, so that nobody else begins on it.',
  scope: 'respond',
  ofProject: false,
  hints: adds(),
  async run({ incident }, context) {
    const { version } = await context.daemon.ask(calls.getIncident, { incident }, context.signal)
    const taken = await context.daemon.ask(
      calls.acknowledgeIncident,
      // On an open instance there is no key to name it after.
      { incident, body: { version, ...(context.identity.id === 'open' ? { by: context.client } : {}) } },
      context.signal,
    )
    const shown = shownOf(taken)
    return { text: lineOf(shown), content: shown }
  },
})

type Shown = ToolListIncidentsResult['incidents'][number]

const shownOf = (one: Incident): Shown => ({
  incident: one.id,
  version: one.version,
  state: one.state,
  severity: one.severity,
  headline: one.headline,
  entity: one.entity ? `${one.entity.label}=${one.entity.value}` : one.key,
  trigger: one.trigger,
  opened_at: one.opened_at,
  last_fired_at: one.last_fired_at,
  firings: one.firings,
  assignee: one.assignee,
  verdict: one.result?.verdict ?? null,
  next_step: one.result?.next_step ?? null,
  finding_id: one.result?.run_id ?? null,
})

const lineOf = (one: Shown): string =>
  [
    `${one.incident} ${one.severity}, ${one.state}${one.assignee ? `, ${one.assignee} has it` : ''}: ${one.headline}`,
    `${one.entity} by ${one.trigger}, ${one.firings} firings from ${one.opened_at} to ${one.last_fired_at}`,
    ...(one.verdict ? [`verdict ${one.verdict} (${one.finding_id})`] : []),
    ...(one.next_step ? [`next: ${one.next_step}`] : []),
  ].join('\n')
