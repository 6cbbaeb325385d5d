/** The tools of incidents: what is open, one of them whole, taking it, and ending it. */

import { claimWords } from '../../../schemas/claim-words.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  Incident,
  IncidentDetail,
  ToolAcknowledgeIncident,
  ToolAcknowledgeIncidentResult,
  ToolGetIncident,
  ToolGetIncidentResult,
  ToolHandleIncident,
  ToolHandleIncidentResult,
  ToolListIncidents,
  ToolListIncidentsResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { cutTo, more, ofCursor } from '../paging.ts'
import { adds, type Context, defineTool, READS, ToolError } from '../tool.ts'

const LIMIT = 20
/** Tokens of the note that get_incident gives; get_finding has all of it. */
const NOTE_TOKENS = 2_000
const EVENTS_SHOWN = 20
const ACTIVITY_SHOWN = 10
/** Steps that an answer always has, also behind the newest 10. */
const KEPT_STEPS: ReadonlySet<string> = new Set(['opened', 'acknowledged'])
/** Ids in the line that says why it fired. */
const IDS_SHOWN = 5

/** The name that ids of incidents had before. */
const ALIASES = { incident: 'incident_id', id: 'incident_id' } as const

export const listIncidents = defineTool<ToolListIncidents, ToolListIncidentsResult>({
  name: 'list_incidents',
  title: 'List incidents',
  description: 'What is wrong now, worst first, and who has it: look here before you begin.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ state, cursor }, context) {
    const { incidents, next_before } = await context.daemon
      .ask(calls.listIncidents, { state, limit: LIMIT, before: cursor }, context.signal)
      .catch(ofCursor(cursor))
    const shown = incidents.map((one) => shownOf(one))
    return {
      text: (shown.map(lineOf).join('\n\n') || 'no incidents') + more(next_before),
      content: { incidents: shown, next_cursor: next_before },
    }
  },
})

export const getIncident = defineTool<ToolGetIncident, ToolGetIncidentResult>({
  name: 'get_incident',
  title: 'Read an incident',
  description: 'One incident: why it fired, what was found and claimed, what happened to it.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  aliases: ALIASES,
  async run({ incident_id: incident }, context) {
    const one = await context.daemon.ask(calls.getIncident, { incident }, context.signal)
    const content = wholeOf(one)
    return { text: wholeText(content, one), content }
  },
})

export const acknowledgeIncident = defineTool<ToolAcknowledgeIncident, ToolAcknowledgeIncidentResult>({
  name: 'acknowledge_incident',
  title: 'Acknowledge an incident',
  description: 'Say that you have an incident, so that nobody else begins on it.',
  scope: 'respond',
  ofProject: false,
  hints: adds({ idempotentHint: true }),
  aliases: ALIASES,
  async run({ incident_id: incident }, context) {
    const seen = await context.daemon.ask(calls.getIncident, { incident }, context.signal)
    if (seen.state === 'acknowledged' && seen.assignee === nameOf(context)) return toldOf(shownOf(seen))
    if (seen.state === 'acknowledged' || seen.state === 'handled')
      throw new ToolError(`${seen.id} ${standingOf(seen)}; list_incidents has what is open`, 'incident_id')
    return toldOf(
      shownOf(
        await context.daemon.ask(
          calls.acknowledgeIncident,
          { incident, body: actOf(seen, context) },
          context.signal,
        ),
      ),
    )
  },
})

export const handleIncident = defineTool<ToolHandleIncident, ToolHandleIncidentResult>({
  name: 'handle_incident',
  title: 'Handle an incident',
  description: 'Ends an incident whose trouble is over, and marks its results handled.',
  scope: 'respond',
  ofProject: false,
  hints: adds({ idempotentHint: true }),
  aliases: ALIASES,
  async run({ incident_id: incident }, context) {
    const seen = await context.daemon.ask(calls.getIncident, { incident }, context.signal)
    // Said again, it is as it was asked for.
    if (seen.state === 'handled') return toldOf(shownOf(seen))
    return toldOf(
      shownOf(
        await context.daemon.ask(
          calls.handleIncident,
          { incident, body: actOf(seen, context) },
          context.signal,
        ),
      ),
    )
  },
})

/** Who an act is told of as. On an open instance there is no key to name it after. */
const nameOf = ({ identity, client }: Context): string => (identity.id === 'open' ? client : identity.name)

const actOf = ({ version }: IncidentDetail, context: Context) => ({
  version,
  ...(context.identity.id === 'open' ? { by: context.client } : {}),
})

/** "is acknowledged: mara has it". */
function standingOf({ state, assignee, handled }: Pick<Incident, 'state' | 'assignee' | 'handled'>): string {
  if (handled) return `is handled, by ${handled.by}`
  return `is ${state}${assignee === null ? '' : `: ${assignee} has it`}`
}

type Shown = ToolListIncidentsResult['incidents'][number]

const shownOf = (one: Omit<Incident, 'firings'> & { firings: unknown; firings_total?: number }): Shown => ({
  incident_id: one.id,
  incident: one.id,
  version: one.version,
  state: one.state,
  severity: one.severity,
  headline: one.headline,
  entity: one.entity ? `${one.entity.label}=${one.entity.value}` : one.key,
  trigger: one.trigger,
  opened_at: one.opened_at,
  last_fired_at: one.last_fired_at,
  firings: one.firings_total ?? Number(one.firings),
  assignee: one.assignee,
  handled_by: one.handled?.by ?? null,
  verdict: one.result?.verdict ?? null,
  next_step: one.result?.next_step ?? null,
  finding_id: one.result?.run_id ?? null,
  project: one.project,
})

const toldOf = (shown: Shown) => ({ text: lineOf(shown), content: shown })

const lineOf = (one: Shown): string =>
  [
    `${one.incident_id} ${one.severity}, ${whoText(one)}: ${escapeLine(one.headline)}`,
    `${escapeLine(one.entity)} by ${one.trigger}, ${firedText(one)}`,
    ...(one.finding_id ? [`found: ${one.verdict ? `verdict ${one.verdict} ` : ''}(${one.finding_id})`] : []),
    ...(one.next_step ? [`next: ${one.next_step}`] : []),
  ].join('\n')

/** "handled by mara", "acknowledged, mara has it", "open". */
function whoText({ state, assignee, handled_by: by }: Shown): string {
  if (by !== null) return `handled by ${by}`
  return assignee === null ? state : `${state}, ${assignee} has it`
}

const firedText = ({ firings, opened_at, last_fired_at }: Shown): string =>
  firings === 1
    ? `fired once at ${opened_at}`
    : `fired ${firings} times from ${opened_at} to ${last_fired_at}`

function wholeOf(one: IncidentDetail): ToolGetIncidentResult {
  const [firing] = one.firings
  const { text: note, cut } = cutTo(one.finding?.note ?? '', NOTE_TOKENS)
  const newest = one.result?.run_id
  const activity = one.activity.filter(({ action }, i) => i < ACTIVITY_SHOWN || KEPT_STEPS.has(action))
  return {
    ...shownOf(one),
    why: firing?.reason ?? null,
    event_ids: (firing?.event_ids ?? []).slice(0, EVENTS_SHOWN),
    run: one.run && { run_id: one.run.run_id, agent: one.run.agent, status: one.run.status },
    note: one.finding ? note : null,
    cut,
    claims: (one.finding?.claims ?? []).map(({ text, role, events, ok, why }) => ({
      ...{ text, role, events, ok, why },
    })),
    findings: (one.history?.notes ?? [])
      .filter(({ run_id }) => run_id !== newest)
      .map(({ run_id, at, agent, verdict, headline }) => ({
        ...{ finding_id: run_id, at, agent, verdict, headline },
      })),
    activity: activity.map(({ at, by, action, how, text }) => ({ at, by, action, how, text })),
    activity_left_out: one.activity.length - activity.length,
    previous: one.previous,
  }
}

/** "handled by svc (resolved)", "note by mara (it is the pool)". */
function stepText({ at, by, action, how, text }: ToolGetIncidentResult['activity'][number]): string {
  const more = text ?? (how === 'person' ? null : how)
  return `${at} ${action} by ${by}${more ? ` (${more})` : ''}`
}

function wholeText(content: ToolGetIncidentResult, { claims, also, alerts, wakes }: IncidentDetail): string {
  const { event_ids: ids, run, note, cut, findings, activity, previous } = content
  const { activity_left_out: leftOut } = content
  const events = ids.slice(0, IDS_SHOWN).join(', ') + (ids.length > IDS_SHOWN ? ' …' : '')
  return [
    lineOf(content),
    ...(content.why ? [`why: ${escapeLine(content.why)}${events ? ` (${events})` : ''}`] : []),
    ...also.map(
      ({ event_type, events: n, id, text }) =>
        `also, within the cooldown: ${escapeLine(text || event_type)} (${id})${n > 1 ? ` and ${n - 1} more of ${escapeLine(event_type)}` : ''}`,
    ),
    ...alerts.map(
      ({ event_type, id, text, over_at }) =>
        `alert, ${over_at === null ? 'on' : `over since ${over_at}`}: ${escapeLine(text || event_type)} (${id})`,
    ),
    ...(run || content.finding_id
      ? []
      : wakes.filter(({ on }) => !on).map(({ agent }) => `off: agent ${agent} is not woken`)),
    ...(run ? [`looked: ${run.agent}, ${run.status} (${run.run_id})`] : []),
    ...(note === null ? [] : [`\n${note}${cut ? '\n[cut: get_finding has all of it]' : ''}`]),
    ...(claims ? [`\n${claimWords(claims)}`] : []),
    ...content.claims.map(
      ({ role, text, events: of, ok, why }) =>
        `- ${role}: ${text} (${of.join(', ')})${ok ? '' : `: ${why ?? 'does not hold'}`}`,
    ),
    ...(findings.length ? ['\nfound before:'] : []),
    ...findings.map(
      (one) => `- ${one.at} ${one.headline}${one.verdict ? ` [${one.verdict}]` : ''} (${one.finding_id})`,
    ),
    `\nwhat happened, newest first: ${activity.map(stepText).join('; ')}${leftOut ? ` (${countWords(leftOut, 'step')} between them left out)` : ''}`,
    ...(previous ? [`the one before it: ${previous}`] : []),
  ].join('\n')
}
