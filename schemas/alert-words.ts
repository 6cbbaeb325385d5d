/**
 * Sources of alerts: each alert is an event when it comes up, and another when it is over. What a trigger over them
 * says, as nearly all mean it; the console offers it, and a trigger that says nothing of it has a warning.
 */
import { ownField } from './fields-of.ts'
import type { Filter } from './types.ts'

export interface OfAlerts {
  /** Only those that come up. */
  filter: Filter
  /** Those that are over, and what the events of one alert have in common; absent: sources differ in that. */
  over?: { filters: Filter[]; equal: string[] }
  /** Label that says how severe an alert is. */
  severity_field: string
  /** Fields that tell the two apart, by whatever a label of the source calls it: what is over has the level info, and its text says it. */
  tells: RegExp
}

/** The type of such an event is the name of the alert. */
const FIRING: OfAlerts = {
  filter: { field: 'status', op: 'eq', value: 'firing' },
  over: overWhere('status', ['resolved'], 'payload.labels'),
  severity_field: 'severity',
  tells: /(^|\.)(status|state|level|text)$/,
}
/** What is over has the level info. Its fields are all by which any of them can be told apart. */
export const UP: OfAlerts = {
  filter: { field: 'level', op: 'in', value: ['error', 'warn'] },
  severity_field: 'level',
  tells: /(^|\.)(status|state|level|text|event_type|action)$/,
}
/** What comes up, by a field that says it better than the level: alerts of little weight have the level info, too. */
const upWhere = (field: string, value: string): OfAlerts => ({ ...UP, filter: { field, op: 'eq', value } })

/** @param equal what the events of one alert have in common */
function overWhere(field: string, values: string[], ...equal: string[]): NonNullable<OfAlerts['over']> {
  const [value] = values
  const filter: Filter =
    values.length === 1 ? { field, op: 'eq', value: value! } : { field, op: 'in', value: values }
  return { filters: [filter], equal }
}

const OF_CONNECTORS: Readonly<Record<string, OfAlerts>> = { alertmanager: FIRING, prometheus_alerts: FIRING }
const OF_PRESETS: Readonly<Record<string, OfAlerts>> = {
  azure_monitor: {
    ...upWhere('status', 'firing'),
    over: overWhere('status', ['resolved'], 'payload.data.essentials.alertId'),
  },
  checkly: { ...UP, over: overWhere('status', ['recovered'], 'check') },
  collectd: { ...UP, over: overWhere('status', ['resolved'], 'event_type', 'host', 'alert') },
  datadog: { ...UP, over: overWhere('status', ['Recovered'], 'monitor', 'title', 'host') },
  google_monitoring: {
    ...upWhere('status', 'open'),
    over: overWhere('status', ['closed', 'CLOSED'], 'payload.incident.incident_id'),
  },
  new_relic: { ...UP, over: overWhere('status', ['CLOSED', 'RESOLVED'], 'payload.id') },
  uptime_kuma: { ...UP, over: overWhere('status', ['up'], 'monitor') },
  // An incident that somebody has taken has the level warn.
  better_stack: {
    ...upWhere('level', 'error'),
    over: overWhere('event_type', ['incident.resolved'], 'payload.data.id'),
  },
  grafana: { ...upWhere('status', 'firing'), over: overWhere('status', ['resolved'], 'fingerprint') },
  opsgenie: {
    ...upWhere('event_type', 'alert.Create'),
    over: overWhere('event_type', ['alert.Close', 'alert.Delete'], 'alert'),
  },
  pagerduty: {
    ...UP,
    filter: { field: 'event_type', op: 'in', value: ['incident.triggered', 'incident.reopened'] },
    over: overWhere('event_type', ['incident.resolved'], 'incident'),
  },
}

/** @returns null: the source is none of alerts, as far as its connector and its preset say */
export const ofAlerts = (
  connector: string | undefined,
  config: Readonly<Record<string, unknown>> | undefined,
): OfAlerts | null =>
  ownField(OF_CONNECTORS, connector ?? '') ??
  (typeof config?.preset === 'string' ? ownField(OF_PRESETS, config.preset) : undefined) ??
  null

/** Whether a filter says which of the two are meant. */
export const saysState = ({ tells }: OfAlerts, filters: readonly Pick<Filter, 'field'>[]): boolean =>
  filters.some(({ field }) => tells.test(field))
