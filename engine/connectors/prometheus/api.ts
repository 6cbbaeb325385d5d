/** Prometheus's HTTP API: what is asked of it, and its answers read with care. */
import { type Reach, UpstreamError } from '../connector.ts'
import { objectOf } from '../scalar.ts'
import { type Answer, ask, refusal, type Upstream } from '../upstream.ts'

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
            `${withoutValue} series are native histograms, which have no single value. Use histogram_quantile.`,
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
