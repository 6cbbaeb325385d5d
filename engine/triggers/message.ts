/**
 * What a firing says: the correlated timeline of its entity, as it was when it fired. It is worked
 * out when it is sent or shown; since it speaks for an instant that is closed, it is the same bytes
 * every time, as long as its events are kept.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { headlineOf } from '../../schemas/plain-text.ts'
import type {
  Event,
  FiringDetail,
  FiringEvidence,
  FiringMessage,
  ReadRequest,
  ScheduleSummary,
  SourceGap,
  TriggerSpec,
} from '../../schemas/types.ts'
import { isSchedule, titleOf } from '../../schemas/words.ts'
import type { EngineCore, Row } from '../calls.ts'
import { TRIGGER_DEFAULTS } from '../documents/trigger.ts'
import { SvcError } from '../errors.ts'
import { eachPosition } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { compilePlan } from '../log/timeline/plan.ts'
import { eventId, presentRow, renderRow } from '../log/timeline/present.ts'
import { answerRead } from '../log/timeline/read.ts'
import { windowOfSlot } from '../model/slots.ts'
import { DAY_MS, iso, isoOrNull, parseDuration } from '../model/units.ts'
import { matcherOf } from './core/index.ts'
import { type FiringRow, firstEvents, keysOf, seenOf, triggerQueries } from './queries.ts'

/** Size of the timeline in a message, in tokens. */
const PAYLOAD_TOKENS = 6_000
const LISTED_EVENTS = 100
const SPREAD_LINES = 10

/** @param project whose events alone it may show; null: those of the project the trigger is of, else all. */
export function renderPayload(ctx: ReadContext, row: FiringRow, project: string | null): string {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const scope = project ?? liveProject(ctx, row.project)
  if (isSchedule(spec.condition)) return renderSummary(ctx, row, spec, scope)
  const at = row.as_of ?? row.last_at
  const window = spec.emit?.context_window ?? TRIGGER_DEFAULTS.context_window
  const selector = selectorOf(ctx, row, spec)
  const request: ReadRequest = {
    selector,
    from: new Date(at - parseDuration(window, 'emit.context_window')).toISOString(),
    to: new Date(at).toISOString(),
    as_of: new Date(at).toISOString(),
    max_tokens: PAYLOAD_TOKENS,
    ...(scope === null ? {} : { project: scope }),
    // What is of no entity has only what tripped it to show.
    ...(Object.keys(selector).length ? {} : { sources: spec.sources }),
  }
  return [...heading(ctx, row), answerRead(ctx, request, at).payload].join('\n')
}

/** The body of a webhook. @param runIds of agents of this service that the firing woke */
export function firingMessage(
  ctx: ReadContext,
  row: FiringRow,
  deliveryId: string,
  project: string | null,
  runIds: readonly string[],
): FiringMessage {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { condition } = spec
  return {
    dispatch_id: row.dispatch_id,
    delivery_id: deliveryId,
    trigger: row.trigger_name,
    project: project ?? row.project,
    kind: row.kind,
    key: row.key,
    entity:
      row.label !== null && row.value_text !== null ? { label: row.label, value: row.value_text } : null,
    fired_at: isoOrNull(row.fired_at)!,
    payload: renderPayload(ctx, row, project),
    run_ids: [...runIds],
    ...tripped(ctx, row),
    reason: row.reason,
    value: row.value,
    predicate: 'predicate' in condition ? condition.predicate : null,
    window: 'window' in condition ? condition.window : null,
    events: row.events,
    event_ids: firstEvents(ctx.db, row.id, LISTED_EVENTS).map(eventId),
    keys: keysOf(ctx.db, row.id),
    held_back: row.held_back,
    ...(row.incident_id === null ? {} : { incident: `inc_${row.incident_id}` }),
    ...(row.severity === null ? {} : { severity: row.severity }),
    ...(row.resolves === null ? {} : { resolves: row.resolves }),
    ...(row.late_by === null ? {} : { late_by: row.late_by / 1_000 }),
    ...(row.practice ? { practice: true } : {}),
  }
}

function heading(ctx: ReadContext, row: FiringRow): string[] {
  const spread =
    row.key_count > 1
      ? keysOf(ctx.db, row.id)
          .slice(0, SPREAD_LINES)
          .map(({ key, events }) => `  ${key}: ${events}`)
      : []
  return [
    `=== firing · ${row.trigger_name} · ${row.key} · ${isoOrNull(row.fired_at ?? row.last_at)} ===`,
    // That of a resolved firing says itself that it is over.
    row.resolves ? row.reason : `why: ${row.reason}`,
    ...(spread.length ? [`events by key (${row.key_count} keys):`, ...spread] : []),
    '',
  ]
}

/** The entity; or the labels a key of several is made of, as its first event has them. */
function selectorOf(ctx: ReadContext, row: FiringRow, { condition }: TriggerSpec): Record<string, string> {
  if (row.label !== null && row.value_text !== null) return { [row.label]: row.value_text }
  const group = 'group_by' in condition ? (condition.group_by ?? []) : []
  const { labels } = tripped(ctx, row)
  return Object.fromEntries(
    group.flatMap((name) => {
      const value = ownField(labels, name)
      return value === undefined ? [] : [[name, String(value)]]
    }),
  )
}

/**
 * What is over is routed as what began: by the title and the labels of that firing. Of alerts that is the one that its
 * incident is named after: the last may be of one alert of several, and no more than a warning.
 */
function tripped(ctx: ReadContext, row: FiringRow): Pick<FiringMessage, 'title' | 'labels'> {
  const of = row.resolves === null ? row : (namesOf(ctx, row) ?? row)
  const id = of.event_id ?? firstEvents(ctx.db, of.id, 1)[0]
  const stored = id === undefined ? undefined : ctx.rows.read([id], false)[0]
  const event = stored && presentRow(stored, ctx.dictionary, ctx.names, stored.ts)
  const title = titleOf(JSON.parse(of.spec) as TriggerSpec, { ...of, text: event?.text ?? null })
  return { title, labels: event?.labels ?? {} }
}

function namesOf({ db }: ReadContext, { id, resolves, incident_id: incident }: FiringRow) {
  const named = db.prepare<[number | null, number], FiringRow>(
    'SELECT f.* FROM firings f JOIN incidents i ON i.titled_by = f.id WHERE i.id = ? AND f.id < ?',
  )
  return named.get(incident, id) ?? triggerQueries(db).byDispatch.get(resolves!)
}

/**
 * A project that is no longer there narrows nothing: its sources are not known any more. Nor does the
 * Default project, which holds what is of no project.
 */
function liveProject(ctx: ReadContext, id: string | null): string | null {
  if (id === null) return null
  const live = ctx.db
    .prepare(
      `SELECT 1 FROM projects WHERE id = ? AND state <> 'deleted'
         AND coalesce(json_extract(spec, '$.template'), '') <> 'default'`,
    )
    .get(id)
  return live ? id : null
}

/*
 * The summary a schedule carries: for each label a table of how many events each value has in this
 * window and had in the one before, biggest change first, then examples and what agents found. The
 * rich form adds what is usual (mean and spread of earlier windows), and how far off the window is.
 */

const ROWS = 15
const TEXT_MAX = 16_000
const RECENT_PER_SOURCE = 3
/** Events of all the windows looked at: what is beyond is left out, and said to be. */
const SCAN_MAX = 200_000
const RICH: Required<ScheduleSummary> = {
  by_entity: true,
  baseline: 6,
  min_count: 0,
  numbers: [],
  examples: 2,
  findings: '6h',
}

interface Line {
  value: string
  /** Events in this window, then in each earlier one, newest first. */
  counts: number[]
}

/** @param scope project whose events alone are looked at; null: those of the trigger's sources. */
function renderSummary(ctx: ReadContext, row: FiringRow, spec: TriggerSpec, scope: string | null): string {
  const condition = spec.condition as Extract<TriggerSpec['condition'], { every: string } | { cron: string }>
  const slot = row.slot ?? row.fired_at ?? row.opened_at
  const length = windowOfSlot(condition, slot)
  const options = optionsOf(condition.summary)
  const windows = 2 + Math.max(0, options.baseline - 1)
  const { rows, isCut } = eventsOf(ctx, spec, scope, slot - windows * length, slot, row.as_of ?? slot)
  const by = condition.summary_by ?? []
  const tables = by.length ? by : options.by_entity || by.length === 0 ? [''] : []
  const lines = [
    `=== schedule · ${row.trigger_name} · ${new Date(slot).toISOString()} · last ${words(length)} ===`,
    `sources: ${spec.sources.join(', ')}; this window against the one before`,
    ...(row.late_by ? [`fired ${words(row.late_by)} late: the service was down`] : []),
    ...(isCut ? [`only the newest ${SCAN_MAX.toLocaleString('en')} events were counted`] : []),
    '',
  ]
  for (const label of tables) lines.push(...tableOf(rows, label, slot, length, windows, options), '')
  for (const name of options.numbers) lines.push(...numbersOf(rows, name, slot, length), '')
  lines.push(...recentOf(ctx, rows, slot, length), '')
  if (options.findings) lines.push(...findingsOf(ctx, options.findings, slot, scope))
  return lines.join('\n').slice(0, TEXT_MAX)
}

function optionsOf(summary: 'rich' | ScheduleSummary | undefined): Required<ScheduleSummary> {
  if (summary === 'rich') return RICH
  return { by_entity: false, baseline: 0, min_count: 0, numbers: [], examples: 0, findings: '', ...summary }
}

interface Counted {
  id: number
  ts: number
  source: string
  labels: Record<string, string | number>
  entity: string | null
}

function eventsOf(
  ctx: ReadContext,
  spec: TriggerSpec,
  scope: string | null,
  from: number,
  to: number,
  asOf: number,
): { rows: Counted[]; isCut: boolean } {
  const plan = compilePlan(
    { sources: knownSources(ctx, spec.sources), ...(scope === null ? {} : { project: scope }) },
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
  const ids: number[] = []
  const query = {
    groups: plan.groups,
    masked: plan.masked,
    from: from + 1,
    to,
    afterId: -1,
    ceiling: ctx.ceilingAt(asOf),
  }
  eachPosition(ctx.index.all(), query, (id) => {
    ids.push(id)
  })
  ids.sort((a, b) => b - a)
  const isCut = ids.length > SCAN_MAX
  const holds = matcherOf(spec.filters ?? [], {
    labels: ctx.dictionary,
    sourceName: (id) => ctx.names.get(id)?.name ?? '',
  })
  const needsPayload = (spec.filters ?? []).some(({ field }) => field.startsWith('payload.'))
  const rows: Counted[] = []
  for (let at = 0; at < Math.min(ids.length, SCAN_MAX); at += 2_000)
    for (const stored of ctx.rows.read(ids.slice(at, at + 2_000), needsPayload)) {
      if (!holds(seenOf(stored))) continue
      const shown = presentRow(stored, ctx.dictionary, ctx.names, to)
      rows.push({
        id: stored.id,
        ts: stored.ts,
        source: shown.source,
        labels: shown.labels,
        entity: shown.entity?.value ?? null,
      })
    }
  return { rows, isCut }
}

/** A source that was deleted since is left out rather than failing the summary. */
function knownSources(ctx: ReadContext, names: readonly string[]): string[] {
  return names.filter((name) => ctx.names.idsOf(name).length > 0)
}

function tableOf(
  rows: readonly Counted[],
  label: string,
  slot: number,
  length: number,
  windows: number,
  options: Required<ScheduleSummary>,
): string[] {
  const lines = new Map<string, Line>()
  const total = new Array<number>(windows).fill(0)
  for (const row of rows) {
    const value = label === '' || label === 'key_value' ? row.entity : ownField(row.labels, label)
    if (value === null || value === undefined) continue
    const window = Math.min(windows - 1, Math.floor((slot - row.ts) / length))
    if (window < 0) continue
    const line = lines.get(String(value)) ?? {
      value: String(value),
      counts: new Array<number>(windows).fill(0),
    }
    line.counts[window]!++
    total[window]!++
    lines.set(line.value, line)
  }
  const title = `by ${label || 'entity'}`
  const most = ({ counts }: Line) => Math.max(counts[0]!, counts[1]!)
  const found = [...lines.values()].filter((line) => most(line) > 0)
  if (found.length === 0) {
    const isQuiet = rows.every(({ ts }) => slot - ts >= length)
    return [
      `${title}: ${isQuiet ? 'no events in this window' : `no event of this window has ${label ? 'this label' : 'one'}`}`,
    ]
  }
  const shown = found
    .filter((line) => most(line) >= options.min_count)
    .map((line) => ({ ...line, usual: usualOf(line.counts, options.baseline) }))
    .sort((a, b) => weight(b) - weight(a) || b.counts[0]! - a.counts[0]! || (a.value < b.value ? -1 : 1))
  const below = found.length - shown.length
  const more = [
    ...(shown.length > ROWS ? [`  … and ${shown.length - ROWS} more`] : []),
    ...(below ? [`  … and ${below} more below min_count`] : []),
  ]
  const head = options.baseline
    ? `${title} | now | before | usual | off by`
    : `${title} | now | before | change`
  return [
    head,
    ...shown.slice(0, ROWS).map(({ value, counts, usual }) => {
      const last = usual
        ? `${usual.mean.toFixed(1)} ± ${usual.spread.toFixed(1)} | ${usual.z.toFixed(1)}σ`
        : changeOf(counts[0]!, counts[1]!)
      return `  ${value} | ${counts[0]} | ${counts[1]} | ${last}`
    }),
    ...more,
    `  total | ${total[0]} | ${total[1]} | ${changeOf(total[0]!, total[1]!)}`,
  ]
}

interface Usual {
  mean: number
  spread: number
  z: number
}

/** Mean of the earlier windows and how far this one is off; the spread is at least that of chance. */
function usualOf(counts: readonly number[], baseline: number): Usual | null {
  if (baseline === 0) return null
  const before = counts.slice(1, 1 + baseline)
  const mean = before.reduce((sum, n) => sum + n, 0) / before.length
  const variance = before.reduce((sum, n) => sum + (n - mean) ** 2, 0) / before.length
  const spread = Math.max(Math.sqrt(variance), Math.sqrt(mean), 1)
  return { mean, spread, z: (counts[0]! - mean) / spread }
}

const weight = ({ counts, usual }: Line & { usual: Usual | null }): number =>
  Math.abs(usual ? usual.z : counts[0]! - counts[1]!)

function changeOf(now: number, before: number): string {
  if (now === before) return 'none'
  if (before === 0) return 'new'
  if (now === 0) return 'gone'
  return `${now > before ? '+' : ''}${now - before} (×${(now / before).toFixed(1)})`
}

function numbersOf(rows: readonly Counted[], name: string, slot: number, length: number): string[] {
  const valuesIn = (window: number) =>
    rows.flatMap((row) => {
      const value = ownField(row.labels, name)
      return typeof value === 'number' && Math.floor((slot - row.ts) / length) === window ? [value] : []
    })
  const told = (values: number[]) =>
    values.length
      ? `avg ${(values.reduce((sum, n) => sum + n, 0) / values.length).toFixed(2)}, max ${Math.max(...values)}`
      : 'none'
  return [`${name}: now ${told(valuesIn(0))}; before ${told(valuesIn(1))}`]
}

/** The newest lines of each source. */
function recentOf(ctx: ReadContext, rows: readonly Counted[], slot: number, length: number): string[] {
  const bySource = new Map<string, number[]>()
  for (const row of rows) {
    if (row.ts <= slot - length) continue
    const ids = bySource.get(row.source) ?? []
    if (ids.length < RECENT_PER_SOURCE) ids.push(row.id)
    bySource.set(row.source, ids)
  }
  const ids = [...bySource.values()].flat()
  if (ids.length === 0) return ['no events in this window']
  return [
    'newest:',
    ...ctx.rows.read(ids, false).map((row) => renderRow(presentRow(row, ctx.dictionary, ctx.names, slot))),
  ]
}

/** What agents found lately, newest first. */
function findingsOf(ctx: ReadContext, window: string, slot: number, scope: string | null): string[] {
  const rows = ctx.db
    .prepare<
      [number, number, string | null, string | null],
      { at: number; agent: string; entity: string } & Record<'verdict' | 'headline' | 'note', string | null>
    >(
      `SELECT finished_at AS at, agent, entity, verdict, headline, note FROM runs
       WHERE finished_at > ? AND finished_at <= ? AND outcome = 'finding' AND practice = 0
         AND (? IS NULL OR EXISTS (SELECT 1 FROM run_projects p WHERE p.run_id = runs.id AND p.project = ?))
       ORDER BY finished_at DESC, id DESC LIMIT 8`,
    )
    .all(slot - parseDuration(window, 'summary.findings'), slot, scope, scope)
  if (rows.length === 0) return []
  return [
    `findings of the last ${window}:`,
    ...rows.map(
      ({ at, agent, entity, verdict, headline, note }) =>
        `  ${new Date(at).toISOString()} ${agent} on ${entity}: ${[verdict, headline ?? headlineOf(note ?? '')].filter(Boolean).join(', ') || 'a note'}`,
    ),
  ]
}

function words(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return `${Math.round(ms / 1_000)} s`
  if (minutes % 1_440 === 0) return `${minutes / 1_440} d`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`
}

/*
 * The evidence of a firing: the timeline of its entity as it stands around the moment it fired. What tripped it and what
 * was changed before are in it, whatever else came since.
 */

/** Changes so long before the moment are always in it. */
const CHANGES_MS = 30 * 60_000
const CHANGES_MAX = 50
/** Events of other entities, or from long before, that are read one by one. */
const OTHERS_MAX = 20
/** Types that changes are sent with most; others are found among what is read around the moment. */
const CHANGE_TYPES =
  'deploy deployed deployment deployment_status release released push rollback config config_change config_changed feature_flag flag migration scale scaled merged'.split(
    ' ',
  )

export interface EvidenceCalls {
  /** @throws SvcError not_found */
  firingEvidence(id: string, sides: Sides): Promise<FiringEvidence>
}

/** How many events on each side of the moment, at most. */
interface Sides {
  before: number
  after: number
}

/**
 * Made of other reads, each of which sees the store as it then is.
 * @param before 0: nothing of what led to it, neither changes nor what tripped it
 * @throws SvcError not_found
 */
export async function evidenceOf(
  engine: Pick<EngineCore, 'read' | 'histogram' | 'event'> & {
    getFiring(id: string): Promise<FiringDetail>
    firingEvents(id: string): Promise<{ event_ids: string[] }>
  },
  id: string,
  { before, after }: Sides,
): Promise<FiringEvidence> {
  const firing = await engine.getFiring(id)
  const { entity } = firing
  const moment = firing.fired_at ?? firing.opened_at
  const ids =
    before === 0
      ? []
      : firing.events > firing.event_ids.length
        ? (await engine.firingEvents(id)).event_ids
        : firing.event_ids
  const selector = entity && { [entity.label]: entity.value }
  const [led, followed] = await Promise.all([
    selector && before > 0
      ? ledTo(engine, { selector, to: moment, limit: before })
      : { rows: [], gaps: [], since: moment },
    selector
      ? followedBy(engine, { selector, from: moment, limit: after })
      : { rows: [], gaps: [], until: null, later: null },
  ])
  const known = new Map([...led.rows, ...followed.rows].map((row) => [row.id, row]))
  const others = ids.filter((one) => !known.has(one)).slice(0, OTHERS_MAX)
  // What is purged is not in it.
  const found = await Promise.all(others.map((one) => engine.event(one).catch(nothingIfGone)))
  for (const row of eventsIn(found.filter((one) => one !== null))) known.set(row.id, row)
  const events = [...known.values()].sort(inOrder)
  const tripping = new Set(ids)
  const tripped = events.filter((event) => tripping.has(event.id))
  const gaps = gapsAround([...led.gaps, ...followed.gaps], led.since, followed.until)
  return {
    moment,
    events,
    tripped: tripped.map((event) => event.id),
    event_types: [...new Set(tripped.map((event) => event.event_type))].sort(),
    later: followed.later,
    ...(gaps.length ? { gaps } : {}),
  }
}

/**
 * Each once, in order of time: what lies before or after all that is told says nothing of it.
 * @param until null: up to now is told
 */
function gapsAround(gaps: readonly SourceGap[], since: string, until: string | null): SourceGap[] {
  const isTold = ({ from, to }: SourceGap): boolean =>
    (to === null || to > since) && (until === null || from < until)
  const each = new Map(gaps.filter(isTold).map((gap) => [`${gap.source} ${gap.why} ${gap.from}`, gap]))
  return [...each.values()].sort((a, b) => Date.parse(a.from) - Date.parse(b.from))
}

function nothingIfGone(error: unknown): null {
  if (error instanceof SvcError && error.code === 'not_found') return null
  throw error
}

type Reads = Pick<EngineCore, 'read' | 'histogram'>
type Given = Required<Pick<ReadRequest, 'selector' | 'limit'>>

/** What came before the moment within a day, and changes of the half hour before it; `since`: of when it tells. */
async function ledTo(
  engine: Reads,
  { selector, to, limit }: Given & { to: string },
): Promise<{ rows: readonly Event[]; gaps: readonly SourceGap[]; since: string }> {
  const at = Date.parse(to)
  const since = at - CHANGES_MS
  const read = await engine.read({ selector, from: iso(at - DAY_MS), to, order: 'desc', limit })
  const oldest = read.rows.at(-1)
  const isAll = read.next_cursor === null || (oldest && Date.parse(oldest.event_time) < since)
  const changes = isAll
    ? []
    : (
        await engine.read({
          ...{ selector, from: iso(since), to, order: 'desc' },
          ...{ event_types: CHANGE_TYPES, limit: CHANGES_MAX },
        })
      ).rows
  const rows = eventsIn([...read.rows, ...changes])
  const first = Math.min(since, ...rows.map(({ event_time }) => Date.parse(event_time)))
  return { rows, gaps: read.gaps ?? [], since: iso(first) }
}

/** What came after the moment, and how much of it there is in all; `until`: of when it tells, null up to now. */
async function followedBy(
  engine: Reads,
  { selector, from, limit }: Given & { from: string },
): Promise<{ rows: readonly Event[]; gaps: readonly SourceGap[]; until: string | null; later: number }> {
  const read = await engine.read({ selector, from, order: 'asc', limit })
  const rows = eventsIn(read.rows)
  const gaps = read.gaps ?? []
  // Read whole, it is counted here.
  if (read.next_cursor === null) return { rows, gaps, until: null, later: rows.length }
  const later = (await engine.histogram({ selector, from, buckets: 1 })).total
  return { rows, gaps, until: rows.at(-1)?.event_time ?? null, later }
}

/** Without payloads, and without the documents that a read adds. */
const eventsIn = (rows: readonly Row[]): Event[] =>
  rows.filter(({ reference }) => !reference).map(({ raw: _raw, ...event }) => event)

const idNumber = ({ id }: Event): number => Number(id.replace('evt_', ''))
const inOrder = (a: Event, b: Event): number =>
  Date.parse(a.event_time) - Date.parse(b.event_time) || idNumber(a) - idNumber(b)
