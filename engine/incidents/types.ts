/** Incidents as callers ask for them. */
import type {
  Home,
  Incident,
  IncidentActivity,
  IncidentDetail,
  IncidentsBulk,
  IncidentsChanged,
  IncidentsResult,
  Source,
} from '../../schemas/types.ts'

/** Home without what other rooms add to it. */
export type HomeOfIncidents = Omit<Home, 'demo' | 'proposals_open'>

/** Who acts, and how that is known. */
export interface IncidentWho {
  by: string
  via: IncidentActivity['via']
}

/** What a person does to an incident. */
export type IncidentAction = IncidentsBulk['action']

export interface IncidentAct {
  action: IncidentAction
  /** The version the actor saw; absent: whatever it is. */
  version?: number | undefined
  /** Of assign: null takes it from whoever has it; absent: whoever asks. */
  assignee?: string | null | undefined
  /** Of snooze, ISO 8601: until when; null or absent: until it changes. */
  until?: string | null | undefined
  severity?: Incident['severity'] | undefined
  /** Of a note. */
  text?: string | undefined
}

export interface IncidentFilter {
  state?: Incident['state'] | 'active' | undefined
  severity?: Incident['severity'] | undefined
  trigger?: string | undefined
  entity?: string | undefined
  /** By id or name. */
  project?: string | undefined
  /** `none`: of nobody. */
  assignee?: string | undefined
  q?: string | undefined
  /** next_before of the page before. */
  before?: string | undefined
  limit: number
}

export interface IncidentReads {
  /** @param own id of the project of a project key, which sees that project's alone; null: all */
  listIncidents(filter: IncidentFilter, own: string | null): Promise<IncidentsResult>
  /** @throws SvcError not_found */
  getIncident(id: string, own: string | null): Promise<IncidentDetail>
  /**
   * @param sources as they are listed
   * @param hours of the strip; absent: 6 while an incident is open, else 24
   */
  home(sources: readonly Source[], hours?: number): Promise<HomeOfIncidents>
}

export interface IncidentWrites {
  /**
   * @throws SvcError not_found; wrong_state; conflict for a stale version, with the incident as it is now; invalid
   */
  actOnIncident(id: string, act: IncidentAct, who: IncidentWho): Promise<Incident>
  /** One act on each that accepts it, in one transaction. @throws SvcError not_found for the first unknown id */
  actOnIncidents(body: IncidentsBulk, who: IncidentWho): Promise<IncidentsChanged>
}

export type IncidentCalls = IncidentReads & IncidentWrites
