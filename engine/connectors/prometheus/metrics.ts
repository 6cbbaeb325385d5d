/**
 * Values of metrics, read with PromQL at every poll (SPEC.md, Sources and labels 4). Each series of an
 * answer is an event, whose payload is {metric, value, promql, time}.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { Label, PrometheusConfig } from '../../../schemas/types.ts'
import { isLabelName } from '../../ingest/label.ts'
import { compileTemplate, oneLine, templateFields } from '../../ingest/template.ts'
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
import { instantQuery, labelsOf, type QueryAnswer, QueryError, type Sample } from './api.ts'
import { atMost } from './at-most.ts'
import { onlyChanges } from './changes.ts'
import { discoverMetrics } from './discover.ts'

const EVENTS_MAX = 1_000
const AT_ONCE = 4
const EVENT_TYPE = 'metric'
const EVENT_TYPE_MAX = 200
const FIELD = 'value'
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
  const faults = config.queries.flatMap(({ promql, key_label: key }, i) => {
    const own: string[] = []
    if (seen.has(promql)) own.push(`queries[${i}].promql repeats a query before it`)
    if (key !== undefined && !isLabelName(key)) own.push(`queries[${i}].key_label ${key} is reserved`)
    seen.add(promql)
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
      : answer.samples
          .filter(keeps(query))
          .map(({ metric, value }) => ({ metric, value, promql: query.promql, time })),
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

async function answerOf(
  config: PrometheusConfig,
  { promql }: Query,
  reach: Reach,
): Promise<QueryAnswer | UpstreamError> {
  try {
    return await instantQuery(config, promql, reach)
  } catch (error) {
    if (error instanceof UpstreamError) return error
    throw error
  }
}

function noticesOf(
  config: PrometheusConfig,
  { promql }: Query,
  answer: QueryAnswer | UpstreamError,
  i: number,
): string[] {
  const which = config.queries.length === 1 ? '' : `Query ${i + 1} (${oneLine(promql, 60)}): `
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
  const queries = new Map(config.queries.map((query) => [query.promql, compileQuery(query, config)]))
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
  const { event_type: type = EVENT_TYPE, by_name: byName, field = FIELD, text = TEXT } = query
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
      field,
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
