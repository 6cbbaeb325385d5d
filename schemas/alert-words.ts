/**
 * Sources of alerts: each alert is an event when it comes up, and another when it is over. What a trigger over them
 * says, as nearly all mean it; the console offers it, and a trigger that says nothing of it has a warning.
 */
import { ownField } from './fields-of.ts'
import type { Filter } from './types.ts'

export interface OfAlerts {
  /** Only those that come up. */
  filter: Filter
  /** Label that says how severe an alert is. */
  severity_field: string
  /** Fields that tell the two apart, by whatever a label of the source calls it: what is over has the level info, and its text says it. */
  tells: RegExp
}

/** The type of such an event is the name of the alert. */
const FIRING: OfAlerts = {
  filter: { field: 'status', op: 'eq', value: 'firing' },
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

const OF_CONNECTORS: Readonly<Record<string, OfAlerts>> = { alertmanager: FIRING, prometheus_alerts: FIRING }
const OF_PRESETS: Readonly<Record<string, OfAlerts>> = {
  ...{ checkly: UP, collectd: UP, datadog: UP, uptime_kuma: UP },
  ...{ azure_monitor: UP, google_monitoring: UP, new_relic: UP },
  // An incident that somebody has taken has the level warn.
  better_stack: upWhere('level', 'error'),
  grafana: upWhere('status', 'firing'),
  opsgenie: upWhere('event_type', 'alert.Create'),
  pagerduty: upWhere('event_type', 'incident.triggered'),
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
