/**
 * Alerts of Prometheus (SPEC.md, Sources and labels 4): one event where an alert comes up or changes its
 * state, and one when it is resolved. What is known of each is in the cursor.
 */

import { createHash } from 'node:crypto'
import { type FieldsOf, ownField } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { AlertmanagerConfig, Label, PrometheusAlertsConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { isLabelName, oneLine } from '../../log/ingest/label.ts'
import { parseEventTime } from '../../log/ingest/time.ts'
import { isObject } from '../../model/merge.ts'
import {
  ENTITY_SHARE,
  type Item,
  type MappedEvent,
  objectOf,
  type PollConnector,
  type Polled,
  type PushConnector,
  type Reach,
  scalar,
  UpstreamError,
} from '../connectors/connector.ts'
import { upstreamFaults } from '../connectors/upstream.ts'
import { connectionOf } from './prometheus.ts'
import {
  KEYS as ALERT_KEYS,
  askPrometheus,
  labelsOf,
  type PrometheusConnection,
  type SeriesLabels,
} from './prometheus-api.ts'

const EVENTS_MAX = 1_000
const EVENT_TYPE_MAX = 200
const TEXT_MAX = 500

export const prometheusAlerts: PollConnector = {
  kind: 'prometheus_alerts',
  label: 'Prometheus alerts',
  mode: 'poll',
  description:
    'Alerts of Prometheus: an event where one comes up or changes its state, and one when it is resolved. Its type is the name of the alert; the field state says firing or resolved.',
  sourceType: 'event_stream',
  configSchema: 'connector-prometheus-alerts.json',
  suggestedPoll: '30s',
  identity: ['url'],
  provides: [
    { name: 'alertname', help: 'Name of the alert.' },
    { name: 'state', help: 'firing, resolved, or pending.' },
    { name: 'severity', help: 'Its label severity; any other label is read bare, or as labels.<label>.' },
    {
      name: 'level',
      help: 'error, warn or info by its severity, info once it is resolved; a label of each event.',
    },
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
    const level = levelOfAlert(alert, state)
    return [
      {
        eventType: oneLine(name, EVENT_TYPE_MAX),
        text: oneLine(`${state.toUpperCase()}: ${name}${aboutOf(payload.annotations)}`, TEXT_MAX),
        ...(typeof time === 'string' ? { eventTime: time } : {}),
        context: { ...level, ...alert, ...payload, labels: alert },
        stamped: { ...level, ...(standard ? { [entity]: standard } : {}) },
        ...(standard ? { entityLabel: entity } : {}),
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

/** What rules call how bad an alert is, in small letters, as the presets read it. */
const LEVEL_OF: Readonly<Record<string, 'error' | 'warn' | 'info'>> = {
  ...{ emergency: 'error', page: 'error', crit: 'error', critical: 'error', fatal: 'error', err: 'error' },
  ...{ error: 'error', high: 'error', major: 'error', warning: 'warn', warn: 'warn', medium: 'warn' },
  ...{ moderate: 'warn', minor: 'warn', low: 'info', notice: 'info', information: 'info', info: 'info' },
  none: 'info',
}

/**
 * The label `level` of an alert, so that it is found and counted beside the logs of its service; nothing where its rule does not
 * say how bad it is, or gave it a label of that name. What is over is bad no more.
 */
function levelOfAlert({ level, severity = '' }: SeriesLabels, state: string): { level?: string } {
  const read = state === RESOLVED ? 'info' : ownField(LEVEL_OF, severity.trim().toLowerCase())
  return level || read === undefined ? {} : { level: read }
}

/*
 * What changed among the alerts of a Prometheus since the poll before. Pure. An alert counts as resolved
 * when it is gone and its rule says that it was evaluated since; a Prometheus that has just started lists
 * none before its first evaluation, and that is no news.
 */

/** An alert as Prometheus lists it. */
interface Alert {
  labels: SeriesLabels
  annotations: SeriesLabels
  state: string
  /** ISO 8601. */
  activeAt: string
  value: number | null
}

/** An alert as the cursor keeps it. */
interface KnownAlert extends Alert {
  /** Since when it is gone without a word of its rule, epoch ms. */
  gone?: number
}

type KnownAlerts = Record<string, KnownAlert>

/** What is stored of an alert that changed. */
interface AlertPayload extends Alert {
  fingerprint: string
  /** Absent where the alert is seen for the first time. */
  previous_state?: string
  /** ISO 8601; of those that are resolved. */
  resolvedAt?: string
}

interface Wanted {
  /** In small letters; none: all. */
  severities: readonly string[]
  includePending: boolean
}

/** How long an alert that is gone is waited for where its rule does not say that it was evaluated. */
const UNCONFIRMED_MS = 300_000

/** 64 bits of the labels, in any order. */
function fingerprintOf(labels: SeriesLabels): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha1').update(JSON.stringify(sorted)).digest('hex').slice(0, 16)
}

/**
 * Compares what is listed with what is known.
 * @param isEvaluated whether the rule of an alert that is gone was evaluated without a fault.
 * @param now epoch ms. @param most payloads; what is over waits, and stays as it was in `known`.
 * @returns the payloads to store, the alerts to know next, how many are waited for, and whether more waits.
 */
function compareAlerts(
  listed: readonly Alert[],
  known: KnownAlerts,
  wanted: Wanted,
  isEvaluated: (alert: Alert) => boolean,
  now: number,
  most: number,
): { payloads: AlertPayload[]; next: KnownAlerts; waiting: number; more: boolean } {
  const present = new Map(listed.map((alert) => [fingerprintOf(alert.labels), alert]))
  const changes: { fingerprint: string; payload: AlertPayload; next: KnownAlert | null }[] = []
  const next: KnownAlerts = {}
  let waiting = 0
  for (const [fingerprint, alert] of present) {
    const before = known[fingerprint]
    if (!isWanted(alert, wanted)) continue
    if (before && before.state === alert.state && before.activeAt === alert.activeAt)
      next[fingerprint] = alert
    else changes.push({ fingerprint, payload: payloadOf(fingerprint, alert, before), next: alert })
  }
  for (const [fingerprint, before] of Object.entries(known)) {
    const listedNow = present.get(fingerprint)
    // Listed and not wanted: pending may be how a Prometheus begins anew; another severity was not asked for.
    if (listedNow && (isWanted(listedNow, wanted) || listedNow.state !== 'pending')) continue
    if (!isSelected(before, wanted)) continue
    const gone = before.gone ?? now
    const isOver = (!listedNow && isEvaluated(before)) || now - gone >= UNCONFIRMED_MS
    if (isOver) changes.push({ fingerprint, payload: resolvedOf(fingerprint, before, now), next: null })
    else {
      next[fingerprint] = { ...before, gone }
      waiting++
    }
  }
  const ordered = changes.sort((a, b) => Date.parse(a.payload.activeAt) - Date.parse(b.payload.activeAt))
  for (const [i, { fingerprint, next: after }] of ordered.entries()) {
    const kept = i < most ? after : known[fingerprint]
    if (kept) next[fingerprint] = kept
  }
  return {
    payloads: ordered.slice(0, most).map(({ payload }) => payload),
    next,
    waiting,
    more: ordered.length > most,
  }
}

function isWanted(alert: Alert, wanted: Wanted): boolean {
  return isSelected(alert, wanted) && (wanted.includePending || alert.state !== 'pending')
}

function isSelected({ labels }: Alert, { severities }: Wanted): boolean {
  return severities.length === 0 || severities.includes((labels.severity ?? '').toLowerCase())
}

function payloadOf(fingerprint: string, alert: Alert, before: KnownAlert | undefined): AlertPayload {
  return { ...alert, fingerprint, ...(before ? { previous_state: before.state } : {}) }
}

function resolvedOf(fingerprint: string, { gone: _gone, ...before }: KnownAlert, now: number): AlertPayload {
  return {
    ...before,
    state: 'resolved',
    fingerprint,
    previous_state: before.state,
    resolvedAt: new Date(now).toISOString(),
  }
}

/* The alerts of a Prometheus and their rules, as it lists them. */

interface AlertRule {
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
async function askAlerts(connection: PrometheusConnection, reach: Reach): Promise<Alert[]> {
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
async function askRules(connection: PrometheusConnection, reach: Reach): Promise<AlertRule[]> {
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

/* What alerts a Prometheus has, and a config made of them. */

const RULES_MAX = 500

/** @throws UpstreamError; SvcError invalid, naming the field. */
async function discoverAlerts(
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
    summary: `${countWords(rules.length, 'rule')}; ${countWords(firing, 'alert')} firing, ${pending} pending.${coverageText(ofAlerts, key)}`,
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
 * The entity is what the alerts are about, where a label tells it of most of them; else their name, which all
 * have: an alert without an entity is on no timeline and wakes nobody, and a severity is not what one is about.
 * @param alerts with the labels that events will have; rules have only some of them.
 */
function keyOf(alerts: readonly Labels[], rules: readonly Labels[]): string {
  const all = alerts.length ? alerts : rules
  const covering = ALERT_KEYS.filter(isLabelName).sort((a, b) => shareOf(all, b) - shareOf(all, a))
  return covering.slice(0, 1).find((label) => shareOf(all, label) >= ENTITY_SHARE) ?? 'alertname'
}

function labelsFor(key: string): Label[] {
  const others = ['alertname', 'severity', 'state'].filter((label) => label !== key)
  return [{ name: key, field: key, primary: true }, ...others.map((label) => ({ name: label, field: label }))]
}

/** Which labels could be the entity, and how many alerts each is on. */
function coverageOf(alerts: readonly Labels[], key: string) {
  const on = (label: string) => alerts.filter((labels) => label === 'alertname' || labels[label]).length
  const labels = [...new Set([key, ...ALERT_KEYS, 'severity', 'alertname'])].filter((label) => on(label) > 0)
  return labels.map((label) => ({ label, alerts: on(label), of: alerts.length }))
}

function coverageText(alerts: readonly Labels[], key: string): string {
  if (alerts.length === 0)
    return ' No alert is active: labels are those of the rules, discover again once one fires.'
  const [own] = coverageOf(alerts, key).filter(({ label }) => label === key)
  return own ? ` The entity is ${key}, which is on ${own.alerts} of ${countWords(own.of, 'alert')}.` : ''
}

/*
 * Alerts that Alertmanager routes to a webhook (SPEC.md, Sources and labels 4): one event for each alert
 * of a notification, whose labels become labels of the event.
 */

/** Labels that name what an alert is about, in the order they are looked for. */
const KEYS = ['namespace', 'service', 'job', 'instance', 'pod', 'app']
/** Labels that say how bad it is, or which Prometheus saw it: alerts that have nothing else in common are not about one thing. */
const BESIDE = new Set([
  ...['severity', 'priority', 'level'],
  ...['prometheus', 'prometheus_replica', 'replica', 'monitor'],
])

export const alertmanager: PushConnector = {
  kind: 'alertmanager',
  label: 'Alertmanager',
  mode: 'push',
  description:
    'Alerts that Alertmanager sends to a webhook receiver: one event for each alert that fires or is resolved, with its labels. Its type is the name of the alert; the label status says firing or resolved.',
  sourceType: 'event_stream',
  configSchema: 'connector-alertmanager.json',
  provides: [
    { name: 'alertname', help: 'Name of the alert.' },
    { name: 'status', help: 'firing or resolved; a label of each event.' },
    { name: 'severity', help: 'Its label severity; all its labels are labels of the event.' },
    {
      name: 'level',
      help: 'error, warn or info by its severity, info once it is resolved; a label of each event.',
    },
    { name: 'annotations.summary', help: 'What its rule says of it.' },
    { name: 'envelope.receiver', help: 'Receiver of Alertmanager that its notification went to.' },
  ],
  validate: (config) => {
    const { key_label: key } = config as AlertmanagerConfig
    return key === undefined || isLabelName(key) ? [] : [`key_label ${key} is reserved`]
  },
  compile: (config) => compileNotifications(config as AlertmanagerConfig),
  note: (path) =>
    `Name ${path} as the url of a webhook receiver in alertmanager.yml; the first alert shows here.`,
}

function compileNotifications({
  key_label: key,
}: AlertmanagerConfig): (
  item: Item,
  headers: Record<string, string> | undefined,
  index: number,
  nowMs?: number,
) => MappedEvent[] {
  const keys = key === undefined ? KEYS : [key, ...KEYS]
  return (item, _headers, _index, nowMs = 0) => {
    const { alerts } = objectOf(item.value)
    const whole = item.whole()
    // A list of alerts comes as items of their own.
    if (!Array.isArray(alerts))
      return isAlert(item.value)
        ? [eventOf(item.value, whole, undefined, keys, nowMs)]
        : fail('invalid', NO_ALERT)
    const { alerts: written, ...around } = objectOf(whole)
    const envelope = Object.fromEntries(
      ENVELOPE.flatMap((name) => (name in around ? [[name, around[name]]] : [])),
    )
    const events = alerts.flatMap((alert, i) =>
      isAlert(alert) ? [eventOf(alert, (written as unknown[])[i], envelope, keys, nowMs)] : [],
    )
    const others = alerts.length - events.length
    if (others > 0 && events.length === 0) fail('invalid', NO_ALERT_IN)
    for (let n = 0; n < others; n++) item.refuse?.(NO_ALERT_IN)
    return events
  }
}

/** What a notification says beside its alerts; the rest of it repeats what they have in common. */
const ENVELOPE = ['receiver', 'groupKey', 'groupLabels', 'externalURL']

const NO_ALERT =
  'is no alert: what is expected is a notification of Alertmanager, with a list of alerts, or an alert, an object with labels'
const NO_ALERT_IN = 'holds in alerts what is no alert: each is an object with labels'

/** An alert is its labels; what else is said of it may be missing. */
const isAlert = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject(value.labels)

/**
 * @param written the same alert, to be written as JSON.
 * @param envelope of its notification; undefined where it came alone or in a list.
 */
function eventOf(
  alert: Record<string, unknown>,
  written: unknown,
  envelope: Record<string, unknown> | undefined,
  keys: readonly string[],
  nowMs: number,
): MappedEvent {
  const labels = labelsOf(alert.labels)
  const annotations = labelsOf(alert.annotations)
  const { startsAt, endsAt } = alert
  const status = stateOf(alert, nowMs)
  const name = labels.alertname || 'alert'
  const time = status === RESOLVED ? endsAt : startsAt
  const about = annotations.summary || annotations.description || annotations.message
  const { alertname, ...others } = underNames(labels)
  const named: SeriesLabels = alertname ? { alertname } : {}
  const entity =
    keys.find((label) => labels[label] && isLabelName(label)) ??
    [...Object.keys(others).filter((label) => !BESIDE.has(label)), ...Object.keys({ ...named, ...others })][0]
  const level = levelOfAlert(labels, status)
  const around = envelope && Object.keys(envelope).length > 0 ? { envelope } : {}
  // Rulers that post alerts themselves send no fingerprint: an alert is its labels.
  const own = scalar(alert.fingerprint) || (startsAt === undefined ? undefined : fingerprintOf(labels))
  return {
    eventType: oneLine(name, EVENT_TYPE_MAX),
    text: oneLine(`${status.toUpperCase()}: ${name}${about ? ` · ${about}` : ''}`, TEXT_MAX),
    ...(typeof time === 'string' ? { eventTime: time } : {}),
    context: { ...level, ...labels, ...alert, labels, annotations, status, ...around },
    stamped: { ...level, ...others, ...(entity === 'alertname' ? named : {}), status },
    ...(entity === undefined ? {} : { entityLabel: entity }),
    // A notification is sent again while its alerts last, and again where it was not answered.
    ...(own ? { dedupeKey: `${own}:${status}:${startsAt}` } : {}),
    raw: Buffer.from(JSON.stringify({ ...objectOf(written), status: alert.status ?? status, ...around })),
  }
}

const RESOLVED = 'resolved'

/**
 * As a notification says it. An alert that Prometheus, vmalert or the ruler of Loki or Mimir posts, as to Alertmanager
 * itself, says no more than its end: ahead while it fires, past once it is resolved.
 */
function stateOf({ status, endsAt }: Record<string, unknown>, nowMs: number): string {
  if (typeof status === 'string') return status
  const { ts } = parseEventTime(endsAt, nowMs)
  return ts !== null && ts <= nowMs ? RESOLVED : 'firing'
}

/** Labels under names that labels may have: since Prometheus 3 there are such as `service.name`. */
function underNames(labels: SeriesLabels): SeriesLabels {
  const named = Object.entries(labels).filter(([name]) => isLabelName(name))
  const others = Object.entries(labels)
    .map(([name, value]): [string, string] => [name.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 64), value])
    .filter(([name]) => isLabelName(name))
  return { ...Object.fromEntries(others), ...Object.fromEntries(named) }
}
