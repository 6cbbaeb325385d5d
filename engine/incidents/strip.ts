/** The last hours for Home: events by level, firings, and what was changed; bounded, for it is asked again and again. */
import type { Home } from '../../schemas/types.ts'
import { CHANGE_KIND, NO_CHANGE_KIND } from '../context/words.ts'
import { levelNamed } from '../levels.ts'
import { SOURCE_LABEL, TYPE_LABEL } from '../store/dictionary.ts'
import { offsetOf, offsetsOf, SEGMENT_SIZE } from '../store/posting.ts'
import { eachPosition, firstPositions, type Query } from '../store/scan.ts'
import type { Segment } from '../store/segments.ts'
import { labelsNamed } from '../timeline/classify.ts'
import type { ReadContext } from '../timeline/context.ts'
import { eventId, presentRow } from '../timeline/present.ts'
import { iso } from './present.ts'
import type { Severity } from './severity.ts'
import { idOf } from './steps.ts'

type Strip = Home['strip']

const HOUR_MS = 3_600_000
const BUCKETS = 72
const FIRINGS_MAX = 200
const CHANGES_MAX = 50
const TEXT_MAX = 120
/** Events that are counted at most, the newest: some 20 ms (measured 2026-11-23). */
const COUNTED_MAX = 400_000
/** Labels that senders put a level in, and the type, where that is one. */
const LEVEL_LABELS = ['level', 'severity', 'severity_text', 'log_level', TYPE_LABEL]

/**
 * @param now epoch ms
 * @returns the strip, and how many events each source had in its last hour, by its id
 */
export function stripOf(
  ctx: ReadContext,
  hours: number,
  now: number,
): { strip: Strip; lastHour: ReadonlyMap<number, number> } {
  const step = Math.ceil((hours * HOUR_MS) / BUCKETS)
  // Whole steps: the same answer until a step is over.
  const to = (Math.floor(now / step) + 1) * step
  const from = to - BUCKETS * step
  const query = queryOf(ctx, from, to, [])
  const counted = countLevels(ctx, query, from, step)
  const strip = {
    hours,
    from: iso(from),
    to: iso(to),
    step_seconds: step / 1_000,
    buckets: counted.buckets.map((counts, i) => ({ at: iso(from + i * step), ...counts })),
    firings: firingsOf(ctx, from),
    changes: changesOf(ctx, from, to),
    cut: counted.cut,
  }
  return { strip, lastHour: counted.lastHour }
}

/** Events stored of a time since an instant. @param from epoch ms */
export function eventsSince(ctx: ReadContext, from: number): number {
  const query = queryOf(ctx, from, Number.MAX_SAFE_INTEGER, [])
  let events = 0
  for (const segment of ctx.index.all())
    if (segment.minTs >= from) events += segment.n
    else if (segment.maxTs >= from) eachPosition([segment], query, () => events++)
  return events
}

function queryOf(ctx: ReadContext, from: number, to: number, groups: number[][]): Query {
  const masked = ctx.names.masked().flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  // Events are found by their labels: without one to look for there are none, and each has a source.
  const any = groups.length > 0 ? groups : [[...labelsNamed(ctx, SOURCE_LABEL).keys()]]
  return { groups: any, masked, from, to: to - 1, afterId: -1, ceiling: ctx.index.tail.lastId }
}

/** Ids of the labels that say error or worse, and warn. */
function levelLabels(ctx: ReadContext): Map<number, 'error' | 'warn'> {
  const levels = new Map<number, 'error' | 'warn'>()
  for (const name of LEVEL_LABELS)
    for (const [id, value] of labelsNamed(ctx, name)) {
      const level = levelNamed(value)
      if (level === 'ERROR' || level === 'FATAL') levels.set(id, 'error')
      else if (level === 'WARN') levels.set(id, 'warn')
    }
  return levels
}

function countLevels(ctx: ReadContext, query: Query, from: number, step: number) {
  const levels = levelLabels(ctx)
  const wanted = new Set(levels.keys())
  const buckets = Array.from({ length: BUCKETS }, () => ({ error: 0, warn: 0, info: 0 }))
  const segments = ctx.index
    .all()
    .filter((segment) => segment.maxTs >= query.from && segment.minTs <= query.to)
    .sort((a, b) => b.maxTs - a.maxTs)
  const sources = labelsNamed(ctx, SOURCE_LABEL)
  const sourceIds = new Set(sources.keys())
  const lastHour = new Map<number, number>()
  const hourAgo = query.to + 1 - HOUR_MS
  let left = COUNTED_MAX
  let cut = false
  for (const segment of segments) {
    if (left <= 0) {
      cut = true
      break
    }
    const kinds = kindsOf(segment, wanted, levels)
    eachPosition([segment], query, (id, ts) => {
      left--
      buckets[Math.floor((ts - from) / step)]![KINDS[kinds[offsetOf(id)]!]!]++
    })
    if (segment.maxTs >= hourAgo)
      countSources(segment, { ...query, from: hourAgo }, sourceIds, sources, lastHour)
  }
  return { buckets, cut, lastHour }
}

function countSources(
  segment: Segment,
  query: Query,
  sourceIds: ReadonlySet<number>,
  sources: ReadonlyMap<number, string>,
  counts: Map<number, number>,
): void {
  for (const label of sourceIds) {
    if (!segment.posting(label)) continue
    let n = 0
    eachPosition([segment], { ...query, groups: [[label]] }, () => n++)
    const source = Number(sources.get(label))
    counts.set(source, (counts.get(source) ?? 0) + n)
  }
}

const KINDS = ['info', 'warn', 'error'] as const

/** The worst level that each event of a segment says, as a place in KINDS. */
function kindsOf(
  segment: Segment,
  wanted: ReadonlySet<number>,
  levels: ReadonlyMap<number, 'error' | 'warn'>,
) {
  const kinds = new Uint8Array(SEGMENT_SIZE)
  for (const [label, posting] of segment.postings(wanted)) {
    const kind = KINDS.indexOf(levels.get(label)!)
    for (const offset of offsetsOf(posting)) if (kinds[offset]! < kind) kinds[offset] = kind
  }
  return kinds
}

function firingsOf({ db }: ReadContext, from: number): Strip['firings'] {
  return db
    .prepare<
      [number],
      {
        at: number
        dispatch_id: string
        trigger: string
        key: string
        severity: Severity | null
        incident_id: number | null
      }
    >(
      `SELECT fired_at AS at, dispatch_id, trigger_name AS "trigger", key, severity, incident_id FROM firings
       WHERE fired_at >= ? AND practice = 0 AND resolves IS NULL ORDER BY fired_at DESC, id DESC LIMIT ${FIRINGS_MAX}`,
    )
    .all(from)
    .map(({ at, incident_id, ...rest }) => ({
      at: iso(at),
      ...rest,
      incident: incident_id === null ? null : idOf(incident_id),
    }))
}

function changesOf(ctx: ReadContext, from: number, to: number): Strip['changes'] {
  const types = [...labelsNamed(ctx, TYPE_LABEL)]
    .filter(([, value]) => CHANGE_KIND.test(value) && !NO_CHANGE_KIND.test(value))
    .map(([id]) => id)
  if (types.length === 0) return []
  const found = firstPositions(ctx.index.all(), queryOf(ctx, from, to, [types]), 'desc', CHANGES_MAX, null)
  return ctx.rows
    .read(
      found.map(({ id }) => id),
      false,
    )
    .map((stored) => {
      const row = presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
      return {
        at: iso(stored.ts),
        event_id: eventId(stored.id),
        source: row.source,
        type: row.event_type,
        text: row.text.length > TEXT_MAX ? `${row.text.slice(0, TEXT_MAX - 1)}…` : row.text,
      }
    })
}
