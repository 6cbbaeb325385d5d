/**
 * Events in files: pages of them are exported from the store, redacted, and a file of them is judged where no
 * instance is.
 */
import { createHash } from 'node:crypto'
import type { ExportedEvent, ExportedEvents } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import { SOURCE_LABEL, TYPE_LABEL } from '../log/store/labels.ts'
import { eachPosition } from '../log/store/scan.ts'
import { labelIdsOf } from '../log/store/tail.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { eventId, parseEventId } from '../log/timeline/present.ts'
import { parseDuration } from '../model/units.ts'
import { redact } from '../net/redact.ts'
import type { EventSource, Page } from './pages.ts'
import type { MoreLabels } from './relabel.ts'

/** Rows read at a time, and characters past which a page is full. */
const CHUNK = 500
const PAGE_CHARS = 8_000_000
const PAGE_MAX = 5_000
const FED = 4_000

export interface ExportAsked {
  window: string
  to?: string | undefined
  sources?: readonly string[] | undefined
  after?: string | undefined
  limit: number
  sample: number
}

interface ExportParts {
  ctx: ReadContext
  clock: Clock
  snapshot: Snapshot
}

/** A page of stored events. @throws SvcError invalid; not_found */
export function exportEvents(
  { ctx, clock, snapshot }: ExportParts,
  asked: ExportAsked,
): Promise<ExportedEvents> {
  const now = clock.now()
  const to = asked.to === undefined ? now : Math.min(now, parseInstant(asked.to, 'to'))
  const from = to - parseDuration(asked.window, 'window')
  const after =
    asked.after === undefined
      ? -1
      : (parseEventId(asked.after) ?? fail('invalid', 'after must be an event id', { field: 'after' }))
  return snapshot(() => {
    const ids = idsOf(ctx, sourcesOf(ctx, asked.sources), { from, to, after })
    const practice = ctx.dictionary.find('practice', 'true')
    const events: ExportedEvent[] = []
    const limit = Math.min(PAGE_MAX, Math.max(1, asked.limit))
    let [at, chars] = [0, 0]
    while (at < ids.length && at < limit && chars < PAGE_CHARS) {
      const chunk = ids.slice(at, Math.min(at + CHUNK, limit))
      at += chunk.length
      for (const row of ctx.rows.read(chunk, true)) {
        const labels = labelIdsOf(row.labels)
        if (practice !== undefined && labels.includes(practice)) continue
        if (!isSampled(ctx, row.entity, asked.sample)) continue
        const event = exported(ctx, row, labels)
        chars += event.raw.length + event.text.length
        events.push(event)
      }
    }
    return {
      ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString(), total: ids.length, events },
      next_after: at < ids.length ? eventId(ids[at - 1]!) : null,
    }
  })
}

/** Ids of the sources that are asked for; else of all but the service's own. */
function sourcesOf({ names }: ReadContext, asked: readonly string[] | undefined): number[] {
  if (!asked)
    return [...names.all()].filter((one) => !one.deleted && one.sourceType !== 'finding').map(({ id }) => id)
  return asked.map(
    (name) =>
      [...names.all()].find((one) => one.name === name && !one.deleted)?.id ??
      fail('not_found', `no source is named ${name}`, { field: 'sources' }),
  )
}

function idsOf(
  ctx: ReadContext,
  sources: readonly number[],
  { from, to, after }: { from: number; to: number; after: number },
): number[] {
  const masked = new Set(ctx.names.masked())
  const labels = sources
    .filter((id) => !masked.has(id))
    .flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  const ids: number[] = []
  const query = {
    ...{ groups: [labels], masked: [], from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
    afterId: Math.max(after, ctx.ceilingAt(from - 1)),
    ceiling: ctx.ceilingAt(to),
  }
  if (labels.length)
    eachPosition(ctx.index.all(), query, (id) => {
      ids.push(id)
    })
  return ids.sort((a, b) => a - b)
}

/** Whether the entity of an event is among so many of a hundred, always the same ones; an event without one is. */
function isSampled({ dictionary }: ReadContext, entity: number | null, sample: number): boolean {
  if (sample >= 100 || entity === null) return true
  const hash = createHash('sha256').update(dictionary.label(entity).value).digest()
  return (hash.readUInt32BE(0) / 2 ** 32) * 100 < sample
}

type StoredRow = ReturnType<ReadContext['rows']['read']>[number]

function exported({ dictionary, names }: ReadContext, row: StoredRow, ids: Uint32Array): ExportedEvent {
  const numbers = row.numbers ? (JSON.parse(row.numbers) as Record<string, number>) : {}
  const [, type, ...own] = [...ids].map((id) => dictionary.label(id))
  return {
    id: eventId(row.id),
    source: names.get(row.source_id)?.name ?? '',
    stored_at: new Date(row.ingested_at).toISOString(),
    event_time: new Date(row.ts).toISOString(),
    event_type: type!.value,
    entity: row.entity === null ? null : dictionary.label(row.entity).name,
    labels: { ...Object.fromEntries(own.map(({ name, value }) => [name, redact(value)])), ...numbers },
    text: redact(row.text),
    raw: redact(decoder.decode(row.raw)),
  }
}

const decoder = new TextDecoder()

/* A file of events in place of those that are stored. */

export interface Recorded {
  /** Epoch ms. */
  from: number
  to: number
  /** In the order they were stored. */
  events: readonly ExportedEvent[]
}

/** What judging takes of a file. @param sources ids by name, as the change finds them */
export class RecordedPages implements EventSource {
  readonly of: number
  done = 0
  private readonly events: readonly (readonly [id: number, sourceId: number, event: ExportedEvent])[]

  constructor(
    recorded: Recorded,
    sources: ReadonlyMap<string, number>,
    private readonly labels: MoreLabels,
    private readonly withRaw: ReadonlySet<number>,
  ) {
    this.events = recorded.events.flatMap((event, n) => {
      const source = sources.get(event.source)
      // No event has the id 0.
      return source === undefined ? [] : [[parseEventId(event.id) ?? n + 1, source, event] as const]
    })
    this.of = this.events.length
    for (const [id, , event] of this.events) this.byId.set(id, event)
  }

  private readonly byId = new Map<number, ExportedEvent>()

  next(): Page | null {
    if (this.done >= this.of) return null
    const part = this.events.slice(this.done, this.done + FED)
    this.done += part.length
    return part.map(([id, sourceId, event]) => ({
      event: { id, sourceId, ...this.labelled(event, sourceId) },
      raw: this.withRaw.has(sourceId) ? Buffer.from(event.raw) : null,
    }))
  }

  contentOf(id: number): { text: string; raw: Uint8Array } | undefined {
    const event = this.byId.get(id)
    return event && { text: event.text, raw: Buffer.from(event.raw) }
  }

  private labelled({ stored_at, event_time, event_type, entity, labels }: ExportedEvent, sourceId: number) {
    const lookup = this.labels
    const entries = Object.entries(labels)
    const strings = entries.filter((one): one is [string, string] => typeof one[1] === 'string')
    const numbers = entries.filter(([, value]) => typeof value === 'number')
    strings.sort(([a], [b]) => Number(b === entity) - Number(a === entity))
    return {
      ts: Date.parse(event_time),
      ingestedAt: Date.parse(stored_at),
      labels: Uint32Array.from([
        lookup.idOf(SOURCE_LABEL, String(sourceId)),
        lookup.idOf(TYPE_LABEL, event_type),
        ...strings.map(([name, value]) => lookup.idOf(name, value)),
      ]),
      hasEntity: entity !== null,
      numbers: numbers.length ? JSON.stringify(Object.fromEntries(numbers)) : null,
    }
  }
}
