/** Prometheus's HTTP API: what is asked of it, and its answers read with care. */

import { countWords } from '../../../schemas/plain-words.ts'
import type { Label } from '../../../schemas/types.ts'
import { isLabelName } from '../../log/ingest/label.ts'
import { ENTITY_SHARE, objectOf, type Reach, UpstreamError } from '../connectors/connector.ts'
import { type Answer, ask, refusal, type Upstream } from '../connectors/upstream.ts'

/** Where Prometheus is, as the configs of its connectors say it. */
export type PrometheusConnection = Pick<Upstream, 'url' | 'bearer_token' | 'username' | 'password'>

/** Labels of a series; the metric's name, where it has one, is `__name__`. */
export type SeriesLabels = Record<string, string>

/** One value of one series. */
export interface Sample {
  metric: SeriesLabels
  value: number
}

/** What a query gave. */
export interface QueryAnswer {
  samples: Sample[]
  /** What should be known of it, a sentence each. */
  notices: string[]
}

/** Prometheus understood the request, and this query of it is at fault. */
export class QueryError extends UpstreamError {}

const PROMETHEUS = {
  name: 'Prometheus',
  api: '/api/v1',
  credentials: 'bearer_token, or username and password',
}
const QUERY_TIMEOUT = '15s'
const QUERY_FAULTS = new Set(['bad_data', 'execution', 'timeout', 'canceled'])

/**
 * Asks for what lies in the `data` of Prometheus's success envelope.
 * @param path below the base address. @param form asked as a POST.
 * @throws UpstreamError where there is no such envelope; QueryError where Prometheus says that the query is at fault.
 */
export async function askPrometheus(
  connection: PrometheusConnection,
  path: string,
  reach: Reach,
  form?: Record<string, string>,
): Promise<{ value: unknown; warnings: string[] }> {
  const upstream = { ...connection, ...PROMETHEUS }
  const answer = await ask(upstream, path, reach, form)
  const { status, error, errorType, data, warnings } = objectOf(answer.body)
  if (isGood(answer) && status === 'success' && data !== undefined)
    return { value: data, warnings: textsOf(warnings) }
  const told = status === 'error' && typeof error === 'string' ? error : undefined
  const fault = refusal(upstream, answer, told)
  if (told !== undefined && QUERY_FAULTS.has(String(errorType)))
    throw new QueryError(fault.message, fault.retryAfterMs)
  throw fault
}

/**
 * Runs an instant query, at Prometheus's own present. Values that are not finite are left out.
 * @throws UpstreamError, QueryError
 */
export async function instantQuery(
  connection: PrometheusConnection,
  promql: string,
  reach: Reach,
): Promise<QueryAnswer> {
  // POST, because a query that names many metrics outgrows a URL.
  const { value, warnings } = await askPrometheus(connection, '/api/v1/query', reach, {
    query: promql,
    timeout: QUERY_TIMEOUT,
  })
  const { resultType, result } = objectOf(value)
  if (resultType === 'scalar') return { samples: samplesOf([{ value: result }]), notices: warnings }
  if (resultType === 'matrix')
    throw new QueryError(
      'The query gives a range of values for each series. Ask for one value, as rate(x[5m]) does.',
    )
  if (resultType !== 'vector' || !Array.isArray(result))
    throw new QueryError('The query gives no numbers. Ask for a vector or a scalar.')
  const withoutValue = result.filter((entry) => objectOf(entry).histogram !== undefined).length
  return {
    samples: samplesOf(result),
    notices:
      withoutValue === 0
        ? warnings
        : [
            ...warnings,
            `${countWords(withoutValue, 'series is a native histogram, which has', 'series are native histograms, which have')} no single value. Use histogram_quantile.`,
          ],
  }
}

function samplesOf(result: readonly unknown[]): Sample[] {
  return result.flatMap((entry) => {
    const { metric, value } = objectOf(entry)
    const text = Array.isArray(value) ? value[1] : undefined
    const number = typeof text === 'string' && text !== '' ? Number(text) : Number.NaN
    return Number.isFinite(number) ? [{ metric: labelsOf(metric), value: number }] : []
  })
}

/** The texts among an object's values: what Prometheus calls labels. */
export function labelsOf(value: unknown): SeriesLabels {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

/** The texts of a list; none where it is no list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []
}

const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300

/**
 * Runs a task for each entry, so many side by side.
 * @returns the results in the order of the entries. @throws what the first task to fail throws.
 */
export async function atMost<T, R>(
  most: number,
  entries: readonly T[],
  task: (entry: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const waiting = [...entries.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await task(next[1])
  }
  await Promise.all(Array.from({ length: Math.min(most, entries.length) }, work))
  return results
}

/* A config that reads chosen metrics, made of what their series look like. */

/** Metrics one config is proposed for at most. */
export const METRICS_MAX = 40
const AT_ONCE = 12
const SERIES_LOOKED_AT = 5
const LABELS_PROPOSED = 8
const VALUES_SHOWN = 8
const CHOICES_SHOWN = 16
/** Labels that name what a series is about, the best first. */
export const KEYS = ['service', 'tenant', 'tenant_id', 'namespace', 'pod', 'app', 'instance', 'job']
const LAST_KEY = 'instance'
/** Of a scrape or of a histogram, not of what is measured. */
const SKIPPED = new Set(['__name__', 'le', 'instance', 'job', 'value'])

/** Over which a counter's rate is proposed: scrapes are a minute apart at most, nearly everywhere. */
const RATE_OVER = '5m'

interface Preview {
  name: string
  type: 'counter' | 'histogram' | 'gauge'
  /** Over which its rate is proposed in place of its value; absent: its value is. */
  rate_over?: string
  sample: number | null
  labels: Record<string, string>
}

/** A label that can be the entity. */
interface KeyChoice {
  name: string
  /** Values among the series looked at. */
  cardinality: number
  values_preview: string[]
}

interface MetricsProposal {
  selected_count: number
  /** The label that is the entity in what is proposed. */
  key: string | null
  /** Labels that can be it, the likely ones first. */
  key_choices: KeyChoice[]
  /** The label that is the entity where none is wanted. */
  suggested_key: {
    name: string
    cardinality: number
    values_preview: string[]
    alternatives: object[]
  } | null
  /** Labels that could be the entity, and how many of the series looked at carry each. */
  coverage: { label: string; series: number; of: number }[]
  proposed_labels: Label[]
  preview: Preview[]
  proposed_config: Record<string, unknown>
}

/**
 * Looks at series of each metric and proposes one query for all of them, but for counters: of each its rate.
 * @param names at most METRICS_MAX. @param wantedKey label to be the entity; the best one otherwise.
 * @throws UpstreamError
 */
export async function proposeMetrics(
  connection: PrometheusConnection,
  names: readonly string[],
  reach: Reach,
  wantedKey?: string,
): Promise<MetricsProposal> {
  const sampled = await atMost(AT_ONCE, names, async (name) => ({
    name,
    samples: await labelSamplesOf(connection, name, reach),
    type: (await toldTypeOf(connection, name, reach)) ?? typeOf(name),
  }))
  const all = sampled.flatMap(({ samples }) => samples)
  const values = valuesByLabel(all)
  const carriers = carriersOf(all)
  const suggested = suggestedOf(values, (label) => (carriers.get(label) ?? 0) / all.length)
  const key = wantedKey !== undefined && canBeKey(values, wantedKey) ? wantedKey : suggested
  const labels = labelsFor(values, key)
  const counters = sampled.flatMap(({ name, type }) => (type === 'counter' ? [name] : []))
  const others = names.filter((name) => !counters.includes(name))
  const read = { by_name: true, ...(key === null ? {} : { key_label: key }) }
  return {
    selected_count: names.length,
    key,
    key_choices: choicesOf(values, [key, suggested]),
    suggested_key: suggested === null ? null : describeKey(values, suggested),
    coverage: [...new Set([...(key === null ? [] : [key]), ...KEYS])]
      .filter((label) => carriers.has(label))
      .map((label) => ({ label, series: carriers.get(label)!, of: all.length })),
    proposed_labels: labels,
    preview: sampled.map(({ name, type, samples }) => previewOf(name, type, samples[0])),
    proposed_config: {
      url: connection.url,
      ...(connection.username ? { username: connection.username } : {}),
      queries: [
        ...(others.length ? [{ promql: basketOf(others), ...read, text: '{key} {event_type}={val}' }] : []),
        ...counters.map((name) => ({
          promql: basketOf([name]),
          rate_over: RATE_OVER,
          ...read,
          text: '{key} {event_type}={val}/s',
        })),
      ],
      labels,
    },
  }
}

/** A metric whose query fails has nothing to look at, and the others do. */
async function labelSamplesOf(
  connection: PrometheusConnection,
  name: string,
  reach: Reach,
): Promise<Sample[]> {
  try {
    const promql = `topk(${SERIES_LOOKED_AT}, {__name__=${JSON.stringify(name)}})`
    return (await instantQuery(connection, promql, reach)).samples
  } catch (error) {
    if (error instanceof QueryError) return []
    throw error
  }
}

function valuesByLabel(samples: readonly Sample[]): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>()
  for (const { metric } of samples)
    for (const [label, value] of Object.entries(metric)) {
      if (label === '__name__') continue
      const known = values.get(label) ?? new Set()
      values.set(label, known.add(value))
    }
  return values
}

/** How many series carry each label. */
function carriersOf(samples: readonly Sample[]): Map<string, number> {
  const carriers = new Map<string, number>()
  for (const { metric } of samples)
    for (const [label, value] of Object.entries(metric))
      if (value !== '') carriers.set(label, (carriers.get(label) ?? 0) + 1)
  return carriers
}

/**
 * A label that most series carry, since a series without it has no entity; of those one that tells them
 * apart. Where none is on enough of them, the one that is on most.
 */
function suggestedOf(
  values: ReadonlyMap<string, Set<string>>,
  shareOf: (label: string) => number,
): string | null {
  const present = KEYS.filter((label) => values.has(label))
  const covering = present.filter((label) => shareOf(label) >= ENTITY_SHARE)
  if (covering.length === 0) return present.sort((a, b) => shareOf(b) - shareOf(a))[0] ?? null
  const telling = covering.find((label) => values.get(label)!.size > 1)
  return telling ?? (covering.includes(LAST_KEY) ? LAST_KEY : covering[0]!)
}

/** The entity of a proposal with its coverage, as the end of a sentence. */
export function entityText({ key, coverage }: Pick<MetricsProposal, 'key' | 'coverage'>): string {
  const own = coverage.find(({ label }) => label === key)
  if (key === null || !own) return 'no label tells what they are about'
  return `the entity is ${key}, which is on ${own.series} of the ${own.of} series looked at`
}

/** @param shown are among them, however many there are. */
function choicesOf(values: ReadonlyMap<string, Set<string>>, shown: readonly (string | null)[]): KeyChoice[] {
  const others = [...values.keys()].filter((label) => !KEYS.includes(label)).sort()
  return [...KEYS, ...others]
    .filter((label) => canBeKey(values, label))
    .filter((label, i) => i < CHOICES_SHOWN || shown.includes(label))
    .map((label) => choiceOf(values, label))
}

/** A bucket's bound is no entity, and value is the label of the number. */
function canBeKey(values: ReadonlyMap<string, Set<string>>, label: string): boolean {
  return values.has(label) && isLabelName(label) && label !== 'le' && label !== 'value'
}

function choiceOf(values: ReadonlyMap<string, Set<string>>, name: string): KeyChoice {
  const found = values.get(name)!
  return { name, cardinality: found.size, values_preview: [...found].sort().slice(0, VALUES_SHOWN) }
}

function describeKey(
  values: ReadonlyMap<string, Set<string>>,
  key: string,
): NonNullable<MetricsProposal['suggested_key']> {
  const others = KEYS.filter((label) => label !== key && values.has(label))
  return {
    ...choiceOf(values, key),
    alternatives: others.map((label) => ({ name: label, cardinality: values.get(label)!.size })),
  }
}

function labelsFor(values: ReadonlyMap<string, Set<string>>, key: string | null): Label[] {
  const others = [...values.keys()]
    .filter((label) => label !== key && !SKIPPED.has(label) && isLabelName(label))
    .sort()
    .slice(0, LABELS_PROPOSED)
  return [
    ...(key === null ? [] : [{ name: key, field: `metric.${key}`, primary: true }]),
    ...others.map((label) => ({ name: label, field: `metric.${label}` })),
    { name: 'value', field: 'value', type: 'number' as const },
  ]
}

function previewOf(name: string, type: Preview['type'], sample: Sample | undefined): Preview {
  const { __name__: _name, ...labels } = sample?.metric ?? {}
  const rate = type === 'counter' ? { rate_over: RATE_OVER } : {}
  return { name, type, ...rate, sample: sample?.value ?? null, labels }
}

/**
 * The type that the targets say a metric has (`GET /api/v1/metadata`); null where none says one, targets differ, or what answers
 * has no such data, as behind a federation and of recording rules.
 */
async function toldTypeOf(
  connection: PrometheusConnection,
  name: string,
  reach: Reach,
): Promise<Preview['type'] | null> {
  try {
    const path = `/api/v1/metadata?metric=${encodeURIComponent(name)}`
    const { value } = await askPrometheus(connection, path, reach)
    const entries = objectOf(value)[name]
    const types = new Set((Array.isArray(entries) ? entries : []).map((entry) => objectOf(entry).type))
    const [type] = types
    return types.size === 1 && (type === 'counter' || type === 'gauge' || type === 'histogram') ? type : null
  } catch (error) {
    if (error instanceof UpstreamError) return null
    throw error
  }
}

/** By the naming rules of Prometheus. */
function typeOf(name: string): Preview['type'] {
  if (name.endsWith('_total')) return 'counter'
  return name.endsWith('_bucket') ? 'histogram' : 'gauge'
}

/** One selector for all: a name as it is, several as alternatives, which PromQL anchors itself. */
export function basketOf(names: readonly string[]): string {
  if (names.length === 1) return `{__name__=${JSON.stringify(names[0])}}`
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return `{__name__=~${JSON.stringify(escaped.join('|'))}}`
}
