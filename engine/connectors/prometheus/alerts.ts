/**
 * Alerts of Prometheus (SPEC.md, Sources and labels 4): one event where an alert comes up or changes its
 * state, and one when it is resolved. What is known of each is in the cursor.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { PrometheusAlertsConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../ingest/template.ts'
import {
  type Item,
  type MappedEvent,
  type PollConnector,
  type Polled,
  type Reach,
  UpstreamError,
} from '../connector.ts'
import { objectOf } from '../scalar.ts'
import { upstreamFaults } from '../upstream.ts'
import { compareAlerts, fingerprintOf, type KnownAlerts } from './alert-states.ts'
import { type AlertRule, askAlerts, askRules } from './alerts-api.ts'
import { discoverAlerts } from './alerts-discover.ts'
import { labelsOf } from './api.ts'

const EVENTS_MAX = 1_000
const EVENT_TYPE_MAX = 200
const TEXT_MAX = 500

export const prometheusAlerts: PollConnector = {
  kind: 'prometheus_alerts',
  label: 'Prometheus alerts',
  mode: 'poll',
  description:
    'Alerts of Prometheus: an event where one comes up or changes its state, and one when it is resolved.',
  sourceType: 'event_stream',
  configSchema: 'connector-prometheus-alerts.json',
  suggestedPoll: '30s',
  identity: ['url'],
  provides: [
    { name: 'alertname', help: 'Name of the alert.' },
    { name: 'state', help: 'firing, resolved, or pending.' },
    { name: 'severity', help: 'Its label severity; any other label is read bare, or as labels.<label>.' },
    { name: 'annotations.summary', help: 'What its rule says of it.' },
    { name: 'value', help: 'Value of its expression; declare it with type number to count with it.' },
  ],
  validate: (config) => upstreamFaults(config),
  compile: (config: FieldsOf<PrometheusAlertsConfig>) => compileAlerts(config),
  poll: (config: FieldsOf<PrometheusAlertsConfig>, cursor, reach) => poll(config, cursor, reach),
  discover: discoverAlerts,
}

/** @throws UpstreamError: nothing is resolved by an answer that does not say so. */
async function poll(config: PrometheusAlertsConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const listed = await askAlerts(config, reach)
  const known = cursor === null ? {} : (JSON.parse(cursor) as KnownAlerts)
  const present = new Set(listed.map(({ labels }) => fingerprintOf(labels)))
  const hasGone = Object.keys(known).some((fingerprint) => !present.has(fingerprint))
  const rules = hasGone ? await rulesOrWhy(config, reach) : []
  const { payloads, next, waiting, more } = compareAlerts(
    listed,
    known,
    { severities: severitiesOf(config), includePending: config.include_pending ?? false },
    ({ labels }) => Array.isArray(rules) && isEvaluated(rules, labels.alertname ?? ''),
    reach.clock.now(),
    EVENTS_MAX,
  )
  return {
    items: payloads.map((payload) => JSON.stringify(payload)),
    cursor: JSON.stringify(next),
    ...(more ? { more } : {}),
    ...(waiting ? { notice: waitingFor(waiting, Array.isArray(rules) ? null : rules) } : {}),
  }
}

/** The rules, or a sentence why there are none: some that speak this API have alerts and no rules. */
async function rulesOrWhy(config: PrometheusAlertsConfig, reach: Reach): Promise<AlertRule[] | string> {
  try {
    return await askRules(config, reach)
  } catch (error) {
    if (error instanceof UpstreamError) return error.message
    throw error
  }
}

/** Rules of one name may be several, as for two severities. */
function isEvaluated(rules: readonly AlertRule[], alertname: string): boolean {
  const own = rules.filter(({ name }) => name === alertname)
  return own.length > 0 && own.every((rule) => rule.isEvaluated)
}

function waitingFor(waiting: number, why: string | null): string {
  const which = waiting === 1 ? '1 alert is' : `${waiting} alerts are`
  const rest =
    why === null ? 'no rule says that it was evaluated since' : `their rules cannot be read: ${why}`
  return `${which} no longer firing, and ${rest}${rest.endsWith('.') ? '' : '.'} Such an alert is resolved after five minutes.`
}

function severitiesOf({ severities = '' }: PrometheusAlertsConfig): string[] {
  return severities
    .split(',')
    .map((severity) => severity.trim().toLowerCase())
    .filter((severity) => severity !== '')
}

function compileAlerts({
  default_key: standard,
  labels = [],
}: PrometheusAlertsConfig): (item: Item) => MappedEvent[] {
  const entity = labels.find((label) => label.primary)?.name ?? 'key'
  return ({ value }) => {
    const payload = objectOf(value)
    const alert = labelsOf(payload.labels)
    const state = String(payload.state ?? '')
    const name = alert.alertname || 'alert'
    const time = payload.resolvedAt ?? payload.activeAt
    const isFirst = payload.previous_state === undefined && payload.fingerprint !== undefined
    return [
      {
        eventType: oneLine(name, EVENT_TYPE_MAX),
        text: oneLine(`${state.toUpperCase()}: ${name}${aboutOf(payload.annotations)}`, TEXT_MAX),
        ...(typeof time === 'string' ? { eventTime: time } : {}),
        context: { ...alert, ...payload, labels: alert },
        ...(standard ? { stamped: { [entity]: standard }, entityLabel: entity } : {}),
        // Reading that begins anew meets alerts that are stored already.
        ...(isFirst ? { dedupeKey: `${payload.fingerprint}:${state}:${payload.activeAt}` } : {}),
      },
    ]
  }
}

function aboutOf(annotations: unknown): string {
  const { summary, description } = labelsOf(annotations)
  const about = summary || description
  return about ? ` · ${about}` : ''
}
