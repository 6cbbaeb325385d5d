/**
 * Maintenance windows: planned work, of which nobody is to be told. What fires while one lasts opens its incident snoozed
 * until the end of the window, and what is still not over then is told (`present.ts`). A window has no lifecycle of its own:
 * it is planned, active or over by the clock. One that repeats is one row: when it lasts is told by its cron expression, so
 * that a daemon that was down, or a clock that was set, leaves none out.
 */
import type {
  MaintenanceCreate,
  MaintenanceRepeat,
  MaintenanceWindow,
  MaintenanceWindows,
} from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { presentRow } from '../log/timeline/present.ts'
import { cronFault, lastCronSlot, nextSlot } from '../model/slots.ts'
import { DAY_MS, iso, isoOrNull, parseDuration } from '../model/units.ts'
import { type FiringRow, firstEvents } from '../triggers/queries.ts'
import { advanceIncident, type EventsAtHand, type IncidentRow, type IncidentWho } from './steps.ts'

/** Longest window, ms, and how far ahead it may begin. */
const LONGEST_MS = 366 * DAY_MS
/** What one that repeats has as its end: the last instant of SQLite's own dates, epoch ms. */
const NEVER_MS = Date.UTC(9999, 11, 31)
/** Beginnings looked at for how close two of them come. */
const BEGINNINGS = 50
/** Windows that are over, of a list. */
const OVER_MAX = 100
/** Events of a firing whose labels are looked at, the first. */
const LOOKED_AT = 1_000
/** Characters of label=value. */
const LABEL = /^[^=\s]{1,64}=.{1,1000}$/

interface WindowRow {
  id: number
  reason: string
  /** JSON list of label=value; []: of any. */
  entities: string
  /** JSON list of ids of triggers; []: of any. */
  triggers: string
  project: string | null
  /** Of one that repeats: none begins before. */
  from_at: number
  until_at: number
  /** When a person ended it; one that repeats, for good. */
  ended_at: number | null
  /** When it begins, where it repeats. */
  cron: string | null
  time_zone: string | null
  /** How long each lasts. */
  lasts: string | null
  /** The beginning of the one whose end a person moved, and that end. */
  moved_from: number | null
  moved_until: number | null
  by_name: string
  via: IncidentWho['via']
  created_at: number
  held: number
}

type WindowQueries = ReturnType<typeof prepare>
const prepared = new WeakMap<Database, WindowQueries>()

function windowQueries(db: Database): WindowQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  return {
    /** Those that last at an instant, and those that repeat. */
    active: db.prepare<{ at: number }, WindowRow>(
      'SELECT * FROM maintenance_windows WHERE until_at > @at AND from_at <= @at AND ended_at IS NULL ORDER BY id',
    ),
    /** Known at an instant, begun by then, and not over since another. */
    around: db.prepare<{ at: number; since: number }, WindowRow>(
      `SELECT * FROM maintenance_windows WHERE until_at > @since AND from_at <= @at AND created_at <= @at
         AND coalesce(ended_at, until_at) > @since ORDER BY from_at, id`,
    ),
    byId: db.prepare<[number], WindowRow>('SELECT * FROM maintenance_windows WHERE id = ?'),
    notOver: db.prepare<{ at: number }, WindowRow>(
      'SELECT * FROM maintenance_windows WHERE until_at > @at AND ended_at IS NULL ORDER BY from_at, id',
    ),
    over: db.prepare<{ at: number }, WindowRow>(
      `SELECT * FROM maintenance_windows WHERE until_at <= @at OR ended_at IS NOT NULL
       ORDER BY coalesce(ended_at, until_at) DESC, id DESC LIMIT ${OVER_MAX}`,
    ),
    insert: db.prepare<Omit<WindowRow, 'id' | 'ended_at' | 'moved_from' | 'moved_until' | 'held'>>(
      `INSERT INTO maintenance_windows
         (reason, entities, triggers, project, from_at, until_at, cron, time_zone, lasts, by_name, via, created_at)
       VALUES (@reason, @entities, @triggers, @project, @from_at, @until_at, @cron, @time_zone, @lasts, @by_name, @via,
         @created_at)`,
    ),
    setUntil: db.prepare<[number, number]>('UPDATE maintenance_windows SET until_at = ? WHERE id = ?'),
    moveEnd: db.prepare<[number, number, number]>(
      'UPDATE maintenance_windows SET moved_from = ?, moved_until = ? WHERE id = ?',
    ),
    setFrom: db.prepare<[number, number]>('UPDATE maintenance_windows SET from_at = ? WHERE id = ?'),
    setEnded: db.prepare<[number, number]>('UPDATE maintenance_windows SET ended_at = ? WHERE id = ?'),
    count: db.prepare<[number]>('UPDATE maintenance_windows SET held = held + 1 WHERE id = ?'),
    incidents: db.prepare<[number], IncidentRow>(
      "SELECT * FROM incidents WHERE maintenance_id = ? AND state = 'snoozed' ORDER BY id",
    ),
    isUsed: db.prepare<[string, string]>(
      "SELECT 1 FROM project_uses WHERE project = ? AND kind = 'trigger' AND name = ?",
    ),
    trigger: db
      .prepare<[string], number>("SELECT id FROM triggers WHERE name = ? AND state <> 'deleted'")
      .pluck(),
    triggerName: db.prepare<[number], string>('SELECT name FROM triggers WHERE id = ?').pluck(),
    project: db
      .prepare<[string, string], string>(
        "SELECT id FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted'",
      )
      .pluck(),
  }
}

/** Of when to when a window lasts, epoch ms. */
interface Span {
  from: number
  until: number
}

/** When one that repeats begins; null: it does not. */
const repeatOf = ({ cron, time_zone }: WindowRow): MaintenanceRepeat | null =>
  cron === null ? null : { cron, ...(time_zone === null ? {} : { time_zone }) }

function spanOf({ lasts, moved_from, moved_until }: WindowRow, from: number): Span {
  return { from, until: from === moved_from ? moved_until! : from + parseDuration(lasts!, 'for') }
}

/** What began last by an instant; null: nothing did. */
function begunSpan(row: WindowRow, at: number): Span | null {
  const repeat = repeatOf(row)
  if (!repeat) return row.from_at <= at ? { from: row.from_at, until: row.until_at } : null
  const from = lastCronSlot(repeat, at)
  return from === null || from < row.from_at ? null : spanOf(row, from)
}

/** What lasts at an instant, else what comes next. */
function spanAt(row: WindowRow, at: number): Span {
  const repeat = repeatOf(row)
  if (!repeat) return { from: row.from_at, until: row.until_at }
  const begun = begunSpan(row, at)
  if (begun && begun.until > at) return begun
  // An expression has no year: what came once comes again.
  return spanOf(row, nextSlot(repeat, 0, Math.max(at, row.from_at - 1))!)
}

/** A window as a firing is held back by it. */
export interface Covering {
  id: number
  reason: string
  /** Epoch ms. */
  until: number
  who: IncidentWho
}

/**
 * The maintenance window that a firing is of at an instant.
 * @param at epoch ms
 * @returns the one that lasts longest; null: none
 */
export function windowAt(db: Database, ctx: EventsAtHand, row: FiringRow, at: number): Covering | null {
  const lasting = windowQueries(db)
    .active.all({ at })
    .flatMap((window) => {
      const span = begunSpan(window, at)
      return span && span.until > at ? [{ ...window, until: span.until }] : []
    })
    .sort((a, b) => b.until - a.until)
  const [found] = windowsOf(db, ctx, row, lasting)
  if (!found) return null
  const { id, reason, until, by_name: by, via } = found
  return { id, reason, until, who: { by, via } }
}

/** As `windowAt`, for a firing that is told now: it counts for the window. */
export function holdInMaintenance(db: Database, ctx: EventsAtHand, row: FiringRow): Covering | null {
  const found = windowAt(db, ctx, row, row.fired_at!)
  if (found) windowQueries(db).count.run(found.id)
  return found
}

/** A window that an agent is told of, since it may be the cause. */
export interface ToldWindow {
  reason: string
  /** Epoch ms. */
  from: number
  until: number
}

/** What ended so long before a firing may be its cause, ms. */
const BEFORE_MS = 3_600_000

/** Windows of a firing that were known when it fired, and lasted then or in the hour before. */
export function maintenanceAround(ctx: ReadContext, row: FiringRow): ToldWindow[] {
  const at = row.fired_at ?? row.last_at
  const since = at - BEFORE_MS
  const around = windowQueries(ctx.db)
    .around.all({ at, since })
    .flatMap((window) => {
      const span = begunSpan(window, at)
      if (!span) return []
      const { ended_at } = window
      // What somebody did later was not known.
      const until = ended_at !== null && ended_at <= at ? Math.min(ended_at, span.until) : span.until
      return until > since ? [{ ...window, ...span, until }] : []
    })
  return windowsOf(ctx.db, ctx, row, around).map(({ reason, from, until }) => ({ reason, from, until }))
}

/** Events as they are read; `settle` where some may wait to be written. */
type EventsRead = Pick<ReadContext, 'rows' | 'dictionary' | 'names'> & Partial<Pick<EventsAtHand, 'settle'>>

/** Of some windows those that a firing is of, in their order. */
function windowsOf<T extends WindowRow>(
  db: Database,
  ctx: EventsRead,
  row: FiringRow,
  windows: readonly T[],
): T[] {
  const { isUsed } = windowQueries(db)
  let events: ReadonlySet<string>[] | null = null
  // One that is of others, too, such as a burst of many keys, is told: what is not worked on must not be hidden.
  const isOf = (entities: readonly string[]): boolean => {
    if (row.key_count === 1 && entities.includes(`${row.label}=${row.value_text}`)) return true
    events ??= labelsOf(db, ctx, row)
    return events.length > 0 && events.every((labels) => entities.some((entity) => labels.has(entity)))
  }
  return windows.filter(({ entities, triggers, project }) => {
    const ofTriggers = JSON.parse(triggers) as number[]
    const ofEntities = JSON.parse(entities) as string[]
    if (ofTriggers.length > 0 && !ofTriggers.includes(row.trigger_id)) return false
    if (project !== null && project !== row.project && !isUsed.get(project, row.trigger_name)) return false
    return ofEntities.length === 0 || isOf(ofEntities)
  })
}

/** Labels of each event of a firing, as label=value. */
function labelsOf(db: Database, ctx: EventsRead, row: FiringRow): ReadonlySet<string>[] {
  ctx.settle?.()
  return ctx.rows.read(firstEvents(db, row.id, LOOKED_AT), false).map((stored) => {
    const { labels } = presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
    return new Set(Object.entries(labels).map(([name, value]) => `${name}=${value}`))
  })
}

export interface MaintenanceReads {
  /** @param state absent: those that are planned or active; `all`: those that are over, too, the newest 100 of them */
  listMaintenance(state?: MaintenanceWindow['state'] | 'all'): Promise<MaintenanceWindows>
}

export interface MaintenanceWrites {
  /** @throws SvcError invalid; not_found for a trigger or a project that there is not */
  createMaintenance(body: MaintenanceCreate, who: IncidentWho): Promise<MaintenanceWindow>
  /**
   * It ends then; what it holds back waits until then.
   * @throws SvcError not_found; invalid; wrong_state where it is over, or repeats and does not last now
   */
  setMaintenanceEnd(id: string, until: string, who: IncidentWho): Promise<MaintenanceWindow>
  /**
   * It ends now, and what it held back is told. One that repeats begins again; if it does not last now, the next is left out.
   * @param forGood it does not begin again
   * @throws SvcError not_found; wrong_state where it is over
   */
  endMaintenance(id: string, forGood: boolean, who: IncidentWho): Promise<MaintenanceWindow>
}

export const createMaintenanceReads = (
  { db }: Pick<ReadContext, 'db'>,
  clock: Clock,
  view: Snapshot,
): MaintenanceReads => ({
  listMaintenance: (state) =>
    view(() => {
      const at = clock.now()
      const { notOver, over } = windowQueries(db)
      const told = (row: WindowRow) => present(db, row, at)
      // One that repeats has its place by when it begins next.
      const toCome = notOver.all({ at }).map(told).sort(byBeginning)
      const rows = [
        ...(state === 'over' ? [] : toCome),
        ...(state === 'over' || state === 'all' ? over.all({ at }).map(told) : []),
      ]
      const is = state === 'planned' || state === 'active' ? state : null
      return { windows: is === null ? rows : rows.filter((row) => row.state === is) }
    }),
})

export function maintenanceWrites(parts: {
  store: StoreHandle
  clock: Clock
  incidents: { tell(incident: number): void; endSnooze(row: IncidentRow, who: IncidentWho, at: number): void }
}): MaintenanceWrites {
  const { store, clock, incidents } = parts
  const { db } = store
  const queries = windowQueries(db)

  /** One that is not over. @throws SvcError not_found; wrong_state */
  function require(id: string, at: number): WindowRow {
    const number = /^(?:mnt_)?([1-9][0-9]{0,14})$/.exec(id)?.[1]
    const row = number === undefined ? undefined : queries.byId.get(Number(number))
    if (!row) return fail('not_found', `no maintenance window has the id ${id}`)
    if (stateOf(row, at) === 'over')
      fail('wrong_state', `maintenance window ${idOf(row)} is over since ${iso(endOf(row))}`)
    return row
  }

  /** @throws SvcError invalid; wrong_state */
  function moveEnd(row: WindowRow, until: number, at: number): void {
    const repeat = repeatOf(row)
    const span = repeat ? begunSpan(row, at) : { from: row.from_at }
    if (repeat && stateOf(row, at) !== 'active')
      fail(
        'wrong_state',
        `maintenance window ${idOf(row)} repeats and does not last now; only the end of one that lasts can be moved`,
      )
    const { from } = span!
    checkTimes(from, until, at)
    if (!repeat) queries.setUntil.run(until, row.id)
    else {
      const next = nextSlot(repeat, 0, from)!
      if (until > next)
        fail('invalid', `until must not be after ${iso(next)}, when it begins again`, { field: 'until' })
      queries.moveEnd.run(from, until, row.id)
    }
  }

  /** Of one that repeats: what lasts ends, else the next is left out. */
  function endOne(row: WindowRow, at: number): void {
    const span = spanAt(row, at)
    if (span.from <= at) queries.moveEnd.run(span.from, at, row.id)
    else queries.setFrom.run(span.from + 1, row.id)
  }

  return {
    createMaintenance: async (body, who) =>
      store.tx(() => {
        const at = clock.now()
        if (body.reason.trim() === '')
          fail('invalid', 'reason must say what the work is', { field: 'reason' })
        const { lastInsertRowid } = queries.insert.run({
          reason: body.reason.trim(),
          ...scopeOf(queries, body),
          ...timesOf(body, at),
          by_name: who.by,
          via: who.via,
          created_at: at,
        })
        return present(db, queries.byId.get(Number(lastInsertRowid))!, at)
      }),

    setMaintenanceEnd: async (id, until, who) =>
      store.tx(() => {
        const at = clock.now()
        const row = require(id, at)
        const ms = Date.parse(until)
        moveEnd(row, ms, at)
        for (const incident of queries.incidents.all(row.id)) {
          const event = { type: 'snooze', until: ms, maintenance: row.id }
          const said = { action: 'snoozed', detail: { until: ms, text: row.reason } } as const
          advanceIncident(db, incident, event, { who, at }, said)
          incidents.tell(incident.id)
        }
        return present(db, queries.byId.get(row.id)!, at)
      }),

    endMaintenance: async (id, forGood, who) =>
      store.tx(() => {
        const at = clock.now()
        const row = require(id, at)
        if (row.cron === null || forGood) queries.setEnded.run(at, row.id)
        else endOne(row, at)
        for (const incident of queries.incidents.all(row.id)) incidents.endSnooze(incident, who, at)
        return present(db, queries.byId.get(row.id)!, at)
      }),
  }
}

/** When it lasts, as it is stored. @throws SvcError invalid */
function timesOf(
  body: MaintenanceCreate,
  at: number,
): Pick<WindowRow, 'from_at' | 'until_at' | 'cron' | 'time_zone' | 'lasts'> {
  const { from, until, for: lasts, repeat } = body
  const begins = from ? Date.parse(from) : at
  if (repeat) return repeatedTimes(body, repeat, begins, at)
  if ((until === undefined) === (lasts === undefined))
    fail('invalid', 'until or for must say when it ends, and not both', { field: 'until' })
  const ends = lasts === undefined ? Date.parse(until!) : begins + parseDuration(lasts, 'for')
  checkTimes(begins, ends, at)
  return { from_at: begins, until_at: ends, cron: null, time_zone: null, lasts: null }
}

function repeatedTimes(
  { until, for: lasts }: MaintenanceCreate,
  repeat: MaintenanceRepeat,
  begins: number,
  at: number,
): ReturnType<typeof timesOf> {
  if (until !== undefined)
    fail('invalid', 'until must not be set where it repeats; for says how long each lasts', {
      field: 'until',
    })
  if (lasts === undefined) return fail('invalid', 'for must say how long each lasts', { field: 'for' })
  const fault = cronFault(repeat, 'repeat')
  if (fault) fail('invalid', fault.message, { field: `repeat.${fault.field}` })
  const ms = parseDuration(lasts, 'for')
  let least = Number.POSITIVE_INFINITY
  for (let n = 0, from = nextSlot(repeat, 0, begins - 1)!; n < BEGINNINGS; n++) {
    const next = nextSlot(repeat, 0, from)!
    least = Math.min(least, next - from)
    from = next
  }
  if (ms >= least)
    fail('invalid', 'for must be shorter than from one beginning to the next', { field: 'for' })
  checkTimes(begins, begins + ms, Math.min(at, begins))
  const { cron, time_zone = null } = repeat
  return { from_at: begins, until_at: NEVER_MS, cron, time_zone, lasts }
}

/** @param begins epoch ms, as all of them @throws SvcError invalid */
function checkTimes(begins: number, ends: number, at: number): void {
  if (!(ends > at)) fail('invalid', 'until must be in the future', { field: 'until' })
  if (!(ends > begins)) fail('invalid', 'until must be later than from', { field: 'until' })
  if (ends - begins > LONGEST_MS)
    fail('invalid', 'until must be within a year of the beginning', { field: 'until' })
  if (begins - at > LONGEST_MS) fail('invalid', 'from must be within a year', { field: 'from' })
}

/** Of what it is, as it is stored. @throws SvcError invalid where it is of nothing; not_found */
function scopeOf(
  queries: WindowQueries,
  { entities = [], triggers = [], project }: MaintenanceCreate,
): Pick<WindowRow, 'entities' | 'triggers' | 'project'> {
  if (entities.length === 0 && triggers.length === 0 && !project)
    fail('invalid', 'entities, triggers or project must say what the maintenance is of', {
      field: 'entities',
    })
  for (const [at, entity] of entities.entries())
    if (!LABEL.test(entity))
      fail('invalid', `entities[${at}] must be label=value, such as service=checkout`, {
        field: `entities[${at}]`,
      })
  const ids = triggers.map(
    (name, at) =>
      queries.trigger.get(name) ??
      fail('not_found', `triggers[${at}]: no trigger is named ${name}`, { field: `triggers[${at}]` }),
  )
  const of = project
    ? (queries.project.get(project, project) ??
      fail('not_found', `project: no project has the id or name ${project}`, { field: 'project' }))
    : null
  return {
    entities: JSON.stringify([...new Set(entities)]),
    triggers: JSON.stringify([...new Set(ids)]),
    project: of,
  }
}

const idOf = ({ id }: Pick<WindowRow, 'id'>): string => `mnt_${id}`
const endOf = ({ ended_at, until_at }: WindowRow): number => ended_at ?? until_at

const byBeginning = (a: MaintenanceWindow, b: MaintenanceWindow): number =>
  Date.parse(a.from) - Date.parse(b.from)

function stateOf(row: WindowRow, at: number): MaintenanceWindow['state'] {
  if (endOf(row) <= at) return 'over'
  const begun = begunSpan(row, at)
  return begun && begun.until > at ? 'active' : 'planned'
}

function present(db: Database, row: WindowRow, at: number): MaintenanceWindow {
  const queries = windowQueries(db)
  const state = stateOf(row, at)
  const { from, until } = spanAt(row, state === 'over' ? endOf(row) - 1 : at)
  return {
    id: idOf(row),
    state,
    reason: row.reason,
    entities: JSON.parse(row.entities) as string[],
    triggers: (JSON.parse(row.triggers) as number[]).flatMap((id) => queries.triggerName.get(id) ?? []),
    project: row.project,
    from: iso(from),
    until: iso(until),
    repeat: repeatOf(row),
    for: row.lasts,
    ended_at: isoOrNull(row.ended_at),
    by: row.by_name,
    created_at: iso(row.created_at),
    held: row.held,
  }
}
