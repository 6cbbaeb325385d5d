/** The alerts of a Prometheus and their rules, as it lists them. */
import { type Reach, UpstreamError } from '../connector.ts'
import { objectOf } from '../scalar.ts'
import type { Alert } from './alert-states.ts'
import { askPrometheus, labelsOf, type PrometheusConnection, type SeriesLabels } from './api.ts'

export interface AlertRule {
  name: string
  group: string
  /** firing, pending or inactive; unknown before its first evaluation. */
  state: string
  labels: SeriesLabels
  /** It was evaluated since Prometheus started, and the last time without a fault. */
  isEvaluated: boolean
}

/** Go's time that is none. */
const NEVER = '0001-01-01'

/** Asks for the alerts there are. @throws UpstreamError where the answer is no list of alerts. */
export async function askAlerts(connection: PrometheusConnection, reach: Reach): Promise<Alert[]> {
  const { value } = await askPrometheus(connection, '/api/v1/alerts', reach)
  const { alerts } = objectOf(value)
  if (!Array.isArray(alerts))
    throw new UpstreamError(
      'What answers at this address does not list alerts as Prometheus does. Check url.',
    )
  return alerts.map(alertOf)
}

function alertOf(entry: unknown): Alert {
  const { labels, annotations, state, activeAt, value } = objectOf(entry)
  const number = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
  if (typeof state !== 'string' || typeof activeAt !== 'string' || !labelsOf(labels).alertname)
    throw new UpstreamError('Prometheus lists an alert without a name, a state or a time. Check url.')
  return {
    labels: labelsOf(labels),
    annotations: labelsOf(annotations),
    state,
    activeAt,
    value: Number.isFinite(number) ? number : null,
  }
}

/** @throws UpstreamError where the answer is no list of rules. */
export async function askRules(connection: PrometheusConnection, reach: Reach): Promise<AlertRule[]> {
  const { value } = await askPrometheus(connection, '/api/v1/rules?type=alert', reach)
  const { groups } = objectOf(value)
  if (!Array.isArray(groups))
    throw new UpstreamError('What answers at this address does not list rules as Prometheus does. Check url.')
  return groups.flatMap((entry) => {
    const { name: group, rules } = objectOf(entry)
    return Array.isArray(rules) ? rules.flatMap((rule) => ruleOf(String(group ?? ''), objectOf(rule))) : []
  })
}

function ruleOf(group: string, rule: Record<string, unknown>): AlertRule[] {
  const { name, type, state, health, lastEvaluation, labels } = rule
  if (type !== 'alerting' || typeof name !== 'string') return []
  return [
    {
      name,
      group,
      state: typeof state === 'string' ? state : 'unknown',
      labels: labelsOf(labels),
      isEvaluated: health === 'ok' && typeof lastEvaluation === 'string' && !lastEvaluation.startsWith(NEVER),
    },
  ]
}
