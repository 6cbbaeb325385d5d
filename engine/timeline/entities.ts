/** Labels and their values with counts, for pickers (GET /api/entities). */
import type { EntitiesResult, LabelFacet, LabelValue } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { ReadContext } from './context.ts'
import { labelNames } from './plan.ts'
import { iso } from './present.ts'

/** Past this many values a label is flagged; it is still counted exactly. */
const HIGH_CARDINALITY = 10_000
const LIMIT_MAX = 500
const LIMIT_MAX_ALL = 50

/** Labels that name a request and no entity: of each value there are a few events, and as many values as requests. */
const OF_REQUESTS = new Set(['trace_id'])

/** Every label with its most frequent values, but those of requests, which are listed when asked for by name. */
export function answerEntities(ctx: ReadContext, limit: number): EntitiesResult {
  ctx.names.refresh()
  const listed = labelNames(ctx.db).filter((label) => !OF_REQUESTS.has(label))
  const facets = listed.map((label) => facetOf(ctx, label, Math.min(LIMIT_MAX_ALL, Math.max(1, limit))))
  return {
    labels: facets
      .filter((facet) => facet.distinct > 0)
      .sort((a, b) => Number(b.primary) - Number(a.primary) || (a.label < b.label ? -1 : 1)),
  }
}

/**
 * One label's values, most frequent first.
 * @param prefix only values that begin with it.
 * @throws SvcError not_found when no event has the label.
 */
export function answerEntityValues(
  ctx: ReadContext,
  label: string,
  limit: number,
  prefix?: string,
): LabelFacet {
  ctx.names.refresh()
  const facet = facetOf(ctx, label, Math.min(LIMIT_MAX, Math.max(1, limit)), prefix)
  if (facet.distinct === 0 && !labelNames(ctx.db).includes(label))
    fail('not_found', `no event has the label ${label}`, { field: 'label' })
  return facet
}

interface LabelRow {
  id: number
  value: string
}

function facetOf(ctx: ReadContext, label: string, limit: number, prefix?: string): LabelFacet {
  const found = selectLabels(ctx, label, prefix)
  const counts = ctx.counts.read(found.map((row) => row.id))
  let distinct = 0
  const values: { row: LabelRow; events: number; last: number }[] = []
  for (const row of found) {
    const sealed = counts.get(row.id)
    const events = (sealed?.n ?? 0) + ctx.index.tail.count(row.id)
    if (events === 0) continue
    distinct++
    values.push({ row, events, last: sealed?.last ?? 0 })
  }
  values.sort((a, b) => b.events - a.events || (a.row.value < b.row.value ? -1 : 1))
  const declaring = [...ctx.names.all()].filter(
    (source) => !source.deleted && source.labels.some((l) => l.name === label),
  )
  return {
    label,
    primary: declaring.some((source) => source.labels.some((l) => l.name === label && l.primary)),
    sources: declaring.map((source) => source.name).sort(),
    distinct,
    high_cardinality: distinct > HIGH_CARDINALITY,
    values: values.slice(0, limit).map(({ row, events, last }) => presentValue(ctx, row, events, last)),
  }
}

function selectLabels(ctx: ReadContext, label: string, prefix: string | undefined): LabelRow[] {
  const columns = 'SELECT id, value FROM named_labels WHERE name = ?'
  if (prefix === undefined || prefix === '') return ctx.db.prepare(columns).all(label) as LabelRow[]
  // A range of the keys by name and value; U+10FFFF sorts after every other character.
  return ctx.db
    .prepare(`${columns} AND value >= ? AND value < ?`)
    .all(label, prefix, `${prefix}\u{10ffff}`) as LabelRow[]
}

function presentValue(ctx: ReadContext, row: LabelRow, events: number, sealedLast: number): LabelValue {
  let last = sealedLast
  for (const segment of ctx.index.tail.segments) {
    const list = segment.list(row.id)
    if (list?.length) last = Math.max(last, segment.ingestedAt[list.last()]!)
  }
  return { value: row.value, events, last_ingest: last ? iso(last) : null }
}
