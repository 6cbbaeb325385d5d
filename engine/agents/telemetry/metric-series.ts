/**
 * Metric points of OpenTelemetry as series: what shares name, service, resource and attributes. Of a window: the
 * latest value, what was lowest, highest and usual, how fast a counter grew, and percentiles of a histogram. Points are
 * looked at newest first; what a counter grew by is the sum of its steps, and one that began anew counts from 0
 * (OpenTelemetry, Metrics Data Model: Resets and Gaps).
 */

import {
  type Buckets,
  bucketsOf,
  combined,
  isBelow,
  isDelta,
  NO_EXTREMES,
  quantileOf,
} from '../../../schemas/distributions.ts'
import type { MetricSeries, MetricSeriesResult } from '../../../schemas/types.ts'
import type { MetricsAsked } from '../../calls.ts'
import type { Steps } from '../../log/steps.ts'
import { firstPositions, type Position } from '../../log/store/scan.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { askedQuery, windowOf } from '../../log/timeline/inspect-pages.ts'
import { aroundOf, BATCH, fieldsIn, objectIn, rowsAt } from '../../log/timeline/traces.ts'
import { iso } from '../../model/units.ts'

const WINDOW_DEFAULT = '1h'
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
/** Points looked at for one answer, and series that are kept of them. */
const LOOKED_MAX = 50_000
const SERIES_MAX = 2_000
const LABELS_MAX = 20
/** Parts of the window that a line has. */
const LINE_POINTS = 60
const VALUE_MAX = 200
/** What tells processes of one service apart. */
const INSTANCE = ['service.instance.id', 'k8s.pod.name', 'container.id', 'host.name']

/** @throws SvcError invalid, naming the field; not_found for a project that is not there */
export function* metricsInSteps(
  ctx: ReadContext,
  asked: MetricsAsked,
  now: number,
): Steps<MetricSeriesResult> {
  ctx.names.refresh()
  const limit = Math.min(LIMIT_MAX, Math.max(1, asked.limit ?? LIMIT_DEFAULT))
  const around = aroundOf(ctx, asked, now, {
    window: asked.window ?? WINDOW_DEFAULT,
    selector: { signal: 'metrics', ...(asked.service === undefined ? {} : { service: asked.service }) },
  })
  const { from, until } = windowOf(around)
  const query = yield* askedQuery(around, from, until)
  const wanted = asked.name?.toLowerCase()
  const found = new Map<string, Series>()
  const slots: Slots = { from, length: Math.max(1, (until - from) / LINE_POINTS) }
  let lookedAt = 0
  let isCut = false
  let after: Position | null = null
  for (;;) {
    const positions: Position[] = firstPositions(ctx.index.all(), query, 'desc', BATCH, after)
    const points = new Map(rowsAt(around, positions, true).map((one) => [one.row.id, one]))
    for (const { id } of positions) {
      const { row, raw } = points.get(`evt_${id}`) ?? {}
      lookedAt++
      if (!row || !raw || (wanted !== undefined && !row.type.toLowerCase().includes(wanted))) continue
      isCut = !take(found, raw, row.at, String(row.labels.service ?? row.entity), slots) || isCut
    }
    if (positions.length < BATCH) break
    if (lookedAt >= LOOKED_MAX) {
      isCut = true
      break
    }
    after = positions.at(-1)!
    yield
  }
  const series = [...found.values()].map((one) => one.shown()).sort(byName)
  return {
    ...{ series: series.slice(0, limit), found: series.length, looked_at: lookedAt, is_cut: isCut },
    ...{ from: iso(from), to: iso(until) },
  }
}

const byName = (a: MetricSeries, b: MetricSeries): number =>
  compare(a.name, b.name) || compare(a.service ?? '', b.service ?? '') || b.points - a.points
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** @returns false: there are too many series already */
function take(
  found: Map<string, Series>,
  raw: Uint8Array,
  at: number,
  service: string,
  slots: Slots,
): boolean {
  const point = objectIn(raw)
  if (typeof point.metricName !== 'string') return true
  const key = JSON.stringify([
    ...[point.metricName, service, point.metricType, point.resourceAttributes],
    ...[sorted(fieldsIn(point.attributes)), fieldsIn(point.scope).name],
  ])
  const known = found.get(key)
  if (known) known.add(point, at)
  else if (found.size >= SERIES_MAX) return false
  else found.set(key, new Series(point, at, service, slots))
  return true
}

const sorted = (fields: Record<string, unknown>): [string, unknown][] =>
  Object.entries(fields).sort(([a], [b]) => compare(a, b))

/** The parts of a window that a line is drawn by. */
interface Slots {
  /** Epoch ms. */
  from: number
  /** Milliseconds of one. */
  length: number
}

/** Points of a series, added newest first. */
class Series {
  private points = 0
  private oldest = 0
  private low = Number.POSITIVE_INFINITY
  private high = Number.NEGATIVE_INFINITY
  private sum = 0
  private readonly latest: number | null
  private readonly isDelta: boolean
  private readonly isCounter: boolean
  private readonly isDistribution: boolean
  /** What was counted in the window. */
  private increase = 0
  private total = 0
  private buckets: Buckets | null = null
  private hasBuckets = true
  /** Every point that counted something says the least and the greatest of it. */
  private hasExtremes = true
  /** The point after the one that is added. */
  private newer: Record<string, unknown> | null = null
  private newerAt = 0
  private readonly drawn = new Map<number, { sum: number; points: number }>()

  constructor(
    private readonly first: Record<string, unknown>,
    private readonly newest: number,
    private readonly service: string,
    private readonly slots: Slots,
  ) {
    const { metricType, isMonotonic } = first
    this.isDistribution = metricType !== 'gauge' && metricType !== 'sum'
    this.isDelta = isDelta(first)
    this.isCounter = this.isDistribution || (metricType === 'sum' && isMonotonic === true)
    this.latest = pointValue(first)
    this.add(first, newest)
  }

  add(point: Record<string, unknown>, at: number): void {
    const value = pointValue(point)
    if (value === null) return
    this.points++
    this.oldest = at
    const low = this.isDistribution ? numberOf(point.min, Number.POSITIVE_INFINITY) : value
    const high = this.isDistribution ? numberOf(point.max, Number.NEGATIVE_INFINITY) : value
    this.low = Math.min(this.low, low)
    this.high = Math.max(this.high, high)
    if (value > 0 && !(low <= high && finite(low) !== null && finite(high) !== null)) this.hasExtremes = false
    this.sum += value
    if (this.isCounter && this.isDelta) this.count(point, at, null)
    else if (this.isCounter && this.newer) this.count(this.newer, this.newerAt, point)
    else if (!this.isCounter) this.draw(at, value, 1)
    this.newer = point
    this.newerAt = at
  }

  /** @param points how many it is the sum of */
  private draw(at: number, value: number, points: number): void {
    const slot = Math.min(
      LINE_POINTS - 1,
      Math.max(0, Math.floor((at - this.slots.from) / this.slots.length)),
    )
    const drawn = this.drawn.get(slot) ?? { sum: 0, points: 0 }
    this.drawn.set(slot, { sum: drawn.sum + value, points: drawn.points + points })
  }

  /** Of a gauge the mean of each part of the window, else how much was counted a second. */
  private line(): (number | null)[] {
    return Array.from({ length: LINE_POINTS }, (_, slot) => {
      const drawn = this.drawn.get(slot)
      if (drawn === undefined) return null
      return this.isCounter ? drawn.sum / (this.slots.length / 1_000) : drawn.sum / drawn.points
    })
  }

  /** Adds what a point counted since an older one; null: by itself. */
  private count(point: Record<string, unknown>, at: number, older: Record<string, unknown> | null): void {
    const value = pointValue(point)!
    const before = older === null ? 0 : pointValue(older)!
    const isNew = older === null || value < before || startOf(point) !== startOf(older)
    this.increase += isNew ? value : value - before
    this.draw(at, isNew ? value : value - before, 1)
    const total = numberOf(point.sum, 0)
    this.total += isNew ? total : total - numberOf(older!.sum, 0)
    const own = bucketsOf(point)
    const then = isNew ? null : bucketsOf(older!)
    const step = own && then ? combined(own, then, -1) : own
    if (!step || isBelow(step)) this.hasBuckets = false
    else this.buckets = this.buckets ? combined(this.buckets, step, 1) : step
    if (!this.buckets) this.hasBuckets = false
  }

  shown(): MetricSeries {
    const { first, points, isDistribution, isCounter } = this
    const { attributes, resourceAttributes, metricName, metricType, unit } = first
    const resource = fieldsIn(resourceAttributes)
    const seconds = (this.newest - this.oldest) / 1_000
    const isCounted = isCounter && (this.isDelta || points > 1)
    const buckets = isDistribution && this.hasBuckets ? this.buckets : null
    const extremes = this.hasExtremes ? { low: this.low, high: this.high } : NO_EXTREMES
    const at = (part: number) => (buckets ? quantileOf(buckets, part, extremes) : null)
    const instance = INSTANCE.map((name) => resource[name]).find((value) => typeof value === 'string')
    return {
      name: String(metricName),
      service: this.service || null,
      instance: (instance as string | undefined) ?? null,
      labels: sorted(fieldsIn(attributes))
        .slice(0, LABELS_MAX)
        .map(([name, value]) => ({
          name,
          value: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VALUE_MAX),
        })),
      type: isCounter && !isDistribution ? 'counter' : isDistribution ? 'histogram' : 'gauge',
      kind: String(metricType),
      unit: typeof unit === 'string' && unit !== '' ? unit : null,
      points,
      from: iso(this.oldest || this.newest),
      to: iso(this.newest),
      latest: this.latest,
      min: finite(this.low),
      max: finite(this.high),
      avg: isDistribution ? ratio(this.total, this.increase) : ratio(this.sum, points),
      increase: isCounted ? this.increase : null,
      rate: isCounted && points > 1 && seconds > 0 ? (this.increase - this.lead()) / seconds : null,
      p50: at(0.5),
      p90: at(0.9),
      p95: at(0.95),
      p99: at(0.99),
      line: this.line(),
    }
  }

  /** Of points that each count by themselves the oldest counted before the time between the points began. */
  private lead(): number {
    return this.isDelta && this.newer ? (pointValue(this.newer) ?? 0) : 0
  }
}

/** Of a distribution how many were counted. */
function pointValue({ asDouble, asInt, count }: Record<string, unknown>): number | null {
  const given = asDouble ?? asInt ?? count
  const value = given === undefined ? Number.NaN : Number(given)
  return Number.isFinite(value) ? value : null
}

const startOf = (point: Record<string, unknown>): unknown => point.startTimeUnixNano

function numberOf(given: unknown, otherwise: number): number {
  const value = given === undefined ? Number.NaN : Number(given)
  return Number.isFinite(value) ? value : otherwise
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
const ratio = (sum: number, count: number): number | null => (count > 0 ? sum / count : null)
