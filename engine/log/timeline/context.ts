/** What reads work on: one connection with its view of the index. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { Label } from '../../../schemas/types.ts'
import { systemTimers, type Timers } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { connectorOf } from '../../sources/connectors/index.ts'
import { type Counts, Skeletons } from '../brief/brief.ts'
import type { ContextRow, Wording, Wordings } from '../brief/types.ts'
import { EntityNames } from '../entity-rules.ts'
import { SourceGaps } from '../lifecycle.ts'
import type { Database, Statement } from '../store/handle.ts'
import { Dictionary, LabelCounts } from '../store/labels.ts'
import { type Position, RowReader } from '../store/scan.ts'
import { SegmentIndex } from '../store/segments.ts'
import { Tail } from '../store/tail.ts'

export interface ReadContext {
  db: Database
  index: SegmentIndex
  dictionary: Dictionary
  rows: RowReader
  names: SourceNames
  /** When sources took nothing in. */
  gaps: SourceGaps
  cursors: CursorCodec
  counts: LabelCounts
  /** Which names are of one thing. */
  entities: EntityNames
  /** Of long windows that were looked at. */
  kept: KeptRows
  /** Of texts that were looked at. */
  wordings: Wordings
  /** The largest id that had been ingested by an instant, epoch ms. */
  ceilingAt(asOf: number): number
}

/**
 * @param db a connection. @param writable the writing one, whose dictionary interns.
 * @param cursorSecret from meta.
 */
export function createReadContext(db: Database, writable: boolean, cursorSecret: string): ReadContext {
  const index = new SegmentIndex(db, new Tail(db), !writable)
  // A reader's view catches up before each read, the first time from nothing.
  if (writable) index.load()
  const ingestedAt = db.prepare<[number], { id: number; ingested_at: number }>(
    'SELECT id, ingested_at FROM events WHERE id >= ? ORDER BY id LIMIT 1',
  )
  return {
    db,
    index,
    dictionary: new Dictionary(db, writable),
    rows: new RowReader(db),
    names: new SourceNames(db),
    gaps: new SourceGaps(db),
    cursors: new CursorCodec(cursorSecret),
    counts: new LabelCounts(db, false),
    entities: new EntityNames(db),
    kept: new KeptRows(),
    wordings: new Skeletons<Wording>(),
    ceilingAt: (asOf) => {
      // Times of ingest never fall as ids grow, so the last id by an instant is found by halving.
      let low = 0
      let high = index.tail.lastId
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        const row = ingestedAt.get(middle)
        if (row === undefined || row.ingested_at > asOf) high = middle - 1
        else low = Math.max(middle, Math.min(row.id, high))
      }
      return low
    },
  }
}

/*
 * Page cursors: where the next page starts and which instant all pages speak for, signed so that a
 * changed or foreign one is refused rather than read wrongly.
 */

export interface Cursor {
  /** The page starts past this event; null: at the start of the order. */
  after: Position | null
  /** Groups of the current chunk already given, under max_tokens. */
  skip: number
  /** Largest id the pages see. */
  ceiling: number
  /** The instant relative windows end at, epoch ms. */
  now: number
  /** The rules of joined entities that the pages follow (EntityNames); absent: there were none. */
  rules?: number
}

/** Signature secret of this data file; cursors survive restarts, not a move to another instance. */
class CursorCodec {
  constructor(private readonly secret: string) {}

  /** @param query the request without its cursor: pages of another query do not fit. */
  encode(cursor: Cursor, query: unknown): string {
    const { after } = cursor
    const rules = cursor.rules === undefined ? [] : [cursor.rules]
    const body = [after?.ts ?? '', after?.id ?? '', cursor.skip, cursor.ceiling, cursor.now, ...rules].join(
      '.',
    )
    return `${Buffer.from(body).toString('base64url')}.${this.sign(body, query)}`
  }

  /** @throws SvcError invalid */
  decode(text: string, query: unknown): Cursor {
    const [encoded = '', signature = ''] = text.split('.')
    const body = Buffer.from(encoded, 'base64url').toString()
    const expected = Buffer.from(this.sign(body, query))
    const given = Buffer.from(signature)
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      fail('invalid', 'cursor is not one this query gave; start again without it', { field: 'cursor' })
    const parts = body.split('.')
    const after = parts[0] === '' ? null : { ts: Number(parts[0]), id: Number(parts[1]) }
    const rules = parts[5] === undefined ? {} : { rules: Number(parts[5]) }
    return { after, skip: Number(parts[2]), ceiling: Number(parts[3]), now: Number(parts[4]), ...rules }
  }

  private sign(body: string, query: unknown): string {
    const hash = createHash('sha256').update(canonical(query)).digest('hex')
    return createHmac('sha256', this.secret).update(`${hash}.${body}`).digest('base64url').slice(0, 22)
  }
}

/** JSON with sorted keys, so that the order in which a client writes fields does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  )
}

/*
 * What reads need to know of sources: names, kinds, which labels are numbers. Read from the rows,
 * again whenever one changed, so that a reader thread needs no messages from the writer.
 */

interface SourceFacts {
  id: number
  name: string
  sourceType: string
  labels: Label[]
  deleted: boolean
}

interface SourceRow {
  id: number
  name: string
  connector: string
  state: string
  labels: string | null
}

export class SourceNames {
  private facts = new Map<number, SourceFacts>()
  private stamp = ''
  /** Sources being purged, as of the last refresh. */
  private purged: number[] = []
  private isHeld = false
  private readonly selectStamp: Statement<[], string>
  private readonly select: Statement<[], SourceRow>
  private readonly selectMasked: Statement<[], number>

  constructor(db: Database) {
    this.selectStamp = db
      .prepare(
        "SELECT count(*) || '.' || coalesce(sum(version), 0) || '.' || coalesce(max(id), 0) FROM sources",
      )
      .pluck() as Statement<[], string>
    this.select = db.prepare(
      "SELECT id, name, connector, state, json_extract(config, '$.labels') AS labels FROM sources",
    )
    this.selectMasked = db.prepare('SELECT source_id FROM purges').pluck() as Statement<[], number>
  }

  refresh(): void {
    if (this.isHeld) return
    this.purged = this.selectMasked.all()
    const stamp = this.selectStamp.get() ?? ''
    if (stamp === this.stamp) return
    this.facts = new Map(
      this.select.all().map((row) => [
        row.id,
        {
          id: row.id,
          name: row.name,
          sourceType: connectorOf(row.connector).sourceType,
          labels: row.labels ? (JSON.parse(row.labels) as Label[]) : [],
          deleted: row.state === 'deleted',
        },
      ]),
    )
    this.stamp = stamp
  }

  /**
   * Runs `answer`, which sees one snapshot, with what the last refresh of that snapshot found: nothing of it is read
   * again meanwhile.
   */
  hold<T>(answer: () => T): T {
    this.isHeld = true
    try {
      return answer()
    } finally {
      this.isHeld = false
    }
  }

  /** Of the last refresh: another one where a source was made, changed or renamed. */
  get version(): string {
    return this.stamp
  }

  /** Facts of a source, deleted ones included: their events keep their name. */
  get(id: number): SourceFacts | undefined {
    return this.facts.get(id)
  }

  all(): Iterable<SourceFacts> {
    return this.facts.values()
  }

  /** Ids of every source that has or had the name. */
  idsOf(name: string): number[] {
    return [...this.facts.values()].filter((source) => source.name === name).map((source) => source.id)
  }

  /** Sources being purged: their events are no longer to be seen. */
  masked(): number[] {
    return this.isHeld ? this.purged : this.selectMasked.all()
  }

  /** Names of labels some source declares as numbers: they are stored in the row, not the index. */
  numberLabels(): Set<string> {
    const names = new Set<string>()
    for (const source of this.facts.values())
      for (const label of source.labels) if (label.type === 'number') names.add(label.name)
    return names
  }
}

/* Which sources a project reads (SPEC.md, Authentication 4: a project key reads that project). */

export interface ProjectScope {
  ids: string[]
  /** Ids of its sources. */
  members: number[]
  /** Ids of the sources findings are written to: of these only what was recorded in the project. */
  findings: number[]
}

/** @param words ids or names: what any of them reads. @throws SvcError invalid */
export function projectScope(
  db: Database,
  names: SourceNames,
  words: string | readonly string[],
): ProjectScope {
  const ids = [words].flat().map((word) => idOf(db, word))
  const uses = new Set(
    db
      .prepare<[string], string>(
        "SELECT name FROM project_uses WHERE project IN (SELECT value FROM json_each(?)) AND kind = 'source'",
      )
      .pluck()
      .all(JSON.stringify(ids)),
  )
  const live = [...names.all()].filter((source) => !source.deleted)
  return {
    ids,
    members: live
      .filter(({ name, sourceType }) => uses.has(name) && sourceType !== 'finding')
      .map((s) => s.id),
    findings: live.filter(({ sourceType }) => sourceType === 'finding').map((s) => s.id),
  }
}

/**
 * Names of projects that a request narrows to: what its cursors are signed for. Ids are made at random, so that a tape of
 * a run would not fit the same questions anew.
 * @param words ids or names; one that is not there stays as it is
 */
export function projectNames(db: Database, words: string | readonly string[]): string[] {
  const nameOf = db
    .prepare<[string, string], string>(
      "SELECT name FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
    )
    .pluck()
  return [words].flat().map((word) => nameOf.get(word, word) ?? word)
}

/**
 * Of a list that is narrowed to one project: a name that was mistyped looks like a project in which nothing happened.
 * @param word id or name of one that is not deleted. @returns its id
 * @throws SvcError not_found, with the name that was meant perhaps
 */
export function requireProject(db: Database, word: string): string {
  const live = db
    .prepare<[], { id: string; name: string }>("SELECT id, name FROM projects WHERE state <> 'deleted'")
    .all()
  const found = live.find(({ id }) => id === word) ?? live.find(({ name }) => name === word)
  if (found) return found.id
  const near = didYouMean(
    word,
    live.map(({ name }) => name),
  )
  return fail('not_found', `no project has the id or name ${word}${near}`, { field: 'project' })
}

function idOf(db: Database, word: string): string {
  return (
    db
      .prepare<[string, string], string>(
        "SELECT id FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
      )
      .pluck()
      .get(word, word) ??
    fail('invalid', `project: no project has the id or name ${word}`, { field: 'project' })
  )
}

/*
 * Rows of the long windows that a connection was asked about, as the brief looks at them. An incident has several runs,
 * and each looks at about the same hours again, first and by its tools: what was read once is not read a second time,
 * and how it is worded is known (`wording`). Events never change, so that a row is right for as long as its source is
 * called what it was; which rows a question sees is told by the index each time, and not by what is kept here.
 */

/**
 * Kept at most, over all labels: rows, as many as one look takes, and bytes of their texts; some 80 MB with what is
 * known of them.
 */
const MOST = { rows: 200_000, bytes: 27 * 1024 * 1024 }
/** Longer than a model mostly thinks between two looks of one run: what nobody asked for so long is given back. */
const IDLE_MS = 60_000

/** A row as it is kept: by the number of its event. */
export interface KeptRow extends ContextRow {
  readonly number: number
  /** What its payload says where it is a span; it is known from then on. */
  tell(measures: Pick<ContextRow, 'values' | 'series' | 'span'>): void
  /** What its payload says where it is a metric point. */
  tellCounts(counts: Counts): void
}

interface Kept {
  /** By time, then by number: a window is found in them by one walk, and no key of each has to be kept. */
  rows: readonly KeptRow[]
  bytes: number
}

const NONE: readonly KeptRow[] = []

export class KeptRows {
  /** By the label that tells whose a row is; the one that was asked for last comes last. */
  private readonly byLabel = new Map<string, Kept>()
  private version = ''
  private callOff = () => {}

  constructor(
    private readonly most = MOST,
    private readonly timers: Timers = systemTimers,
  ) {}

  /** @param version of the sources: rows have their names. @returns by time, then by number; empty where nothing is kept */
  of(label: string, version: string): readonly KeptRow[] {
    if (version !== this.version) this.byLabel.clear()
    this.version = version
    return this.byLabel.get(label)?.rows ?? NONE
  }

  /**
   * @param rows all of a window, by time, then by number: the newest stay where not all has room.
   * @param version as they were read
   */
  keep(label: string, version: string, rows: readonly KeptRow[]): void {
    if (version !== this.version) return
    this.callOff()
    this.callOff = this.timers.after(IDLE_MS, () => this.byLabel.clear())
    const before = this.byLabel.get(label)?.rows ?? NONE
    this.byLabel.delete(label)
    this.byLabel.set(label, keptOf(merged(before, rows)))
    for (const other of [...this.byLabel.keys()]) {
      if (other === label || !this.isOver()) break
      this.byLabel.delete(other)
    }
    if (this.isOver()) this.byLabel.set(label, keptOf(newestOf(rows, this.most)))
  }

  private isOver(): boolean {
    let rows = 0
    let bytes = 0
    for (const kept of this.byLabel.values()) {
      rows += kept.rows.length
      bytes += kept.bytes
    }
    return rows > this.most.rows || bytes > this.most.bytes
  }
}

const bytesOf = ({ from = 0, to = 0 }: KeptRow): number => to - from

function keptOf(rows: readonly KeptRow[]): Kept {
  let bytes = 0
  for (const row of rows) bytes += bytesOf(row)
  return { rows, bytes }
}

function newestOf(rows: readonly KeptRow[], most: { rows: number; bytes: number }): readonly KeptRow[] {
  let first = rows.length
  for (let bytes = 0; first > 0 && rows.length - first < most.rows; first--) {
    bytes += bytesOf(rows[first - 1]!)
    if (bytes > most.bytes) break
  }
  return rows.slice(first)
}

/** Of two lists by time and number one such list; a row that is in both is in it once. */
function merged(some: readonly KeptRow[], more: readonly KeptRow[]): readonly KeptRow[] {
  if (some.length === 0) return more
  const walk = walkOf(more)
  const others = some.filter(({ at, number }) => walk(at, number) === undefined)
  if (others.length === 0) return more
  const all: KeptRow[] = []
  let next = 0
  for (const row of more) {
    for (; next < others.length && comesBefore(others[next]!, row.at, row.number); next++)
      all.push(others[next]!)
    all.push(row)
  }
  return [...all, ...others.slice(next)]
}

const comesBefore = (row: KeptRow, at: number, number: number): boolean =>
  row.at < at || (row.at === at && row.number < number)

/**
 * @param rows by time, then by number.
 * @returns finds the row of an event; it is to be asked in the same order
 */
export function walkOf(rows: readonly KeptRow[]): (at: number, number: number) => KeptRow | undefined {
  let next = 0
  return (at, number) => {
    while (next < rows.length && comesBefore(rows[next]!, at, number)) next++
    const row = rows[next]
    return row?.number === number ? row : undefined
  }
}
