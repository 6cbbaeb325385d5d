/**
 * From a request to a query on the index: the window, the label groups, and the filters the index
 * cannot answer (text, number labels, the entity value).
 */
import { ownField } from '../../../schemas/fields-of.ts'
import { isInstant } from '../../../schemas/instants.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { JoinedName, SourceGap } from '../../../schemas/types.ts'
import type { Row } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { iso, isoOrNull, levelNamed, levelSpellings, parseDuration } from '../../model/units.ts'
import { type EntityRules, type JoinedThing, type Name, NO_ENTITIES, nameText } from '../entity-rules.ts'
import type { Gap } from '../lifecycle.ts'
import type { Database, Statement } from '../store/handle.ts'
import { type Dictionary, SOURCE_LABEL, TYPE_LABEL } from '../store/labels.ts'
import { firstPositions, type Query } from '../store/scan.ts'
import { type ProjectScope, projectScope, type ReadContext, type SourceNames } from './context.ts'

const FAR = Number.MAX_SAFE_INTEGER
const DEFAULT_WINDOW = '15m'

export interface Window {
  /** Event time, epoch ms, inclusive. */
  from: number
  to: number
  /** End of the window as told to the caller. */
  shownTo: number
  /** How the text heading names it. */
  name: string
}

/**
 * @param now the instant a relative window ends at, epoch ms.
 * @throws SvcError invalid
 */
export function resolveWindow(request: { window?: string; from?: string; to?: string }, now: number): Window {
  const from = request.from === undefined ? null : parseInstant(request.from, 'from')
  const to = request.to === undefined ? null : parseInstant(request.to, 'to')
  if (from !== null && request.window !== undefined)
    fail('invalid', 'give window or from, not both', { field: 'window' })
  const shownTo = to ?? now
  const length = parseDuration(request.window ?? DEFAULT_WINDOW, 'window')
  const start = from ?? shownTo - length
  if (start > shownTo)
    fail('invalid', `from must be before to${to === null ? ', which is now where it is not given' : ''}`, {
      field: 'from',
    })
  // Without an explicit end the window is open, so that a producer whose clock is ahead is seen.
  const name =
    from === null && to === null
      ? (request.window ?? DEFAULT_WINDOW)
      : `${new Date(start).toISOString()}..${new Date(shownTo).toISOString()}`
  return { from: start, to: to ?? FAR, shownTo, name }
}

/** Epoch ms of an ISO 8601 time, or a day in UTC. One without a zone would be another on each machine. @throws SvcError invalid */
export function parseInstant(text: string, field: string): number {
  const ms = isInstant(text) || /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  const wanted = 'an ISO 8601 time with time zone, such as 2026-11-20T14:00:00Z'
  if (Number.isNaN(ms)) fail('invalid', `${field} must be ${wanted}`, { field })
  return ms
}

export interface Narrowing {
  selector?: Record<string, string | number | boolean>
  sources?: string[]
  event_types?: string[]
  text?: string
  /** Several: what any of them reads. */
  project?: string | readonly string[]
}

/** A request that several projects may make together. */
export type Scoped<T> = Omit<T, 'project'> & Pick<Narrowing, 'project'>

export interface Plan {
  groups: number[][]
  masked: number[]
  /** What the index cannot say; null when it says it all. */
  filter: ((row: Row) => boolean) | null
  /** What the filter looks for in texts, lower case; null: nothing. */
  text: string | null
  /** Whether it looks at nothing else. */
  isTextAlone: boolean
  /** Constraints of the selector that stand for a joined entity. */
  joined: readonly JoinedConstraint[]
  /** Of `groups`, those that say what the projects read; none: everything. */
  scope: number[][]
}

/** A constraint that any of the names of a thing fulfils. */
export interface JoinedConstraint {
  label: string
  value: string
  thing: JoinedThing
}

/**
 * Compiles label constraints and narrowings. An unknown label value gives an empty group, which
 * matches nothing; an unknown source is an error, because a typing error there would look like silence.
 * @param rules by which a constraint stands for all names of its thing; none: for itself alone.
 * @throws SvcError not_found
 */
export function compilePlan(
  request: Narrowing,
  db: Database,
  dictionary: Dictionary,
  names: SourceNames,
  rules: EntityRules = NO_ENTITIES,
): Plan {
  names.refresh()
  const groups: number[][] = []
  const filters: ((row: Row) => boolean)[] = []
  const joined: JoinedConstraint[] = []
  const numbers = names.numberLabels()
  for (const [name, given] of Object.entries(request.selector ?? {})) {
    if (Number.isInteger(given) && !Number.isSafeInteger(given))
      fail('invalid', `selector.${name} has more digits than a number keeps; put it in quotes`, {
        field: `selector.${name}`,
      })
    const value = String(given)
    if (name === 'key_value') {
      groups.push(
        labelNames(db)
          .map((label) => dictionary.find(label, value))
          .filter((id) => id !== undefined),
      )
      filters.push((row) => row.entity?.value === value)
    } else if (numbers.has(name)) {
      filters.push(({ labels }) => Object.hasOwn(labels, name) && String(labels[name]) === value)
    } else {
      const thing = rules.size ? rules.of(name, value) : null
      if (thing) joined.push({ label: name, value, thing })
      const wanted = thing ? thing.names.filter(({ label }) => !numbers.has(label)) : [{ label: name, value }]
      groups.push(wanted.map((one) => dictionary.find(one.label, one.value)).filter((id) => id !== undefined))
    }
  }
  if (request.sources?.length)
    groups.push(
      request.sources.flatMap((name) => sourceLabels(name, dictionary, names, projectOf(request, db, names))),
    )
  const scope = request.project?.length
    ? projectGroups(projectScope(db, names, request.project), dictionary)
    : []
  groups.push(...scope)
  if (request.event_types?.length)
    groups.push(
      [...new Set(request.event_types.flatMap((type) => [type, levelNamed(type) ?? type]))]
        .map((type) => dictionary.find(TYPE_LABEL, type))
        .filter((id) => id !== undefined),
    )
  const text = request.text?.toLowerCase() ?? null
  if (text !== null) filters.push((row) => row.text.toLowerCase().includes(text))
  if (groups.length === 0) groups.push(allSourceLabels(dictionary, names))
  return {
    groups,
    masked: names.masked().flatMap((id) => dictionary.find(SOURCE_LABEL, String(id)) ?? []),
    filter: filters.length ? (row) => filters.every((holds) => holds(row)) : null,
    text,
    isTextAlone: text !== null && filters.length === 1,
    joined,
    scope,
  }
}

/** No bound of time. */
export const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

/**
 * Joined constraints as an answer tells them; the name that was asked for comes first. Of what a project reads, other
 * names are told that an event of it has: whoever reads one project must not learn what things of others are called.
 * @param ceiling largest id that the answer speaks for
 */
export function tellJoined(
  { joined, scope, masked }: Pick<Plan, 'joined' | 'scope' | 'masked'>,
  { index, dictionary }: Pick<ReadContext, 'index' | 'dictionary'>,
  ceiling: number,
): JoinedName[] {
  const isSeen = (name: Name): boolean => {
    const id = dictionary.find(name.label, name.value)
    if (id === undefined) return false
    const query = { ...EVER, groups: [[id], ...scope], masked, ceiling, afterId: -1 }
    return firstPositions(index.all(), query, 'desc', 1, null).length > 0
  }
  return joined.flatMap((constraint) => {
    const { label, value, thing } = constraint
    const [asked, ...others] = namesFrom(constraint)
    const told = scope.length ? others.filter(isSeen) : others
    if (told.length === 0 && others.length > 0) return []
    return {
      ...{ label, value, entity: thing.entity },
      ...(thing.kind === undefined ? {} : { kind: thing.kind }),
      names: [asked!, ...told].map(nameText),
    }
  })
}

const namesFrom = ({ label, value, thing }: JoinedConstraint): Name[] => [
  { label, value },
  ...thing.names.filter((name) => name.label !== label || name.value !== value),
]

/** The names by which a row is of what was asked for, where they are others; undefined: it has those asked for. */
export function joinedBy(
  joined: readonly JoinedConstraint[],
  labels: Readonly<Record<string, unknown>>,
): string | undefined {
  const others = joined
    .map((constraint) => namesFrom(constraint).find(({ label, value }) => ownField(labels, label) === value))
    .filter((name, i) => name && (name.label !== joined[i]!.label || name.value !== joined[i]!.value))
  return others.length ? others.map((name) => nameText(name!)).join(', ') : undefined
}

/** A query over a plan. */
export function queryOf(
  plan: Plan,
  window: { from: number; to: number },
  ceiling: number,
  afterId = -1,
): Query {
  return { groups: plan.groups, masked: plan.masked, from: window.from, to: window.to, ceiling, afterId }
}

/**
 * What a project reads: events of its sources, and of the findings sources those recorded in it.
 * Two groups say it: from a member or a findings source, and from a member or of the project.
 */
function projectGroups({ ids, members, findings }: ProjectScope, dictionary: Dictionary): number[][] {
  const labels = (ids: readonly number[]) =>
    ids.map((source) => dictionary.find(SOURCE_LABEL, String(source))).filter((label) => label !== undefined)
  const own = ids.map((id) => dictionary.find('project', id)).filter((label) => label !== undefined)
  return [labels([...members, ...findings]), [...labels(members), ...own]]
}

/** Ids of the sources that whoever reads may hear of; null: all. */
function projectOf({ project }: Narrowing, db: Database, names: SourceNames): ReadonlySet<number> | null {
  return project?.length ? new Set(projectScope(db, names, project).members) : null
}

function sourceLabels(
  name: string,
  dictionary: Dictionary,
  names: SourceNames,
  told: ReadonlySet<number> | null,
): number[] {
  const ids = names.idsOf(name)
  if (ids.length === 0) {
    const known = [...names.all()].filter(({ id, deleted }) => !deleted && (told?.has(id) ?? true))
    const near = didYouMean(
      name,
      known.map((source) => source.name),
    )
    fail('not_found', `no source is named ${name}${near}`, { field: 'sources' })
  }
  return ids.map((id) => dictionary.find(SOURCE_LABEL, String(id))).filter((id) => id !== undefined)
}

function allSourceLabels(dictionary: Dictionary, names: SourceNames): number[] {
  return [...names.all()]
    .map((source) => dictionary.find(SOURCE_LABEL, String(source.id)))
    .filter((id) => id !== undefined)
}

const OF_SOURCES = ' (one source is read by sources, with the command by --source)'
const OF_TYPES = ' (types are event_types, with the command --type)'
/** What is no label, and is taken for one. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...{ source: OF_SOURCES, sources: OF_SOURCES },
  ...{ type: OF_TYPES, event_type: OF_TYPES },
}

/**
 * What should be known of labels in a request that match nothing.
 * @param wanted names of labels. @param isHinted whether the one that was meant perhaps is named
 * @returns a sentence; null where each was on some event.
 */
export function unknownLabels(
  db: Database,
  names: SourceNames,
  wanted: readonly string[],
  isHinted = true,
): string | null {
  if (wanted.length === 0) return null
  const numbers = names.numberLabels()
  const unknown = wanted.filter((name) => !isStored(db, name) && !numbers.has(name))
  if (unknown.length === 0) return null
  const known = isHinted ? [...labelNames(db), ...numbers] : []
  const told = unknown.map((name) => name + (ownField(INSTEAD, name) ?? didYouMean(name, known))).join(', ')
  return `no event has the ${unknown.length === 1 ? 'label' : 'labels'} ${told}`
}

/** What of a read may have been mistyped. */
type Mistyped = Pick<Narrowing, 'event_types' | 'project'> & { selector?: Readonly<Record<string, unknown>> }

/**
 * The same of what a read asks for: a label, a value or a type that was mistyped looks like silence otherwise. A value or
 * type that no event has yet is told where a near one is known: most are no mistake. Of what a project reads nothing near
 * is told: whoever reads one must not learn what there is in others.
 * @param joined constraints with other names: that no event has this one is no mistake
 */
export function unknownOf(
  { db, names, dictionary }: Pick<ReadContext, 'db' | 'names' | 'dictionary'>,
  { selector = {}, event_types = [], project }: Mistyped,
  joined: readonly Pick<JoinedConstraint, 'label'>[] = [],
): string | null {
  const asked = Object.entries(selector).filter(
    ([name]) => name !== 'key_value' && !joined.some(({ label }) => label === name),
  )
  const isHinted = !project?.length
  const wanted = asked.map(([name]) => name)
  const labels = unknownLabels(db, names, wanted, isHinted)
  if (labels !== null || !isHinted) return labels
  const numbers = names.numberLabels()
  const told = [
    ...asked
      .filter(([name]) => !numbers.has(name))
      .map(([label, value]) => ({ label, value: String(value), what: `${label}=${value}` })),
    ...event_types.map((type) => ({ label: TYPE_LABEL, value: type, what: `the type ${type}` })),
  ].flatMap(({ label, value, what }) => {
    if (dictionary.find(label, value) !== undefined) return []
    const near = didYouMean(value, valuesBeside(db, label, value))
    return near === '' ? [] : `${what}${near}`
  })
  return told.length === 0 ? null : `no event has ${told.join(', nor ')}`
}

/**
 * That a level which is asked for is written otherwise, too: labels are compared as they are written, and some sources have it
 * as their type alone. null: it is not, or a project reads, which learns of nothing beside it.
 */
export function levelsBeside(
  ctx: ReadContext,
  { selector = {}, project }: Mistyped,
  { ceiling, rules }: { ceiling: number; rules: EntityRules },
): string | null {
  const value = String(ownField(selector, 'level') ?? '')
  const level = levelNamed(value)
  if (level === undefined || project?.length) return null
  const has = (label: string) => (word: string) => ctx.dictionary.find(label, word) !== undefined
  const labels = levelSpellings(value).filter((one) => one !== value && has('level')(one))
  const newest = (asked: Narrowing) => newestOf(ctx, asked, ceiling, rules)?.id
  const isLabelled = (type: string, last = newest({ event_types: [type] })) =>
    [value, ...labels].some((said) => newest({ event_types: [type], selector: { level: said } }) === last)
  const types = [level, level.toLowerCase()].filter((type) => has(TYPE_LABEL)(type) && !isLabelled(type))
  const other = [...labels.map((one) => `level=${one}`), ...types.map((one) => `the type ${one}`)]
  return other.length === 0 ? null : `beside level=${value} there are events with ${other.join(', ')}`
}

/** Values that are compared with one that was mistyped, and as many that begin with the same letter: most mistakes are behind it. */
const COMPARED_VALUES = 1_000

/** Shorter ones are near to too many. */
const COMPARED_LENGTH = 4
const digitsOf = (value: string): string => value.replace(/\D/g, '')

/** Of other digits none: `order=4712` is no mistake for `order=4711`, but another. */
function valuesBeside(db: Database, label: string, value: string): string[] {
  if (value.length < COMPARED_LENGTH) return []
  const stored = db
    .prepare<[string, string, number], string>(
      'SELECT value FROM named_labels WHERE name = ? AND value >= ? LIMIT ?',
    )
    .pluck()
  const digits = digitsOf(value)
  return ['', value.slice(0, 1)]
    .flatMap((from) => stored.all(label, from, COMPARED_VALUES))
    .filter((one) => one.length >= COMPARED_LENGTH && digitsOf(one) === digits)
}

/** Of each connection: every read that finds nothing asks. */
const stored = new WeakMap<Database, Statement<{ name: string }, number>>()

/** Whether any event has the label: found by one key, or among those that have none yet. */
function isStored(db: Database, name: string): boolean {
  let statement = stored.get(db)
  if (!statement) {
    statement = db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM label_keys WHERE name = :name)
          OR EXISTS (SELECT 1 FROM labels WHERE id > (SELECT through FROM labels_keyed) AND name = :name)`,
      )
      .pluck() as Statement<{ name: string }, number>
    stored.set(db, statement)
  }
  return !name.startsWith('@') && statement.get({ name }) === 1
}

/** Every label name stored: of those that have keys by skipping through them, and of the new ones. */
export function labelNames(db: Database): string[] {
  const sql = `WITH RECURSIVE n(name) AS (
      SELECT min(name) FROM label_keys
      UNION ALL
      SELECT (SELECT min(name) FROM label_keys WHERE label_keys.name > n.name) FROM n WHERE n.name IS NOT NULL)
    SELECT name FROM n WHERE name IS NOT NULL
    UNION
    SELECT name FROM labels WHERE id > (SELECT through FROM labels_keyed)`
  return (db.prepare(sql).pluck().all() as string[]).filter((name) => !name.startsWith('@'))
}

/*
 * Metric points in reads: a service writes one a minute for each of its series, and rows of them would push out
 * what happened. Those of a series are one row, which shows the newest and tells count and range.
 */

/** Text of a point, as its connector writes it: the series, its value, and what follows. */
const POINT = /^(.*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?$/is

/** @returns what tells the series of a point, and its value; null for any other event. */
export function pointOf(row: Row): { series: string; value: number } | null {
  if (row.labels.signal !== 'metrics') return null
  const match = POINT.exec(row.text)
  if (!match) return null
  const series = [row.source, row.event_type, match[1], JSON.stringify(row.labels)].join('\0')
  return { series, value: Number(match[2]) }
}

/** The rows of a page, points of a series as one. */
export class PointFold {
  private readonly kept: Row[][] = []
  private readonly series = new Map<string, Row[]>()

  /** @param most rows of the page. */
  constructor(private readonly most: number) {}

  /** @returns false where the page is full and this row begins the next. */
  add(row: Row): boolean {
    const point = pointOf(row)
    const before = point && this.series.get(point.series)
    if (before) {
      before.push(row)
      return true
    }
    if (this.kept.length === this.most) return false
    const rows = [row]
    this.kept.push(rows)
    if (point) this.series.set(point.series, rows)
    return true
  }

  /** In the direction of the read. */
  finish(direction: 'asc' | 'desc'): Row[] {
    if (this.kept.every((rows) => rows.length === 1)) return this.kept.map((rows) => rows[0]!)
    const sign = direction === 'asc' ? 1 : -1
    return this.kept
      .map((rows) => foldedRow(direction === 'asc' ? rows : rows.reverse()))
      .sort(
        (a, b) => sign * (Date.parse(a.event_time) - Date.parse(b.event_time) || numberOf(a) - numberOf(b)),
      )
  }
}

const numberOf = ({ id }: Row): number => Number(id.slice(4))

/** One row for several points of a series. @param rows oldest first. */
function foldedRow(rows: readonly Row[]): Row {
  const newest = rows.at(-1)!
  if (rows.length === 1) return newest
  const values = rows.map((row) => pointOf(row)!.value)
  const range = { least: Math.min(...values), most: Math.max(...values) }
  const { id, event_time: time } = rows[0]!
  return { ...newest, fold: foldOf({ id, time }, newest, rows.length, [range]) }
}

/** What a row tells of those it stands for. @param ranges of its numbers, where they differ */
export function foldOf(
  oldest: { id: string; time: string },
  newest: Row,
  count: number,
  ranges: readonly { name?: string; least: number; most: number }[],
): NonNullable<Row['fold']> {
  const isPoint = pointOf(newest) !== null
  const [own] = ranges
  return {
    count,
    first_id: oldest.id,
    first: oldest.time,
    last_id: newest.id,
    last: newest.event_time,
    cursor: `${oldest.id}..${newest.id}`,
    ...(isPoint ? pointRange(newest, own) : ranges.length ? { numbers: [...ranges] } : {}),
  }
}

function pointRange(newest: Row, range: { least: number; most: number } | undefined) {
  const { value } = pointOf(newest)!
  return { least: range?.least ?? value, most: range?.most ?? value }
}

/* When what a read asks about was last seen, where its window has no event: silence and a wrong name look alike. */

/**
 * The newest event with the labels of a selector, or without one of the sources, in whatever window, of whatever
 * type and with whatever words. @param ceiling largest id that the read speaks for. @returns its time, epoch ms; null where
 * there is none; undefined where the index alone does not say it: the value of an entity or of a number label.
 */
export function lastSeenOf(
  ctx: ReadContext,
  { selector, sources, project }: Narrowing,
  ceiling: number,
  rules: EntityRules,
): number | null | undefined {
  const asked = selector === undefined ? { sources } : { selector }
  const found = newestOf(ctx, { ...asked, ...(project && { project }) } as Narrowing, ceiling, rules)
  return found === null ? null : found?.ts
}

/** The newest event; null: there is none; undefined: the index alone does not say it. */
function newestOf(ctx: ReadContext, asked: Narrowing, ceiling: number, rules: EntityRules) {
  const plan = compilePlan(asked, ctx.db, ctx.dictionary, ctx.names, rules)
  if (plan.filter) return undefined
  return firstPositions(ctx.index.all(), queryOf(plan, EVER, ceiling), 'desc', 1, null)[0] ?? null
}

/**
 * Sources that took nothing in for a part of a window: silence then says nothing of what happened. Of a read with a
 * selector those that ever brought an event of it; where none did, any of those that could.
 * @param window epoch ms. @param asOf what was known by then, epoch ms. @param ceiling largest id that the read speaks for
 */
export function gapsIn(
  ctx: ReadContext,
  { selector, sources, project }: Narrowing,
  window: { from: number; to: number },
  { asOf, ceiling, rules }: { asOf: number; ceiling: number; rules: EntityRules },
): SourceGap[] {
  return gapsBetween(ctx, { selector, sources, project }, window, { asOf, ceiling, rules }).map(
    ({ from, to, ...gap }) => ({
      ...gap,
      from: iso(from),
      to: isoOrNull(to),
    }),
  )
}

function gapsBetween(
  ctx: ReadContext,
  { selector, sources, project }: Narrowing,
  window: { from: number; to: number },
  { asOf, ceiling, rules }: Parameters<typeof gapsIn>[3],
): Gap[] {
  const { names } = ctx
  const all = ctx.gaps.within({ ...window, asOf, version: names.version })
  if (all.length === 0) return []
  const members = project?.length ? new Set(projectScope(ctx.db, names, project).members) : null
  const asked = new Map(
    [...names.all()].flatMap(({ id, name, deleted, sourceType }): [string, number][] =>
      deleted ||
      sourceType === 'reference' ||
      (sources?.length && !sources.includes(name)) ||
      (members && !members.has(id))
        ? []
        : [[name, id]],
    ),
  )
  const gaps = all.filter(({ source }) => asked.has(source))
  if (gaps.length === 0 || selector === undefined) return gaps
  const narrowing = { selector, ...(project === undefined ? {} : { project }) }
  const plan = compilePlan(narrowing, ctx.db, ctx.dictionary, names, rules)
  const has = (group: number[]): boolean => {
    const groups = group.length ? [...plan.groups, group] : plan.groups
    return (
      firstPositions(ctx.index.all(), queryOf({ ...plan, groups }, EVER, ceiling), 'desc', 1, null).length > 0
    )
  }
  const bring = new Set(
    [...new Set(gaps.map(({ source }) => source))].filter((name) =>
      has([ctx.dictionary.find(SOURCE_LABEL, String(asked.get(name))) ?? NO_LABEL]),
    ),
  )
  return bring.size > 0 || has([]) ? gaps.filter(({ source }) => bring.has(source)) : gaps
}

/** No event has it. */
const NO_LABEL = -1
/** @param seen when the newest event was, epoch ms; null: never */
export function silenceSaid({ from, to }: { from: number; to: number }, seen: number | null): string {
  if (seen === null) return 'no events in this window, nor at any other time'
  // The newest is looked for by the labels alone: another type, source or wording is no reason to look further back.
  if (seen >= from && seen <= to)
    return `no such events in this window; it has others, the newest at ${iso(seen)}`
  return `no events in this window; last seen ${iso(seen)}`
}

/**
 * What is said of a window in which nothing was found: silence and a wrong name look alike.
 * @param joined constraints of the selector that have other names. @param ceiling largest id that is seen
 */
export function silenceOf(
  ctx: ReadContext,
  asked: Narrowing,
  window: { from: number; to: number },
  { joined, ceiling, rules }: { joined: Plan['joined']; ceiling: number; rules: EntityRules },
): string {
  if (asked.selector === undefined && !asked.sources?.length) return 'no events'
  const seen = lastSeenOf(ctx, asked, ceiling, rules)
  const said = seen === undefined ? 'no events in this window' : silenceSaid(window, seen)
  const unknown = unknownOf(ctx, asked, joined)
  return unknown === null ? said : `${said}; ${unknown}`
}
