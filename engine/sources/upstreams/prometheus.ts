/**
 * Values of metrics, read with PromQL at every poll (SPEC.md, Sources and labels 4). Each series of an
 * answer is an event, whose payload is {metric, value, promql, time}.
 */

import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Label, PrometheusConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { compileTemplate, isLabelName, oneLine, templateFields } from '../../log/ingest/label.ts'
import {
  type Item,
  type MappedEvent,
  objectOf,
  type PollConnector,
  type Polled,
  type Reach,
  UpstreamError,
} from '../connectors/connector.ts'
import { upstreamFaults } from '../connectors/upstream.ts'
import {
  askPrometheus,
  atMost,
  basketOf,
  entityText,
  instantQuery,
  labelsOf,
  METRICS_MAX,
  type PrometheusConnection,
  proposeMetrics,
  type QueryAnswer,
  QueryError,
  type Sample,
  textsOf,
} from './prometheus-api.ts'

const EVENTS_MAX = 1_000
const AT_ONCE = 4
const EVENT_TYPE = 'metric'
const EVENT_TYPE_MAX = 200
const FIELD = 'value'
const RATE_FIELD = 'per_second'
const CALLED_MAX = 80
const TEXT = '{key} {field}={val}'
const TEXT_MAX = 500
const NOTICES_TOLD = 3
const NOTICE_MAX = 300

type Query = PrometheusConfig['queries'][number]

export const prometheus: PollConnector = {
  kind: 'prometheus',
  label: 'Prometheus metrics',
  mode: 'poll',
  description:
    'Values of metrics, asked with PromQL at every poll: each series is an event, and its value can be a number label.',
  sourceType: 'event_stream',
  configSchema: 'connector-prometheus.json',
  suggestedPoll: '15s',
  identity: ['url', 'queries', 'changes_only'],
  provides: [
    { name: 'value', help: 'Value of the series; declare it with type number to count with it.' },
    { name: 'metric.__name__', help: 'Name of the metric, where the query keeps it.' },
    { name: 'metric.instance', help: 'A label of the series; any other is read as metric.<label>, or bare.' },
    { name: 'promql', help: 'The query it comes from.' },
  ],
  validate: (config: FieldsOf<PrometheusConfig>) => faultsOf(config),
  compile: (config: FieldsOf<PrometheusConfig>) => compileMetrics(config),
  poll: (config: FieldsOf<PrometheusConfig>, cursor, reach) => poll(config, cursor, reach),
  discover: discoverMetrics,
}

function faultsOf(config: PrometheusConfig): string[] {
  const seen = new Set<string>()
  const faults = config.queries.flatMap((query, i) => {
    const own: string[] = []
    const { promql, rate_over: over, key_label: key } = query
    const asked = askedOf(query)
    if (seen.has(asked)) own.push(`queries[${i}].promql repeats a query before it`)
    if (over !== undefined && counterName(promql) === null)
      own.push(
        `queries[${i}].promql must be one counter, with labels in braces where some are meant, for the rate that rate_over asks for`,
      )
    if (key !== undefined && !isLabelName(key)) own.push(`queries[${i}].key_label ${key} is reserved`)
    seen.add(asked)
    return own
  })
  return [...upstreamFaults(config), ...faults]
}

/**
 * Asks all queries. One that fails is told and the others are stored; where all fail, the poll does.
 * @throws UpstreamError
 */
async function poll(config: PrometheusConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const now = reach.clock.now()
  const time = new Date(now).toISOString()
  const answers = await atMost(AT_ONCE, config.queries, async (query) => ({
    query,
    answer: await answerOf(config, query, reach),
  }))
  const errors = answers.flatMap(({ answer }) => (answer instanceof UpstreamError ? [answer] : []))
  const notices = answers.flatMap(({ query, answer }, i) => noticesOf(config, query, answer, i))
  if (errors.length === answers.length)
    throw errors.find((error) => !(error instanceof QueryError)) ?? new UpstreamError(told(notices))
  const found = answers.flatMap(({ query, answer }) =>
    answer instanceof UpstreamError
      ? []
      : answer.samples.filter(keeps(query)).map(({ metric, value }) => ({
          metric: named(query, metric),
          value,
          promql: askedOf(query),
          time,
        })),
  )
  if (found.length > EVENTS_MAX)
    notices.push(
      `The queries give ${found.length} series; the first ${EVENTS_MAX} are stored. Narrow them, with topk or sum by.`,
    )
  const taken = found.slice(0, EVENTS_MAX)
  const changed = config.changes_only ? onlyChanges(taken, cursor, now) : { samples: taken, cursor: null }
  return {
    items: changed.samples.map((sample) => JSON.stringify(sample)),
    cursor: changed.cursor,
    ...(notices.length ? { notice: told(notices) } : {}),
  }
}

/* Counters as rates: Prometheus itself makes them, which knows a counter that began anew from one that fell. */

/** A name, or a name in braces, with labels; text in quotes may hold anything. */
const SELECTOR = /^\s*([A-Za-z_:][\w:]*)?\s*(\{(?:[^{}"'`]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\})?\s*$/
const NAME_IN_BRACES = /^\s*\{\s*__name__\s*=\s*"([A-Za-z_:][\w:]*)"\s*[,}]/

/** Name of the one metric that a selector means; null: it is none, or may mean several. */
function counterName(promql: string): string | null {
  const found = SELECTOR.exec(promql)
  return found === null ? null : (found[1] ?? NAME_IN_BRACES.exec(promql)?.[1] ?? null)
}

/** What Prometheus is asked. */
const askedOf = ({ promql, rate_over: over }: Query): string =>
  over === undefined ? promql : `rate(${promql.trim()}[${over}])`

/** A rate has no name of its own: it is called as its counter is. */
function named({ promql, rate_over: over }: Query, metric: Sample['metric']): Sample['metric'] {
  const name = over === undefined ? null : counterName(promql)
  return name === null ? metric : { __name__: name, ...metric }
}

async function answerOf(
  config: PrometheusConfig,
  query: Query,
  reach: Reach,
): Promise<QueryAnswer | UpstreamError> {
  try {
    return await instantQuery(config, askedOf(query), reach)
  } catch (error) {
    if (error instanceof UpstreamError) return error
    throw error
  }
}

function noticesOf(
  config: PrometheusConfig,
  query: Query,
  answer: QueryAnswer | UpstreamError,
  i: number,
): string[] {
  const which = config.queries.length === 1 ? '' : `Query ${i + 1} (${oneLine(askedOf(query), 60)}): `
  const texts = answer instanceof UpstreamError ? [answer.message] : answer.notices
  return texts.map((text) => `${which}${oneLine(text, NOTICE_MAX)}`)
}

function told(notices: string[]): string {
  const more = notices.length - NOTICES_TOLD
  return [
    ...notices.slice(0, NOTICES_TOLD).map((notice) => (/[.!?]$/.test(notice) ? notice : `${notice}.`)),
    ...(more > 0 ? [`And ${more} more.`] : []),
  ].join(' ')
}

function keeps({ exclude = '' }: Query): (sample: Sample) => boolean {
  const parts = exclude
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return ({ metric }) => !parts.some((part) => metric.__name__?.includes(part))
}

function compileMetrics(config: PrometheusConfig): (item: Item) => MappedEvent[] {
  const queries = new Map(config.queries.map((query) => [askedOf(query), compileQuery(query, config)]))
  // A payload of a query that has since been removed, as the preview of labels meets them.
  const other = compileQuery({ promql: '' }, config)
  return ({ value }) => {
    const payload = objectOf(value)
    return [(queries.get(String(payload.promql)) ?? other)(payload)]
  }
}

function compileQuery(
  query: Query,
  config: PrometheusConfig,
): (payload: Record<string, unknown>) => MappedEvent {
  const { event_type: type = EVENT_TYPE, by_name: byName, text = TEXT } = query
  const field = query.field ?? (query.rate_over === undefined ? FIELD : RATE_FIELD)
  const called = calledBy(query)
  const template = compileTemplate(text)
  const standard = compileTemplate(TEXT)
  const placeholders = templateFields(text)
  const entity = entityOf(query, config)
  return (payload) => {
    const metric = labelsOf(payload.metric)
    const eventType = oneLine((byName && metric.__name__) || type, EVENT_TYPE_MAX)
    const stamped = entity(metric)
    const words: Record<string, unknown> = {
      ...metric,
      key: stamped?.value ?? nameOf(metric),
      field: stamped || !metric.__name__ ? called(metric) : field,
      val: shortNumber(payload.value),
      event_type: eventType,
    }
    const isWhole = placeholders.every((name) => Object.hasOwn(words, name))
    return {
      eventType,
      text: oneLine((isWhole ? template : standard)(words), TEXT_MAX),
      ...(typeof payload.time === 'string' ? { eventTime: payload.time } : {}),
      context: { ...metric, ...payload, metric },
      ...(stamped ? { stamped: { [stamped.name]: stamped.value }, entityLabel: stamped.name } : {}),
    }
  }
}

/** What the value of a series is called in a text that does not name the series, such as that of an entity. */
function calledBy(query: Query): (metric: Record<string, string>) => string {
  const { promql, rate_over: over, field, event_type: type, by_name: byName } = query
  const expression = oneLine(promql.replaceAll(/\s+/g, ' ').trim(), CALLED_MAX)
  return ({ __name__: name }) => {
    const measured = (byName && name) || type || name || expression
    return field ?? [measured || FIELD, ...(over === undefined ? [] : [RATE_FIELD])].join(' ')
  }
}

/** The label that is the entity where no declared one is: the query's, else that of `default_key`. */
function entityOf(
  { key_label: key }: Query,
  { default_key: standard, labels = [] }: PrometheusConfig,
): (metric: Record<string, string>) => { name: string; value: string } | null {
  const name = key ?? labels.find((label: Label) => label.primary)?.name ?? 'key'
  return (metric) => {
    const value = (key === undefined ? undefined : metric[key]) || standard
    return value ? { name, value } : null
  }
}

/** What a series is called in a text: its labels as Prometheus shows them. */
function nameOf({ __name__: name = '', ...labels }: Record<string, string>): string {
  const own = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return own.length ? `${name}{${own.join(', ')}}` : name
}

/** At most three decimals; what would be 0 with those keeps three digits. */
function shortNumber(value: unknown): string {
  if (typeof value !== 'number') return ''
  return String(
    Math.abs(value) >= 0.001 || value === 0 ? Number(value.toFixed(3)) : Number(value.toPrecision(3)),
  )
}

/*
 * Which values are news: those that differ from the ones stored last, and every series again after five
 * minutes, so that a window of a trigger never runs empty. What was stored last is in the cursor.
 */

const REPEAT_MS = 300_000

/** By series: the value stored last, and when (epoch ms). */
type Stored = Record<string, [value: number, at: number]>

/**
 * @param cursor what the poll before gave back. @param now epoch ms.
 * @returns the samples to store, and the cursor to hand in next. Series that are gone are forgotten.
 */
function onlyChanges<S extends Sample & { promql: string }>(
  samples: readonly S[],
  cursor: string | null,
  now: number,
): { samples: S[]; cursor: string } {
  const before = cursor === null ? {} : (JSON.parse(cursor) as Stored)
  const after: Stored = {}
  const news = samples.filter((sample) => {
    const id = seriesId(sample)
    const last = before[id]
    const isNews = !last || last[0] !== sample.value || now - last[1] >= REPEAT_MS
    after[id] = isNews ? [sample.value, now] : last
    return isNews
  })
  return { samples: news, cursor: JSON.stringify(after) }
}

/** 64 bits of the query and the labels, in any order: a cursor holds a thousand of them. */
function seriesId({ promql, metric }: Sample & { promql: string }): string {
  const labels = Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([promql, labels]))
    .digest('hex')
    .slice(0, 16)
}

/*
 * What a Prometheus has, and a config made of it. By what is given beside the connection: nothing for the
 * catalog of its metrics and labels, `for_label` for the metrics that have that label, `selected` for a
 * config that reads those metrics, with `key` for the label that is to be the entity. Every answer has a `proposed_config` that can be saved as it is.
 */

const CATALOG_MAX = 5_000
/** What a Prometheus has of itself and of nearly every target: a config to begin with. */
const FIRST = 'up'
/** What Prometheus keeps of its alerts, which have a connector of their own. */
const OF_ALERTS = /^ALERTS(_FOR_STATE)?$/
const LABEL = /^[A-Za-z_][A-Za-z0-9_]*$/

/** @throws UpstreamError; SvcError invalid, naming the field. */
async function discoverMetrics(
  config: Record<string, unknown>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const connection = connectionOf(config)
  if (config.selected !== undefined)
    return await forSelected(connection, namesOf(config.selected), keyOf(config.key), reach)
  if (config.for_label !== undefined)
    return await forLabel(connection, labelOf(config.for_label, 'for_label'), reach)
  return await catalogOf(connection, reach)
}

/**
 * The connection of a partial config.
 * @throws SvcError invalid, naming the field.
 */
export function connectionOf(config: Record<string, unknown>): PrometheusConnection {
  const { url, bearer_token, username, password } = config
  if (typeof url !== 'string' || !/^https?:\/\/[^\s?#]+$/.test(url))
    return fail('invalid', 'config.url must be the http or https address of Prometheus', {
      field: 'config.url',
    })
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const connection = {
    url,
    bearer_token: text(bearer_token),
    username: text(username),
    password: text(password),
  }
  const faults = upstreamFaults(connection)
  if (faults.length) fail('invalid', faults.join('; '), { field: 'config' })
  return connection
}

async function catalogOf(connection: PrometheusConnection, reach: Reach): Promise<Record<string, unknown>> {
  const [names, labelNames] = await Promise.all([
    askPrometheus(connection, '/api/v1/label/__name__/values', reach),
    askPrometheus(connection, '/api/v1/labels', reach),
  ])
  const metrics = textsOf(names.value).filter(isMetric)
  const labels = textsOf(labelNames.value).filter((label) => label !== '__name__')
  if (metrics.length === 0)
    throw new UpstreamError('Prometheus answers and has no metrics yet. Check that it scrapes its targets.')
  const first = await firstOf(connection, metrics, reach)
  const { proposed_config, ...proposed } = await proposeMetrics(connection, [first], reach)
  return {
    connector: 'prometheus',
    summary: `${countWords(metrics.length, 'metric')}, ${countWords(labels.length, 'label')}. Of ${first}, ${entityText(proposed)}.`,
    coverage: proposed.coverage,
    catalog: { metrics: metrics.slice(0, CATALOG_MAX), labels: labels.slice(0, CATALOG_MAX) },
    truncated: metrics.length > CATALOG_MAX || labels.length > CATALOG_MAX,
    selected_max: METRICS_MAX,
    proposed_config,
  }
}

/** A metric to begin with: `up`, else the first that has a value now. */
async function firstOf(
  connection: PrometheusConnection,
  metrics: readonly string[],
  reach: Reach,
): Promise<string> {
  if (metrics.includes(FIRST)) return FIRST
  const candidates = metrics.filter((name) => !OF_ALERTS.test(name)).slice(0, METRICS_MAX)
  if (candidates.length === 0) return metrics[0]!
  const { samples } = await instantQuery(connection, basketOf(candidates), reach)
  return samples[0]?.metric.__name__ ?? candidates[0]!
}

async function forLabel(
  connection: PrometheusConnection,
  label: string,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { samples } = await instantQuery(connection, `group by (__name__) ({${label}!=""})`, reach)
  const metrics = samples
    .map(({ metric }) => metric.__name__ ?? '')
    .filter(isMetric)
    .sort()
  if (metrics.length === 0)
    throw new UpstreamError(`No metric of this Prometheus has the label ${label} at present.`)
  const looked = metrics.slice(0, METRICS_MAX)
  const { proposed_config, ...proposed } = await proposeMetrics(connection, looked, reach, label)
  return {
    connector: 'prometheus',
    summary: `${countWords(metrics.length, 'metric')} with the label ${label}; ${entityText(proposed)}.`,
    coverage: proposed.coverage,
    metrics_for_label: metrics.slice(0, CATALOG_MAX),
    truncated: metrics.length > CATALOG_MAX,
    proposed_config,
  }
}

async function forSelected(
  connection: PrometheusConnection,
  names: readonly string[],
  wantedKey: string | undefined,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const proposal = await proposeMetrics(connection, names, reach, wantedKey)
  if (proposal.preview.every(({ sample }) => sample === null))
    throw new UpstreamError(
      'None of these metrics has a value at present. Pick others, or check what is scraped.',
    )
  const { preview, key, key_choices: choices } = proposal
  if (wantedKey !== undefined && key !== wantedKey)
    fail(
      'invalid',
      `config.key must be a label these metrics have, and ${wantedKey} is none${choices.length ? `; they have ${choices.map(({ name }) => name).join(', ')}` : ''}`,
      { field: 'config.key' },
    )
  const silent = preview.filter(({ sample }) => sample === null).length
  return {
    connector: 'prometheus',
    summary: `${countWords(names.length, 'metric')}${silent ? `, ${silent} without a value at present` : ''}; ${entityText(proposal)}.`,
    ...proposal,
  }
}

/** Recording rules are sums of what is there already; their names have colons. */
const isMetric = (name: string): boolean => name !== '' && !name.includes(':')

function namesOf(selected: unknown): string[] {
  const names = [...new Set(textsOf(selected))].filter((name) => name !== '' && name.length <= 256)
  if (names.length === 0 || names.length > METRICS_MAX)
    fail('invalid', `config.selected must name 1 to ${METRICS_MAX} metrics`, { field: 'config.selected' })
  return names
}

function labelOf(value: unknown, field: 'for_label' | 'key'): string {
  if (typeof value !== 'string' || !LABEL.test(value) || !isLabelName(value))
    return fail('invalid', `config.${field} must be the name of a label: letters, digits and underscores`, {
      field: `config.${field}`,
    })
  return value
}

const keyOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : labelOf(value, 'key')
