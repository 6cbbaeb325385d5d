/** What alerts a Prometheus has, and a config made of them. */
import type { Label } from '../../../schemas/types.ts'
import { isLabelName } from '../../ingest/label.ts'
import type { Reach } from '../connector.ts'
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
  const labels = [...alerts, ...rules].map((one) => one.labels)
  const severities = [...new Set(labels.flatMap(({ severity }) => (severity ? [severity] : [])))].sort()
  const firing = alerts.filter(({ state }) => state === 'firing').length
  const pending = alerts.filter(({ state }) => state === 'pending').length
  return {
    connector: 'prometheus_alerts',
    summary: `${counted(rules.length, 'rule')}; ${counted(firing, 'alert')} firing, ${pending} pending.`,
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
      labels: labelsFor(labels),
    },
  }
}

/** The entity is what the alerts are about, where a label tells; else how bad they are. */
function labelsFor(all: readonly Record<string, string>[]): Label[] {
  const present = new Set(all.flatMap((labels) => Object.keys(labels)))
  const key = KEYS.find((label) => present.has(label) && isLabelName(label)) ?? 'severity'
  const others = ['alertname', 'severity', 'state'].filter((label) => label !== key)
  return [{ name: key, field: key, primary: true }, ...others.map((label) => ({ name: label, field: label }))]
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
