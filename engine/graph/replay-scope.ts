/** What a replay is of: a project, a range, and the chain of runs it was asked for, if it was. */
import type { ReplayMoment, TriggerSpec } from '../../schemas/types.ts'
import type { RunRow } from '../agents/runs/queries.ts'
import type { ChangeSetRow } from '../documents/change-sets.ts'
import { type DocumentAt, maskedDocuments } from '../documents/record.ts'
import type { Database } from '../log/store/handle.ts'
import { offsetsOf, SEGMENT_SIZE, segmentOf, sizeOf } from '../log/store/labels.ts'
import { eachPosition } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import type { DocumentOf, PartKind } from '../model/documents.ts'
import { unpackIds } from '../model/ids.ts'
import type { ProjectDoc } from '../model/project.ts'
import { windowOfSlot } from '../model/slots.ts'
import { parseDuration } from '../model/units.ts'
import { windowOf } from '../triggers/core/index.ts'

/** A trigger by its row: one that was deleted and made again has two. */
export interface TriggerRow {
  id: number
  name: string
}

export interface Scope {
  ctx: ReadContext
  project: { id: string; name: string; createdAt: number }
  /** Epoch ms, both inclusive. */
  from: number
  to: number
  /** Rows of one kind that are read at most. */
  most: number
  configurations: Configurations
  triggers: readonly TriggerRow[]
  /** Null: all of the project. */
  chain: Chain | null
}

export const triggersNamed = ({ db }: ReadContext, names: readonly string[]): TriggerRow[] =>
  db
    .prepare<[string], TriggerRow>(
      'SELECT id, name FROM triggers WHERE name IN (SELECT value FROM json_each(?)) ORDER BY id',
    )
    .all(JSON.stringify(names))

/** Whether an instant is in the range. */
export const isWithin = ({ from, to }: Scope, at: number | null): at is number =>
  at !== null && at >= from && at <= to

/** A window as a moment tells it; null where the condition has no number to reach. */
export function windowOfMoment(
  trigger: string,
  key: string | null,
  value: number | null,
  predicate: string | null,
  window: string | null,
): ReplayMoment['window'] {
  if (predicate === null || value === null) return null
  return { trigger, key: key ?? '', value, threshold: numberOf(predicate), predicate, window }
}

/** @param predicate as it was recorded: of one that an older version let through nothing is told */
function numberOf(predicate: string): number | null {
  const digits = /-?\d+(?:\.\d+)?/.exec(predicate)
  return digits ? Number(digits[0]) : null
}

const COOLDOWN_DEFAULT = '5m'

/** Wait after a firing, milliseconds. */
export function cooldownMsOf({ cooldown = COOLDOWN_DEFAULT, condition }: TriggerSpec): number {
  if ('every' in condition || 'cron' in condition) return 0
  return /^[0.]+[smhd]$/.test(cooldown) ? 0 : parseDuration(cooldown, 'cooldown')
}

export const entityOf = (label: string | null, value: string | null): ReplayMoment['entity'] =>
  label === null || value === null ? null : { label, value }

/* Events of a span of ids, by the index, oldest segment first: it stops where there are enough. */

/** Each an AND of groups, which are ORs of label ids. */
type Groups = readonly (readonly (readonly number[])[])[]

/**
 * @param any the events of any of these.
 * @param afterId,ceiling ids above the one, up to the other.
 * @param most at least so many are looked for.
 * @returns ids, ascending, at most `most`
 */
export function idsWith(
  ctx: ReadContext,
  any: Groups,
  afterId: number,
  ceiling: number,
  most: number,
): number[] {
  const ids: number[] = []
  const asked = any.filter((groups) => groups.every((group) => group.length))
  if (asked.length === 0) return ids
  for (const segment of ctx.index.all()) {
    const found = new Set<number>()
    for (const groups of asked) {
      const query = {
        groups,
        masked: [],
        from: Number.MIN_SAFE_INTEGER,
        to: Number.MAX_SAFE_INTEGER,
        afterId,
        ceiling,
      }
      eachPosition([segment], query, (id) => {
        found.add(id)
      })
    }
    ids.push(...[...found].sort((a, b) => a - b))
    if (ids.length >= most) break
  }
  return ids.slice(0, most)
}

/** How many events of a label lie in a span of ids: of whole segments their index says it. */
export function countWith(ctx: ReadContext, label: number, afterId: number, ceiling: number): number {
  let n = 0
  for (const segment of ctx.index.all()) {
    if (segment.seg < segmentOf(afterId + 1) || segment.seg > segmentOf(ceiling)) continue
    const posting = segment.posting(label)
    if (!posting) continue
    const first = segment.seg * SEGMENT_SIZE
    if (first > afterId && first + SEGMENT_SIZE - 1 <= ceiling) n += sizeOf(posting)
    else
      for (const offset of offsetsOf(posting)) if (first + offset > afterId && first + offset <= ceiling) n++
  }
  return n
}

/* What of a page of rows is whole: an answer ends between two instants, so that the next one repeats none. */

/** What one kind of row gave. */
export interface Collected {
  drafts: Draft[]
  /** Everything before this instant is there, epoch ms; null: everything. */
  cutAt: number | null
  /** An instant that has more than an answer holds: the rest of it is not there; null: none has. */
  overfullAt: number | null
}

/**
 * @param rows by time, one more than `most` when there are more.
 * @returns the rows before the instant at which they are no longer whole
 */
export function wholeInstants<T>(
  rows: readonly T[],
  most: number,
  at: (row: T) => number,
): { rows: T[]; cutAt: number | null; overfullAt: number | null } {
  if (rows.length <= most) return { rows: [...rows], cutAt: null, overfullAt: null }
  const cutAt = at(rows[most]!)
  const whole = rows.slice(0, most).filter((row) => at(row) < cutAt)
  if (whole.length) return { rows: whole, cutAt, overfullAt: null }
  return { rows: rows.slice(0, most), cutAt: cutAt + 1, overfullAt: cutAt }
}

/** Several as one. */
export function joinCollected(parts: readonly Collected[]): Collected {
  return {
    drafts: parts.flatMap(({ drafts }) => drafts),
    cutAt: earliest(parts.map(({ cutAt }) => cutAt)),
    overfullAt: earliest(parts.map(({ overfullAt }) => overfullAt)),
  }
}

/** Null: there is none. */
export function earliest(instants: readonly (number | null)[]): number | null {
  const given = instants.flatMap((at) => at ?? [])
  return given.length ? Math.min(...given) : null
}

/* A chain of runs: what woke the first of them, all that followed, and when it began and ended. */

/** Of the events of a firing. */
const EVIDENCE_MAX = 10_000

export interface Chain {
  /** First run. */
  root: string
  runs: ReadonlySet<string>
  /** Rows of the firings that woke one of them. */
  firings: readonly number[]
  triggers: ReadonlySet<number>
  keys: ReadonlySet<string>
  /** Ids of the events that these firings carry, ascending. */
  evidence: readonly number[]
  /** Entities it is about. */
  entities: readonly { label: string; value: string }[]
  /** Epoch ms. */
  from: number
  to: number
}

interface FiringFacts {
  id: number
  trigger_id: number
  key: string
  spec: string
  opened_at: number
  slot: number | null
}

/** @param now epoch ms: the end of a chain that is still at work */
export function readChain({ db, rows }: ReadContext, run: RunRow, now: number): Chain {
  const all = db
    .prepare<[string], RunRow>('SELECT * FROM runs WHERE root_run_id = ? ORDER BY seq')
    .all(run.root_run_id)
  const runs = new Set(all.map(({ id }) => id))
  const firings = db
    .prepare<[string, string], FiringFacts>(
      `SELECT id, trigger_id, key, spec, opened_at, slot FROM firings WHERE id IN (
         SELECT firing_id FROM runs WHERE root_run_id = ? AND firing_id IS NOT NULL
         UNION SELECT d.firing_id FROM json_each(?) j JOIN deliveries d ON d.run_id = j.value)
       ORDER BY id`,
    )
    .all(run.root_run_id, JSON.stringify([...runs]))
  const chunks = db.prepare<[number], Uint8Array>('SELECT ids FROM firing_events WHERE firing_id = ?').pluck()
  const carried = firings.flatMap(({ id }) => chunks.all(id).flatMap(unpackIds))
  const evidence = [...new Set(carried)].sort((a, b) => a - b).slice(0, EVIDENCE_MAX)
  const oldest = evidence.length ? rows.read(evidence.slice(0, 100), false)[0]?.ingested_at : undefined
  const begins = [
    ...all.map(({ made_at }) => made_at),
    ...firings.map(
      ({ opened_at, spec, slot }) => opened_at - lookBack(JSON.parse(spec) as TriggerSpec, slot),
    ),
    ...(oldest === undefined ? [] : [oldest]),
  ]
  const ends = all.flatMap(({ id, finished_at }) => [finished_at ?? now, lastTold(db, id, now)])
  const keys = db.prepare<[number], string>('SELECT key FROM firing_keys WHERE firing_id = ?').pluck()
  return {
    root: run.root_run_id,
    runs,
    firings: firings.map(({ id }) => id),
    triggers: new Set(firings.map(({ trigger_id }) => trigger_id)),
    keys: new Set(firings.flatMap(({ id, key }) => [key, ...keys.all(id)])),
    evidence,
    entities: uniqueEntities(all),
    from: Math.min(...begins),
    to: Math.max(...ends, ...firings.map(({ id }) => lastDelivery(db, id, now))),
  }
}

/** How far before it tripped a firing's window began, milliseconds. */
function lookBack({ condition }: TriggerSpec, slot: number | null): number {
  if ('every' in condition || 'cron' in condition) return slot === null ? 0 : windowOfSlot(condition, slot)
  return windowOf(condition)
}

/** When the last of a firing's deliveries ended. */
const lastDelivery = (db: ReadContext['db'], firing: number, now: number): number =>
  lastEnd(db, 'd.firing_id = ?', firing, now)

/** When the finding of a run was written back. */
const lastTold = (db: ReadContext['db'], run: string, now: number): number =>
  lastEnd(db, "d.finding_of = ? AND d.recipient_kind IN ('write_back', 'github')", run, now)

function lastEnd(db: ReadContext['db'], which: string, of: number | string, now: number): number {
  const { open, last } = db
    .prepare<[number | string], { open: number; last: number | null }>(
      `SELECT coalesce(sum(d.state IN ('pending', 'running')), 0) AS open, max(max(coalesce(d.delivered_at, d.made_at),
         coalesce((SELECT max(t.at + t.ms) FROM delivery_tries t WHERE t.delivery_id = d.id), 0))) AS last
       FROM deliveries d WHERE ${which}`,
    )
    .get(of)!
  return open > 0 ? now : (last ?? 0)
}

function uniqueEntities(runs: readonly RunRow[]): Chain['entities'] {
  const found = new Map(runs.map(({ label, entity }) => [`${label}=${entity}`, { label, value: entity }]))
  return [...found.values()]
}

/* A moment of a replay while it is put in order: one row, or part of one, that says what happened. */

/**
 * What comes first of what happened at one instant, as one thing leads to the next: an event is judged,
 * a trigger fires, a run is made, works, ends, finds something, hands over.
 */
const RANKS = [
  'change',
  'state',
  'event',
  'evaluation',
  'opened',
  'fired',
  'told',
  'queued',
  'started',
  'step',
  'ended',
  'delivered',
  'finding',
  'handoff',
] as const
type Rank = (typeof RANKS)[number]

export interface Draft extends Omit<ReplayMoment, 'n' | 'at'> {
  /** Epoch ms. */
  at: number
  /** Handoffs and findings before it in its chain: what they led to comes behind them. */
  depth: number
  rank: Rank
  /** Of its row, unique among those of its rank. */
  id: string
}

type Given = Pick<Draft, 'at' | 'rank' | 'id' | 'kind' | 'phase' | 'title'>

/** @param given what it is; all else is null or empty unless it says so */
export function draft(given: Given & Partial<Draft>): Draft {
  return {
    depth: 0,
    nodes: [],
    edges: [],
    entity: null,
    practice: false,
    event_id: null,
    dispatch_id: null,
    delivery_id: null,
    run_id: null,
    step: null,
    change_set: null,
    ms: null,
    cost_usd: null,
    window: null,
    cooldown: null,
    recomputed: false,
    ...given,
    title: oneLine(given.title),
  }
}

/** What a trigger made of events: of those that came at once, one after the other, so that what follows from a firing is behind it. */
const JUDGED: ReadonlySet<Rank> = new Set(['evaluation', 'opened', 'fired'])

const placeOf = ({ rank }: Draft): number => RANKS.indexOf(JUDGED.has(rank) ? 'evaluation' : rank)

/** Of what was judged, the number of its event; what has none is by the clock: an evaluation before, a firing after them. */
function judgedAt({ rank, event_id }: Draft): number {
  if (!JUDGED.has(rank)) return 0
  if (event_id === null) return rank === 'evaluation' ? 0 : Number.MAX_SAFE_INTEGER
  return Number(event_id.slice('evt_'.length))
}

/** By time, then as one thing leads to the next, then by id: a total order. */
export function compareDrafts(a: Draft, b: Draft): number {
  return (
    a.at - b.at ||
    a.depth - b.depth ||
    placeOf(a) - placeOf(b) ||
    judgedAt(a) - judgedAt(b) ||
    RANKS.indexOf(a.rank) - RANKS.indexOf(b.rank) ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  )
}

/** @param n number in the answer, from 1 */
export function presentMoment(
  { at, depth: _depth, rank: _rank, id: _id, ...moment }: Draft,
  n: number,
): ReplayMoment {
  return { n, at: new Date(at).toISOString(), ...moment }
}

const TITLE_MAX = 200

/** The first line of a text, cut to what a list shows. */
function oneLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1)}…` : line
}

/* The configuration of a project over a range: as it was at the start, then after each change-set. */

/** Change-sets of one range; what comes after them is a moment, and the graph stays as it was. */
const VERSIONS_MAX = 200

export interface Configuration {
  /** Null: the project's first, or from before it was made. */
  set: ChangeSetRow | null
  /** Documents are those as of this change-set; 0: before there were any. */
  changeSet: number
  /** From when, epoch ms. */
  at: number
  doc: ProjectDoc
  part<K extends PartKind>(kind: K, name: string): DocumentOf<K> | undefined
}

interface Configurations {
  all: Configuration[]
  /** That of an instant: a change counts from its own instant on. */
  at(instant: number): Configuration
  /** That, and the one before it where it began at this very instant: which came first no time says. */
  around(instant: number): Configuration[]
  /** Names of a kind that the project used at any time of the range. */
  names(kind: PartKind): string[]
  documentAt: DocumentAt
  /** When the first change-set came that no configuration is given of; null: none did. */
  cutAt: number | null
}

/** @param from,to epoch ms, both inclusive */
export function readConfigurations(
  db: Database,
  project: { id: string; name: string },
  { from, to }: { from: number; to: number },
): Configurations {
  const documentAt = maskedDocuments(db)
  const before = db
    .prepare<[number], number>('SELECT id FROM change_sets WHERE at < ? ORDER BY at DESC, id DESC LIMIT 1')
    .pluck()
    .get(from)
  const first = db
    .prepare<[string, number], ChangeSetRow>(
      `SELECT s.* FROM change_set_projects p JOIN change_sets s ON s.id = p.change_set
       WHERE p.project = ? AND p.change_set <= ? ORDER BY p.change_set DESC LIMIT 1`,
    )
    .get(project.id, before ?? 0)
  const sets = setsBetween(db, project.id, from, to, VERSIONS_MAX + 1)
  const make = (set: ChangeSetRow | null, changeSet: number, at: number): Configuration => ({
    set,
    changeSet,
    at,
    doc: documentAt('project', project.id, changeSet) ?? {
      name: project.name,
      template: 'custom',
      uses: {},
    },
    part: (kind, name) => documentAt(kind, name, changeSet),
  })
  const all = [
    make(first ?? null, before ?? 0, first?.at ?? from),
    ...sets.slice(0, VERSIONS_MAX).map((set) => make(set, set.id, set.at)),
  ]
  const effective = (instant: number) => all.findLast(({ at }, i) => i === 0 || at <= instant)!
  return {
    all,
    at: effective,
    around: (instant) => [...new Set([effective(instant), effective(instant - 1)])],
    names: (kind) => [...new Set(all.flatMap((one) => namesOf(one, kind)))].sort(),
    documentAt,
    cutAt: sets[VERSIONS_MAX]?.at ?? null,
  }
}

/** Change-sets that touched a project or its parts, in the order they were made. */
export function setsBetween(
  db: Database,
  project: string,
  from: number,
  to: number,
  limit: number,
): ChangeSetRow[] {
  return db
    .prepare<[number, number, string, number], ChangeSetRow>(
      `SELECT s.* FROM change_sets s WHERE s.at >= ? AND s.at <= ?
         AND EXISTS (SELECT 1 FROM change_set_projects p WHERE p.project = ? AND p.change_set = s.id)
       ORDER BY s.at, s.id LIMIT ?`,
    )
    .all(from, to, project, limit)
}

/** Parts of a configuration, with those that its wiring names and its triggers watch. */
function namesOf({ doc, part }: Configuration, kind: PartKind): string[] {
  const names = new Set(Object.keys(doc.uses[kind] ?? {}))
  if (kind === 'trigger') for (const name of Object.keys(doc.wakes ?? {})) names.add(name)
  if (kind === 'source')
    for (const trigger of Object.keys(doc.uses.trigger ?? {}))
      for (const source of (part('trigger', trigger)?.sources ?? []) as string[]) names.add(source)
  return [...names]
}
