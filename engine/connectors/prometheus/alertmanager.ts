/**
 * Alerts that Alertmanager routes to a webhook (SPEC.md, Sources and labels 4): one event for each alert
 * of a notification, whose labels become labels of the event.
 */
import type { AlertmanagerConfig } from '../../../schemas/types.ts'
import { isLabelName } from '../../ingest/label.ts'
import { oneLine } from '../../ingest/template.ts'
import type { Item, MappedEvent, PushConnector } from '../connector.ts'
import { objectOf } from '../scalar.ts'
import { labelsOf, type SeriesLabels } from './api.ts'

const EVENT_TYPE_MAX = 200
const TEXT_MAX = 500
/** Labels that name what an alert is about, in the order they are looked for. */
const KEYS = ['namespace', 'service', 'job', 'instance', 'pod', 'app']

export const alertmanager: PushConnector = {
  kind: 'alertmanager',
  label: 'Alertmanager',
  mode: 'push',
  description:
    'Alerts that Alertmanager sends to a webhook receiver: one event for each alert that fires or is resolved, with its labels.',
  sourceType: 'event_stream',
  configSchema: 'connector-alertmanager.json',
  provides: [
    { name: 'alertname', help: 'Name of the alert.' },
    { name: 'status', help: 'firing or resolved; a label of each event.' },
    { name: 'severity', help: 'Its label severity; all its labels are labels of the event.' },
    { name: 'annotations.summary', help: 'What its rule says of it.' },
  ],
  validate: (config) => {
    const { key_label: key } = config as AlertmanagerConfig
    return key === undefined || isLabelName(key) ? [] : [`key_label ${key} is reserved`]
  },
  compile: (config) => compileAlerts(config as AlertmanagerConfig),
  note: (path) =>
    `Name ${path} as the url of a webhook receiver in alertmanager.yml; the first alert shows here.`,
}

function compileAlerts({ key_label: key }: AlertmanagerConfig): (item: Item) => MappedEvent[] {
  const keys = key === undefined ? KEYS : [key, ...KEYS]
  return (item) => {
    const { alerts } = objectOf(item.value)
    // A list of alerts comes as items of their own.
    if (!Array.isArray(alerts)) return [eventOf(objectOf(item.value), keys)]
    return alerts.map((alert) => eventOf(objectOf(alert), keys))
  }
}

function eventOf(alert: Record<string, unknown>, keys: readonly string[]): MappedEvent {
  const labels = labelsOf(alert.labels)
  const annotations = labelsOf(alert.annotations)
  const { status = 'firing', startsAt, endsAt, fingerprint, generatorURL } = alert
  const state = String(status)
  const name = labels.alertname || 'alert'
  const time = state === 'resolved' ? endsAt : startsAt
  const about = annotations.summary || annotations.description
  const { alertname: _name, ...stamped } = namesOnly(labels)
  const entity = keys.find((label) => stamped[label]) ?? Object.keys(stamped)[0]
  const payload = { labels, annotations, status: state, startsAt, endsAt, fingerprint, generatorURL }
  return {
    eventType: oneLine(name, EVENT_TYPE_MAX),
    text: oneLine(`${state.toUpperCase()}: ${name}${about ? ` · ${about}` : ''}`, TEXT_MAX),
    ...(typeof time === 'string' ? { eventTime: time } : {}),
    context: { ...labels, ...payload },
    stamped: { ...stamped, status: state },
    ...(entity === undefined ? {} : { entityLabel: entity }),
    // A notification is sent again while its alerts last, and again where it was not answered.
    ...(typeof fingerprint === 'string' && fingerprint
      ? { dedupeKey: `${fingerprint}:${state}:${startsAt}` }
      : {}),
    raw: Buffer.from(JSON.stringify(payload)),
  }
}

const namesOnly = (labels: SeriesLabels): SeriesLabels =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => isLabelName(name)))
