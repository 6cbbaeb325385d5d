/** Incidents: the firings of one trigger for one key, from the first until it is handled; maintenance windows; and Home. */
import type { IncidentAction, IncidentWho } from '../incidents/steps.ts'
import { narrowedQuery } from './events.ts'
import type { OperationInput } from './input.ts'
import { type Post, tagged } from './operation.ts'

const operation = tagged('incidents')

const WORD = { type: 'string', minLength: 1, maxLength: 1024 } as const

/**
 * Who acts: the name of the key; else what the header says that SVC_USER_HEADER names; else the name typed in the
 * console; else the name of the credential; on an open instance somebody.
 */
function whoOf({ caller, user }: Pick<OperationInput, 'caller' | 'user'>, typed?: string): IncidentWho {
  if (caller.id.startsWith('key:')) return { by: caller.name, via: 'key' }
  if (user) return { by: user, via: 'header' }
  if (typed !== undefined) return { by: typed, via: 'console' }
  // Without a credential there is none to know them by: they are who they say, and said nothing.
  return caller.isAnybody ? { by: 'somebody', via: 'console' } : { by: caller.name, via: 'key' }
}

/** An act on one incident. */
const act = (id: string, route: ActRoute, action: IncidentAction, body: ActBody, summary: string) =>
  operation({
    id,
    route,
    scope: 'respond',
    role: 'writer',
    body,
    answer: 'incident.json',
    versioned: true,
    summary,
    run: (engine, { params, body: said, ...who }) =>
      engine.actOnIncident(params.incident, { action, ...said }, whoOf(who, said.by)),
  })

type ActRoute = Post<`/${string}/{incident}/${string}`>
type ActBody =
  | 'request-incident-act.json'
  | 'request-incident-assign.json'
  | 'request-incident-note.json'
  | 'request-incident-severity.json'
  | 'request-incident-snooze.json'

export const incidents = [
  operation({
    id: 'getHome',
    route: 'GET /api/home',
    scope: 'read',
    role: 'reader',
    query: {
      hours: {
        type: 'integer',
        description: 'Hours of the strip; absent: 6 on fire, else 24.',
        minimum: 1,
        maximum: 24,
      },
    },
    answer: 'home.json',
    hashed: true,
    summary: 'Everything that Home shows',
    // What the menu and the bar above each page say is in it, too, and who asks: a page asks once.
    run: async (engine, { query, caller: { id, name, scopes } }) => ({
      ...(await engine.home(await engine.listSources(), query.hours)),
      demo: await engine.demoStatus(),
      proposals_open: (await engine.listProposals({ state: 'open', limit: 1 })).open,
      caller: { id, name, scopes: [...scopes] },
    }),
  }),
  operation({
    id: 'listIncidents',
    route: 'GET /api/incidents',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: {
      state: {
        type: 'string',
        enum: ['open', 'acknowledged', 'snoozed', 'handled', 'active', 'all'],
        description: 'active, or absent: all that are not handled; all: those, too.',
      },
      severity: { type: 'string', enum: ['critical', 'warning', 'info'] },
      trigger: WORD,
      entity: { ...WORD, description: 'Key or name of the entity, whole; or label=value.' },
      project: { ...WORD, description: 'Project its trigger was made in, by id or name.' },
      assignee: { ...WORD, description: 'Who has it; none: nobody.' },
      q: { ...WORD, description: 'Words in its headline, trigger or key; or its number.' },
      opened_since: {
        type: 'string',
        description: 'Instant: only those that were opened then or later.',
        minLength: 1,
        maxLength: 40,
      },
      before: WORD,
      limit: { type: 'integer', default: 50, minimum: 1 },
    },
    answer: 'incidents-result.json',
    summary: 'List incidents: by severity, then last firing; handled ones by when',
    run: async (engine, input) => engine.listIncidents(await narrowedQuery(engine, input), input.project),
  }),
  operation({
    id: 'getIncident',
    route: 'GET /api/incidents/{incident}',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    answer: 'incident-detail.json',
    versioned: true,
    summary: 'One incident with its finding, activity and firings',
    run: (engine, { params, project }) => engine.getIncident(params.incident, project),
  }),
  operation({
    id: 'actOnIncidents',
    route: 'POST /api/incidents/bulk',
    scope: 'respond',
    role: 'writer',
    body: 'request-incidents-bulk.json',
    answer: 'incidents-changed.json',
    summary: 'Do one act on up to 200 incidents, in one transaction',
    run: (engine, { body, ...who }) => engine.actOnIncidents(body, whoOf(who, body.by)),
  }),
  act(
    'acknowledgeIncident',
    'POST /api/incidents/{incident}/acknowledge',
    'acknowledge',
    'request-incident-act.json',
    'Say that you have it; its deliveries go on',
  ),
  act(
    'assignIncident',
    'POST /api/incidents/{incident}/assign',
    'assign',
    'request-incident-assign.json',
    'Say who has it',
  ),
  act(
    'snoozeIncident',
    'POST /api/incidents/{incident}/snooze',
    'snooze',
    'request-incident-snooze.json',
    'Hold its deliveries back, until a time or until it changes',
  ),
  act(
    'unsnoozeIncident',
    'POST /api/incidents/{incident}/unsnooze',
    'unsnooze',
    'request-incident-act.json',
    'Deliver its firings again',
  ),
  act(
    'handleIncident',
    'POST /api/incidents/{incident}/handle',
    'handle',
    'request-incident-act.json',
    'Mark it handled, and its results with it',
  ),
  act(
    'reopenIncident',
    'POST /api/incidents/{incident}/reopen',
    'reopen',
    'request-incident-act.json',
    'Open it again',
  ),
  act(
    'setIncidentSeverity',
    'POST /api/incidents/{incident}/severity',
    'severity',
    'request-incident-severity.json',
    'Set its severity; a higher one opens it again',
  ),
  act(
    'noteOnIncident',
    'POST /api/incidents/{incident}/notes',
    'notes',
    'request-incident-note.json',
    'Write a note on it',
  ),
]

export const maintenance = [
  operation({
    id: 'listMaintenance',
    route: 'GET /api/maintenance',
    scope: 'read',
    role: 'reader',
    query: {
      state: {
        type: 'string',
        enum: ['planned', 'active', 'over', 'all'],
        description: 'Absent: planned and active; all: those that are over, too.',
      },
    },
    answer: 'maintenance-windows.json',
    summary: 'List maintenance windows',
    run: (engine, { query }) => engine.listMaintenance(query.state),
  }),
  operation({
    id: 'createMaintenance',
    route: 'POST /api/maintenance',
    scope: 'respond',
    role: 'writer',
    body: 'request-maintenance-create.json',
    answer: 'maintenance-window.json',
    status: 201,
    summary: 'Plan maintenance: what fires of it is held back until it ends',
    run: (engine, { body, ...who }) => engine.createMaintenance(body, whoOf(who, body.by)),
  }),
  operation({
    id: 'setMaintenanceEnd',
    route: 'POST /api/maintenance/{window}/until',
    scope: 'respond',
    role: 'writer',
    body: 'request-maintenance-until.json',
    answer: 'maintenance-window.json',
    summary: 'Say when it ends: later, or sooner',
    run: (engine, { params, body, ...who }) =>
      engine.setMaintenanceEnd(params.window, body.until, whoOf(who, body.by)),
  }),
  operation({
    id: 'endMaintenance',
    route: 'POST /api/maintenance/{window}/end',
    scope: 'respond',
    role: 'writer',
    body: 'request-maintenance-end.json',
    answer: 'maintenance-window.json',
    summary: 'End it now, and deliver what it held back and is not over',
    run: (engine, { params, body, ...who }) =>
      engine.endMaintenance(params.window, body.stop_repeating ?? false, whoOf(who, body.by)),
  }),
]
