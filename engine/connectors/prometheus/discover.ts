/**
 * What a Prometheus has, and a config made of it. By what is given beside the connection: nothing for the
 * catalog of its metrics and labels, `for_label` for the metrics that have that label, `selected` for a
 * config that reads those metrics, with `key` for the label that is to be the entity. Every answer has a `proposed_config` that can be saved as it is.
 */
import { fail } from '../../errors.ts'
import { isLabelName } from '../../ingest/label.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { upstreamFaults } from '../upstream.ts'
import { askPrometheus, instantQuery, type PrometheusConnection, textsOf } from './api.ts'
import { basketOf, entityText, METRICS_MAX, proposeMetrics } from './propose.ts'

const CATALOG_MAX = 5_000
/** What a Prometheus has of itself and of nearly every target: a config to begin with. */
const FIRST = 'up'
/** What Prometheus keeps of its alerts, which have a connector of their own. */
const OF_ALERTS = /^ALERTS(_FOR_STATE)?$/
const LABEL = /^[A-Za-z_][A-Za-z0-9_]*$/

/** @throws UpstreamError; SvcError invalid, naming the field. */
export async function discoverMetrics(
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
    summary: `${counted(metrics.length, 'metric')}, ${counted(labels.length, 'label')}. Of ${first}, ${entityText(proposed)}.`,
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
    summary: `${counted(metrics.length, 'metric')} with the label ${label}; ${entityText(proposed)}.`,
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
    summary: `${counted(names.length, 'metric')}${silent ? `, ${silent} without a value at present` : ''}; ${entityText(proposal)}.`,
    ...proposal,
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

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
