/** Events as the evaluator takes them, in the order they were stored, in pages: those of the store, and those of a file. */

import { createHash } from 'node:crypto'
import type { ExportedEvent, ExportedEvents } from '../../../schemas/types.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import type { Snapshot } from '../../log/steps.ts'
import type { Statement } from '../../log/store/handle.ts'
import { SOURCE_LABEL, TYPE_LABEL } from '../../log/store/labels.ts'
import { eachPosition } from '../../log/store/scan.ts'
import { labelIdsOf } from '../../log/store/tail.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import { eventId, parseEventId } from '../../log/timeline/present.ts'
import { parseDuration } from '../../model/units.ts'
import { redact } from '../../net/redact.ts'
import type { Seen } from '../../triggers/types.ts'
import type { Labelled, MoreLabels } from './relabel.ts'

/** Events of a page: a few milliseconds. */
const PAGE = 4_000
/** The same where each is read with its payload, which may have a megabyte. */
const PAGE_WITH_PAYLOAD = 500
/** Ids that lie closer than this are read as a range, with others between them. */
const DENSE = 4
const LABEL_BYTES = 4

interface StoredEvent extends Labelled {
  sourceId: number
}

type Columns = [
  id: number,
  sourceId: number,
  ts: number,
  ingestedAt: number,
  labels: Uint32Array,
  entity: number | null,
  numbers: string | null,
]

/** The same as it is stored. */
type InRow = { [Place in keyof Columns]: Columns[Place] extends Uint32Array ? Uint8Array : Columns[Place] }

/** The same of many rows, each column as JSON: a value of a row costs more to hand over than to read. */
type InLists = [
  id: string,
  sourceId: string,
  ts: string,
  ingestedAt: string,
  labelBytes: string,
  entity: string,
  numbers: string,
  labels: string | null,
]

function inRows([id, sourceId, ts, ingestedAt, labelBytes, entity, numbers, labels]: InLists): Columns[] {
  const [ids, sources, times, stored, lengths] = [id, sourceId, ts, ingestedAt, labelBytes].map(
    (column) => JSON.parse(column) as number[],
  )
  const entities = JSON.parse(entity) as (number | null)[]
  const numbered = JSON.parse(numbers) as (string | null)[]
  const all = labelIdsOf(Buffer.from(labels ?? '', 'hex'))
  let at = 0
  return ids!.map((one, i): Columns => {
    const own = all.subarray(at, at + lengths![i]! / LABEL_BYTES)
    at += own.length
    return [one, sources![i]!, times![i]!, stored![i]!, own, entities[i]!, numbered[i]!]
  })
}

export type Page = { event: StoredEvent; raw: Uint8Array | null }[]

/** Where events come from, page by page. */
export interface EventSource {
  /** Events read so far. */
  readonly done: number
  /** Events in all. */
  readonly of: number
  /** The next page; null: all were read. */
  next(): Page | null
  /** Summary text and payload of one event; undefined: it is gone. */
  contentOf(id: number): { text: string; raw: Uint8Array } | undefined
}

export class EventPages implements EventSource {
  private readonly among: Statement<[string], InRow>
  private readonly between: Statement<[number, number], InLists>
  private readonly raws: Statement<[string], [number, Uint8Array]>
  private readonly one: Statement<[number], [string, Uint8Array]>
  private readonly size: number
  /** Events read so far. */
  done = 0

  /**
   * @param ids ascending. @param withRaw sources whose events come with their payload.
   * @param without label whose events are left out; null: none
   */
  constructor(
    { db }: ReadContext,
    private readonly ids: Float64Array,
    private readonly withRaw: ReadonlySet<number>,
    private readonly without: number | null,
  ) {
    const columns = 'e.id, e.source_id, e.ts, e.ingested_at, e.labels, e.entity, e.numbers'
    this.among = db
      .prepare(`SELECT ${columns} FROM json_each(?) j JOIN events e ON e.id = j.value ORDER BY e.id`)
      .raw() as Statement<[string], InRow>
    const lists = ['id', 'source_id', 'ts', 'ingested_at', 'length(labels)', 'entity', 'numbers'].map(
      (column) => `json_group_array(${column})`,
    )
    this.between = db
      .prepare(
        `SELECT ${lists.join(', ')}, group_concat(hex(labels), '') FROM (SELECT id, source_id, ts, ingested_at, labels, entity, numbers FROM events WHERE id BETWEEN ? AND ? ORDER BY id)`,
      )
      .raw() as Statement<[number, number], InLists>
    this.raws = db
      .prepare('SELECT e.id, e.raw FROM json_each(?) j JOIN events e ON e.id = j.value')
      .raw() as Statement<[string], [number, Uint8Array]>
    this.one = db.prepare('SELECT text, raw FROM events WHERE id = ?').raw() as Statement<
      [number],
      [string, Uint8Array]
    >
    this.size = withRaw.size ? PAGE_WITH_PAYLOAD : PAGE
  }

  get of(): number {
    return this.ids.length
  }

  /** The next page; null: all were read. What was purged since is left out. */
  next(): Page | null {
    if (this.done >= this.ids.length) return null
    const ids = this.ids.subarray(this.done, this.done + this.size)
    this.done += ids.length
    const page: Page = []
    let at = 0
    for (const [id, sourceId, ts, ingestedAt, labels, entity, numbers] of this.rows(ids)) {
      while (ids[at]! < id) at++
      if (ids[at] !== id) continue
      if (this.without !== null && labels.includes(this.without)) continue
      const event = { id, sourceId, ts, ingestedAt, labels, hasEntity: entity !== null, numbers }
      page.push({ event, raw: null })
    }
    if (this.withRaw.size) this.addRaws(page)
    return page
  }

  /** Summary text and payload of one event, asked for by few; undefined: it was purged. */
  contentOf(id: number): { text: string; raw: Uint8Array } | undefined {
    const found = this.one.get(id)
    return found && { text: found[0], raw: found[1] }
  }

  private rows(ids: Float64Array): Columns[] {
    const [first, last] = [ids[0]!, ids.at(-1)!]
    if (last - first + 1 <= ids.length * DENSE) return inRows(this.between.get(first, last)!)
    return this.among
      .all(JSON.stringify([...ids]))
      .map(([id, source, ts, stored, blob, entity, numbers]) => [
        id,
        source,
        ts,
        stored,
        labelIdsOf(blob),
        entity,
        numbers,
      ])
  }

  private addRaws(page: Page): void {
    const wanted = page.filter(({ event }) => this.withRaw.has(event.sourceId)).map(({ event }) => event.id)
    if (wanted.length === 0) return
    const raws = new Map(this.raws.all(JSON.stringify(wanted)))
    for (const one of page) one.raw = raws.get(one.event.id) ?? null
  }
}

/** One object for all events in turn: what judges them keeps none. */
export class SeenRow implements Seen {
  id = 0
  sourceId = 0
  ts = 0
  ingestedAt = 0
  labels = new Uint32Array()
  hasEntity = false
  readonly bypass = false
  numbersText: string | null = null
  private given: string | undefined
  private content: { text: string; raw: Uint8Array } | null | undefined = null

  constructor(private readonly pages: Pick<EventSource, 'contentOf'>) {}

  /** @param event as it is judged. @param stored as it is stored */
  set(event: Labelled, stored: StoredEvent = event as StoredEvent): this {
    this.id = event.id
    this.sourceId = stored.sourceId
    this.ts = event.ts
    this.ingestedAt = event.ingestedAt
    this.labels = event.labels as typeof this.labels
    this.hasEntity = event.hasEntity
    this.numbersText = event.numbers
    this.given = event.text
    this.content = null
    return this
  }

  numbers(): Readonly<Record<string, number>> {
    return this.numbersText === null ? {} : (JSON.parse(this.numbersText) as Record<string, number>)
  }

  text(): string {
    return this.given ?? this.read()?.text ?? ''
  }

  payload(): unknown {
    const raw = this.read()?.raw
    if (!raw) return undefined
    try {
      return parseDigits(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString())
    } catch {
      // A line of a log is no JSON, and has no fields.
      return undefined
    }
  }

  private read() {
    if (this.content === null) this.content = this.pages.contentOf(this.id)
    return this.content
  }
}

/*
 * Events in files: pages of them are exported from the store, redacted, and a file of them is judged where no
 * instance is.
 */

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

export interface RecordedEvents {
  /** Epoch ms. */
  from: number
  to: number
  /** In the order they were stored. */
  events: readonly ExportedEvent[]
}

/** What judging takes of a file. @param sourceOf the id of a source by the name it was recorded under; undefined: none */
export class RecordedPages implements EventSource {
  readonly of: number
  done = 0
  private readonly events: readonly (readonly [id: number, sourceId: number, event: ExportedEvent])[]

  constructor(
    recorded: RecordedEvents,
    sourceOf: (name: string) => number | undefined,
    private readonly labels: MoreLabels,
    private readonly withRaw: ReadonlySet<number>,
  ) {
    this.events = recorded.events.flatMap((event, n) => {
      const source = sourceOf(event.source)
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
