/** One event, whole: its labels, its text, and its payload as it was received, in pages. */

import type { Row } from '../calls.ts'
import { cautiousTokens } from '../context/index.ts'
import { fail } from '../errors.ts'
import { redact } from '../redact.ts'
import { labelIdsOf } from '../store/open-segment.ts'
import type { StoredRow } from '../store/rows.ts'
import type { ReadContext } from '../timeline/context.ts'
import { compilePlan } from '../timeline/plan.ts'
import { parseEventId, presentRow } from '../timeline/present.ts'
import { document, readableDocument } from './documents.ts'
import { pageOf, placeOf } from './pages.ts'
import type { Around, Looked } from './types.ts'

/** @throws SvcError invalid; not_found, also for one that may not be read */
export function event(around: Around): Looked {
  const { ctx, question, ceiling, now, isRedacted, budget } = around
  const { id = '' } = question
  const number =
    parseEventId(id) ?? fail('invalid', 'id must be an event id, such as evt_12', { field: 'id' })
  const row = readable(ctx, around.projects, [number], now)[0]
  // Documents have ids of events, and are shown as such.
  if (!row || row.reference || number > ceiling) return document(around)
  const { event_type, source, event_time, ingested_at, entity, labels, text } = row
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const raw = isRedacted ? redact(row.raw ?? '') : (row.raw ?? '')
  const from = placeOf(question)
  const head = [
    `${event_type} of ${source}${entity ? `, ${entity.label}=${entity.value}` : ''}`,
    named.join(' '),
    text.trim() === raw.trim() ? '' : text.slice(0, TEXT_MAX),
  ].filter(Boolean)
  const above = from === 0 ? `${head.join('\n')}\n` : ''
  const heading = `${id}, event time ${event_time}, ingested ${ingested_at}; payload of ${raw.length} characters${from ? `, from character ${from}` : ''}`
  const { page, next } = pageOf(raw, from, Math.max(50, budget - cautiousTokens(`${heading}\n${above}`)))
  const record = {
    ...{ id, source, event_type, event_time, ingested_at, entity, labels },
    text: text.slice(0, TEXT_MAX),
    ...{ payload: page, payload_bytes: Buffer.byteLength(row.raw ?? '') },
  }
  return { heading, text: above + page, shown: [[id, 1]], next, record }
}

const TEXT_MAX = 2_000

/**
 * Events and documents that exist and that the projects read, with payloads.
 * @param projects none: everything. @param ids numbers. @param now epoch ms, for ages
 */
export function readable(
  ctx: ReadContext,
  projects: readonly string[],
  ids: readonly number[],
  now = 0,
): Row[] {
  const wanted = [...new Set(ids)].sort((a, b) => a - b)
  const masked = new Set(ctx.names.masked())
  const { groups } = compilePlan(
    projects.length ? { project: projects } : {},
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
  const mayRead = (row: StoredRow): boolean => {
    if (projects.length === 0) return true
    const own = new Set(labelIdsOf(row.labels))
    return groups.every((group) => group.some((label) => own.has(label)))
  }
  const rows = ctx.rows
    .read(wanted, true)
    .filter((row) => row && !masked.has(row.source_id) && mayRead(row))
    .map((row) => presentRow(row, ctx.dictionary, ctx.names, now))
  const found = new Set(rows.map(({ id }) => id))
  const documents = wanted
    .filter((number) => !found.has(`evt_${number}`))
    .flatMap((number) => readableDocument(ctx, projects, number, now) ?? [])
  return [...rows, ...documents]
}
