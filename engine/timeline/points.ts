/**
 * Metric points in reads: a service writes one a minute for each of its series, and rows of them would push out
 * what happened. Those of a series are one row, which shows the newest and tells count and range.
 */
import type { Row } from '../calls.ts'

/** Text of a point, as its connector writes it: the series, its value, and what follows. */
const POINT = /^(.*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?$/is

/** @returns what tells the series of a point, and its value; null for any other event. */
export function pointOf(row: Row): { series: string; value: number } | null {
  if (row.labels.signal !== 'metrics') return null
  const match = POINT.exec(row.text)
  if (!match) return null
  const series = [row.source, row.event_type, match[1], JSON.stringify(row.labels)].join('\0')
  return { series, value: Number(match[2]) }
}

/** The rows of a page, points of a series as one. */
export class PointFold {
  private readonly kept: Row[][] = []
  private readonly series = new Map<string, Row[]>()

  /** @param most rows of the page. */
  constructor(private readonly most: number) {}

  /** @returns false where the page is full and this row begins the next. */
  add(row: Row): boolean {
    const point = pointOf(row)
    const before = point && this.series.get(point.series)
    if (before) {
      before.push(row)
      return true
    }
    if (this.kept.length === this.most) return false
    const rows = [row]
    this.kept.push(rows)
    if (point) this.series.set(point.series, rows)
    return true
  }

  /** In the direction of the read. */
  finish(direction: 'asc' | 'desc'): Row[] {
    if (this.kept.every((rows) => rows.length === 1)) return this.kept.map((rows) => rows[0]!)
    const sign = direction === 'asc' ? 1 : -1
    return this.kept
      .map((rows) => foldedRow(direction === 'asc' ? rows : rows.reverse()))
      .sort(
        (a, b) => sign * (Date.parse(a.event_time) - Date.parse(b.event_time) || numberOf(a) - numberOf(b)),
      )
  }
}

const numberOf = ({ id }: Row): number => Number(id.slice(4))

/** One row for several points of a series. @param rows oldest first. */
function foldedRow(rows: readonly Row[]): Row {
  const newest = rows.at(-1)!
  if (rows.length === 1) return newest
  const values = rows.map((row) => pointOf(row)!.value)
  const range = { least: Math.min(...values), most: Math.max(...values) }
  const { id, event_time: time } = rows[0]!
  return { ...newest, fold: foldOf({ id, time }, newest, rows.length, [range]) }
}

/** What a row tells of those it stands for. @param ranges of its numbers, where they differ */
export function foldOf(
  oldest: { id: string; time: string },
  newest: Row,
  count: number,
  ranges: readonly { name?: string; least: number; most: number }[],
): NonNullable<Row['fold']> {
  const isPoint = pointOf(newest) !== null
  const [own] = ranges
  return {
    count,
    first_id: oldest.id,
    first: oldest.time,
    last_id: newest.id,
    last: newest.event_time,
    cursor: `${oldest.id}..${newest.id}`,
    ...(isPoint ? pointRange(newest, own) : ranges.length ? { numbers: [...ranges] } : {}),
  }
}

function pointRange(newest: Row, range: { least: number; most: number } | undefined) {
  const { value } = pointOf(newest)!
  return { least: range?.least ?? value, most: range?.most ?? value }
}
