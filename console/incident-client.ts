/** Calls about incidents, and Home. */
import type { InputOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { Incident } from '../schemas/types.ts'
import { ask } from './client.ts'
import { filtered } from './lib/filtered.ts'
import type { Act } from './lib/incident-acts.ts'

/** So many rows keep the page under 1,500 elements; more come on demand. */
const PAGE = 25
/** What one call acts on, and what one page of a list can have. */
export const ACTED_MAX = 200
/** Selected at most: what one press undoes stays in sight of who does it. */
export const SELECTED_MAX = 2_000

export type IncidentQuery = Omit<InputOf<typeof calls.listIncidents>, 'before' | 'limit'>

export const incidents = {
  home: (hours?: number) => ask(calls.getHome, hours === undefined ? {} : { hours }),
  list: (query: IncidentQuery, before?: string, limit = PAGE) =>
    ask(calls.listIncidents, filtered<InputOf<typeof calls.listIncidents>>({ ...query, before, limit })),
  one: (id: string) => ask(calls.getIncident, { incident: id }),
  act,
  actOnMany,
}

/**
 * One act on up to 200, in one transaction; those that do not accept it, or that somebody changed, are left as they are.
 * @param seen as they were seen
 */
function actOnMany(
  seen: readonly Pick<Incident, 'id' | 'version'>[],
  given: Exclude<Act, { action: 'note' }>,
  by: string | null,
) {
  const ids = seen.map(({ id }) => id)
  const versions = Object.fromEntries(seen.map(({ id, version }) => [id, version]))
  return ask(calls.actOnIncidents, { body: { ids, versions, ...given, ...(by === null ? {} : { by }) } })
}

/** @param by the name typed in the console; absent: none was */
function act({ id, version }: Pick<Incident, 'id' | 'version'>, given: Act, by: string | null) {
  const body = { version, ...(by === null ? {} : { by }) }
  const input = { incident: id, body }
  switch (given.action) {
    case 'acknowledge':
      return ask(calls.acknowledgeIncident, input)
    case 'unsnooze':
      return ask(calls.unsnoozeIncident, input)
    case 'handle':
      return ask(calls.handleIncident, input)
    case 'reopen':
      return ask(calls.reopenIncident, input)
    case 'assign': {
      const { assignee } = given
      return ask(calls.assignIncident, {
        incident: id,
        body: assignee === undefined ? body : { ...body, assignee },
      })
    }
    case 'snooze':
      return ask(calls.snoozeIncident, { incident: id, body: { ...body, until: given.until } })
    case 'severity':
      return ask(calls.setIncidentSeverity, { incident: id, body: { ...body, severity: given.severity } })
    case 'note': {
      // A note changes nothing that others could have changed first.
      const { version: _, ...who } = body
      return ask(calls.noteOnIncident, { incident: id, body: { ...who, text: given.text } })
    }
  }
}

/** Query keys, in one place; they begin as those of triggers at work, so that both are read again together. */
export const ikeys = {
  all: ['work', 'incidents'],
  home: (hours: number | null) => ['work', 'incidents', 'home', hours],
  list: (query: IncidentQuery) => ['work', 'incidents', 'list', query],
  one: (id: string) => ['work', 'incidents', 'one', id],
} as const
