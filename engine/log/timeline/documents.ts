/**
 * Reference documents: re-materialised when their source is edited, always surfaced whatever the
 * window (SPEC.md, Sources and labels 1). Superseded versions stay, so that a read as of an
 * earlier instant shows the documents of then.
 */

import { ownField } from '../../../schemas/fields-of.ts'
import { escapeText } from '../../../schemas/plain-text.ts'
import type { Row } from '../../calls.ts'
import { iso } from '../../model/units.ts'
import type { Database, Statement } from '../store/handle.ts'
import { projectScope, type SourceNames } from './context.ts'
import type { JoinedConstraint } from './plan.ts'
import { eventId, offsetOfEvent } from './present.ts'

interface DocumentRow {
  id: number
  source_id: number
  ingested_at: number
  labels: string
  entity: string | null
  text: string
  raw: Uint8Array
}

/** Of each connection; every read runs it. */
const current = new WeakMap<Database, Statement<[number, number], DocumentRow>>()
const CURRENT =
  'SELECT id, source_id, ingested_at, labels, entity, text, raw FROM documents WHERE ingested_at <= ? AND (superseded_at IS NULL OR superseded_at > ?) ORDER BY id'

/** Most documents a read surfaces; the rest is counted as truncated. */
const DOCUMENTS_MAX = 200

export interface DocumentQuery {
  selector?: Record<string, string | number | boolean>
  sources?: string[]
  event_types?: string[]
  text?: string
  include_payload?: boolean
  project?: string | readonly string[]
  /** Constraints of the selector that any name of a thing fulfils. */
  joinedConstraints?: readonly JoinedConstraint[]
}

/**
 * Documents that were current at an instant and fit the query.
 * @param asOf epoch ms; offsets count from it.
 */
export function readDocuments(db: Database, names: SourceNames, query: DocumentQuery, asOf: number): Row[] {
  const masked = new Set(names.masked())
  const wanted = query.sources?.length ? new Set(query.sources) : null
  const members = query.project?.length ? new Set(projectScope(db, names, query.project).members) : null
  if (query.event_types?.length && !query.event_types.includes('reference')) return []
  const rows: Row[] = []
  for (const row of currentOf(db).iterate(asOf, asOf)) {
    const source = names.get(row.source_id)
    if (!source || masked.has(row.source_id) || (wanted && !wanted.has(source.name))) continue
    if (members && !members.has(row.source_id)) continue
    const labels = JSON.parse(row.labels) as Record<string, string | number>
    if (!matches(query, labels, row.entity)) continue
    if (query.text && !row.text.toLowerCase().includes(query.text.toLowerCase())) continue
    rows.push(presentDocument(row, source.name, labels, asOf, query.include_payload === true))
    if (rows.length === DOCUMENTS_MAX) break
  }
  return rows
}

function currentOf(db: Database): Statement<[number, number], DocumentRow> {
  let statement = current.get(db)
  if (!statement) {
    statement = db.prepare<[number, number], DocumentRow>(CURRENT)
    current.set(db, statement)
  }
  return statement
}

/** One document by id, whatever its version. */
export function readDocument(db: Database, names: SourceNames, id: number, now: number): Row | null {
  const row = db
    .prepare('SELECT id, source_id, ingested_at, labels, entity, text, raw FROM documents WHERE id = ?')
    .get(id) as DocumentRow | undefined
  const source = row && names.get(row.source_id)
  return row && source ? presentDocument(row, source.name, JSON.parse(row.labels), now, true) : null
}

function matches(
  { selector, joinedConstraints = [] }: DocumentQuery,
  labels: Record<string, string | number>,
  entity: string | null,
): boolean {
  return Object.entries(selector ?? {}).every(([name, value]) => {
    const thing = joinedConstraints.find(({ label }) => label === name)?.thing
    if (thing) return thing.names.some((one) => String(labels[one.label]) === one.value)
    const own =
      name === 'key_value' ? (entity === null ? undefined : ownField(labels, entity)) : ownField(labels, name)
    return own !== undefined && String(own) === String(value)
  })
}

function presentDocument(
  row: DocumentRow,
  source: string,
  labels: Record<string, string | number>,
  now: number,
  withRaw: boolean,
): Row {
  const { entity } = row
  return {
    id: eventId(row.id),
    offset: offsetOfEvent(row.ingested_at, now),
    source,
    source_type: 'reference',
    event_type: 'reference',
    event_time: iso(row.ingested_at),
    ingested_at: iso(row.ingested_at),
    entity:
      entity !== null && labels[entity] !== undefined
        ? { label: entity, value: String(labels[entity]) }
        : null,
    labels,
    text: escapeText(row.text),
    reference: true,
    ...(withRaw ? { raw: Buffer.from(row.raw).toString() } : {}),
  }
}
