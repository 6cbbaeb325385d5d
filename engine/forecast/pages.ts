/** Stored events in the order they were stored, in pages, as the evaluator takes them. */
import { parseDigits } from '../log/ingest/json.ts'
import type { Statement } from '../log/store/handle.ts'
import { labelIdsOf } from '../log/store/tail.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import type { Seen } from '../triggers/types.ts'
import type { Labelled } from './relabel.ts'

/** Events of a page: a few milliseconds. */
const PAGE = 4_000
/** The same where each is read with its payload, which may have a megabyte. */
const PAGE_WITH_PAYLOAD = 500
/** Ids that lie closer than this are read as a range, with others between them. */
const DENSE = 4
const LABEL_BYTES = 4

export interface StoredEvent extends Labelled {
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
