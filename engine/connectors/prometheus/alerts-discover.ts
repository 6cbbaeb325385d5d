/** What alerts a Prometheus has, and a config made of them. */
import type { Label } from '../../../schemas/types.ts'
import { isLabelName } from '../../ingest/label.ts'
import { ENTITY_SHARE, type Reach } from '../connector.ts'
import { askAlerts, askRules } from './alerts-api.ts'
import { connectionOf } from './discover.ts'
import { KEYS } from './propose.ts'

const RULES_MAX = 500

/** @throws UpstreamError; SvcError invalid, naming the field. */
export async function discoverAlerts(
  config: Record<string, unknown>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const connection = connectionOf(config)
  const [alerts, rules] = await Promise.all([askAlerts(connection, reach), askRules(connection, reach)])
  const [ofAlerts, ofRules] = [alerts, rules].map((some) => some.map(({ labels }) => labels)) as [
    Labels[],
    Labels[],
  ]
  const key = keyOf(ofAlerts, ofRules)
  const labels = [...ofAlerts, ...ofRules]
  const severities = [...new Set(labels.flatMap(({ severity }) => (severity ? [severity] : [])))].sort()
  const firing = alerts.filter(({ state }) => state === 'firing').length
  const pending = alerts.filter(({ state }) => state === 'pending').length
  return {
    connector: 'prometheus_alerts',
    summary: `${counted(rules.length, 'rule')}; ${counted(firing, 'alert')} firing, ${pending} pending.${coverageText(ofAlerts, key)}`,
    coverage: coverageOf(ofAlerts, key),
    rules: rules.slice(0, RULES_MAX).map(({ name, group, state, labels: { severity = '' } }) => ({
      name,
      severity,
      group,
      state,
    })),
    severities,
    proposed_config: {
      url: connection.url,
      ...(connection.username ? { username: connection.username } : {}),
      labels: labelsFor(key),
    },
  }
}

type Labels = Readonly<Record<string, string>>

/** Share of them that carry a label; of those that an entity may be, which is most. */
const shareOf = (all: readonly Labels[], label: string): number =>
  all.filter((labels) => labels[label]).length / Math.max(1, all.length)

/**
 * The entity is what the alerts are about, where a label tells it of most of them; else how bad they are, or
 * their name, which all have: an alert without an entity is on no timeline and wakes nobody.
 * @param alerts with the labels that events will have; rules have only some of them.
 */
function keyOf(alerts: readonly Labels[], rules: readonly Labels[]): string {
  const all = alerts.length ? alerts : rules
  const covering = KEYS.filter(isLabelName).sort((a, b) => shareOf(all, b) - shareOf(all, a))
  const found = [...covering.slice(0, 1), 'severity'].find((label) => shareOf(all, label) >= ENTITY_SHARE)
  return found ?? 'alertname'
}

function labelsFor(key: string): Label[] {
  const others = ['alertname', 'severity', 'state'].filter((label) => label !== key)
  return [{ name: key, field: key, primary: true }, ...others.map((label) => ({ name: label, field: label }))]
}

/** Which labels could be the entity, and how many alerts each is on. */
function coverageOf(alerts: readonly Labels[], key: string) {
  const on = (label: string) => alerts.filter((labels) => label === 'alertname' || labels[label]).length
  const labels = [...new Set([key, ...KEYS, 'severity', 'alertname'])].filter((label) => on(label) > 0)
  return labels.map((label) => ({ label, alerts: on(label), of: alerts.length }))
}

function coverageText(alerts: readonly Labels[], key: string): string {
  const [own] = coverageOf(alerts, key).filter(({ label }) => label === key)
  return own ? ` The entity is ${key}, which is on ${own.alerts} of ${counted(own.of, 'alert')}.` : ''
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
