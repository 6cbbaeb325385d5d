/**
 * The tools that look at what was recorded, for runs, Ask, MCP and HTTP alike: each within what its caller may
 * read, as of an instant, and within a number of tokens. They work in steps, between which others have their turn.
 */

import { gapsSaid } from '../../schemas/event-line.ts'
import { ownField } from '../../schemas/fields-of.ts'
import { escapeLine } from '../../schemas/plain-text.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { InspectedEvent, InspectResult } from '../../schemas/types.ts'
import type { Row } from '../calls.ts'
import { fail } from '../errors.ts'
import {
  cautiousTokens,
  makeBriefInSteps,
  NOBODY,
  renderBrief,
  type Shown,
  windowsOf,
} from '../log/brief/brief.ts'
import { pagesOf, type Steps } from '../log/steps.ts'
import type { StoredRow } from '../log/store/scan.ts'
import { labelIdsOf } from '../log/store/tail.ts'
import { projectScope, type ReadContext } from '../log/timeline/context.ts'
import {
  type Around,
  askedQuery,
  baselineOf,
  cursorOf,
  DEFAULT_TOKENS,
  document,
  gapsOf,
  type InspectQuestion,
  instantOf,
  type Looked,
  linesOf,
  pageOf,
  placeOf,
  readableDocument,
  silenceIn,
  windowOf,
} from '../log/timeline/inspect-pages.ts'
import { compilePlan } from '../log/timeline/plan.ts'
import { parseEventId, presentRow } from '../log/timeline/present.ts'
import { namedCuts, wideContextRows, wideRows } from '../log/timeline/rows.ts'
import { setFacts } from '../log/timeline/traces.ts'
import { iso } from '../model/units.ts'
import { redact } from '../net/redact.ts'
import { seriesInSteps } from './inspect-series.ts'
import { traceLinesInSteps } from './telemetry/traces.ts'

const TOOLS: Record<InspectQuestion['tool'], (around: Around) => Steps<Looked>> = {
  changed: changedInSteps,
  series: seriesInSteps,
  trace: traceLinesInSteps,
  labels: labelsInSteps,
  entities: entitiesInSteps,
  sources: sourcesInSteps,
  // biome-ignore lint/correctness/useYield: it is one step
  *event(around) {
    return event(around)
  },
  // biome-ignore lint/correctness/useYield: it is one step
  *document(around) {
    return document(around)
  },
}

/** Who asks, and when. */
interface Asking {
  /** Ids or names; none: everything. */
  projects: readonly string[]
  /** Windows end at it, epoch ms. */
  now: number
  /** Whether what looks like a secret is taken out, as it is for the service's own agents. */
  isRedacted: boolean
}

/**
 * Looks, some rows at a time.
 * @throws SvcError invalid, naming the field; not_found for what is not there or may not be read
 */
export function* inspectInSteps(
  ctx: ReadContext,
  question: InspectQuestion,
  { projects, now, isRedacted }: Asking,
): Steps<InspectResult> {
  ctx.names.refresh()
  const asOf = instantOf(question, now)
  const around: Around = {
    ...{ ctx, projects, question, isRedacted, asOf },
    now: Math.min(now, asOf),
    ceiling: question.as_of === undefined ? ctx.index.tail.lastId : ctx.ceilingAt(asOf),
    budget: question.max_tokens ?? DEFAULT_TOKENS,
  }
  const { heading, text, shown, next = null, from, to, record } = yield* TOOLS[question.tool](around)
  return {
    ...{ heading, text },
    tokens: cautiousTokens(`${heading}\n${text}`),
    events: eventsOf(shown),
    next_cursor: next === null ? null : cursorOf(next),
    ...(from === undefined ? {} : { from: iso(from) }),
    ...(to === undefined ? {} : { to: iso(to) }),
    ...(record === undefined ? {} : { record }),
  }
}

/** Each event once: what it stands for where it was named last, and all numbers that were told of it. */
function eventsOf(shown: Shown): InspectedEvent[] {
  const events = new Map<string, InspectedEvent>()
  for (const [id, count, numbers = []] of shown) {
    const all = [...new Set([...(events.get(id)?.numbers ?? []), ...numbers])]
    events.set(id, { id, count, ...(all.length ? { numbers: all } : {}) })
  }
  return [...events.values()]
}

/* What the brief would say of any window: the same algorithm over what is asked for, against the time before. */

/** Rows looked at, of each source the newest: as many as for a run's first message. */
const ROWS = 200_000
const SHORTEST_MS = 60_000
const LONGEST_MS = 30 * 86_400_000

/** @throws SvcError invalid, not_found */
function* changedInSteps(around: Around): Steps<Looked> {
  const { ctx, question, budget } = around
  const { from, to, until } = windowOf(around)
  const length = to - from
  if (length < SHORTEST_MS)
    fail('invalid', 'the window must be at least 1m: less holds too little to compare', { field: 'window' })
  const before = baselineOf(around, length)
  if (length + before > LONGEST_MS)
    fail('invalid', 'window and baseline must be at most 30d together', { field: 'baseline' })
  const query = yield* askedQuery(around, from - before, until)
  // Of one label asked for, it is the entity: its own lines need not say so.
  const asked = Object.entries(question.selector ?? {})
  const [label, entity] = asked.length === 1 && asked[0]![0] !== 'key_value' ? asked[0]! : ['', NOBODY]
  const heading = `What changed in ${iso(from)} to ${iso(to)} against the ${lengthText(before)} before, times in UTC. Two ids of a line are its first and last event, of a number one that is usual and one that is not`
  const { rows, cuts } = yield* wideContextRows(ctx, query, ROWS, label)
  yield* setFacts(ctx, rows, to)
  yield
  const brief = yield* makeBriefInSteps({
    rows,
    ...{ entity: String(entity), label, now: to },
    budget: budget - cautiousTokens(`${heading}\n`),
    windows: windowsOf(length / 1000, before / 1000),
    cuts: namedCuts(ctx, cuts),
    gaps: gapsOf(around, { from: from - before, to }),
    known: ctx.wordings,
  })
  return {
    ...{ heading, from, to },
    text: rows.length ? renderBrief(brief) : silenceIn(around, { from: from - before, to }),
    shown: brief.sections.flatMap(({ lines }) => lines.flatMap((line) => line.shown)),
  }
}

/** As people say a length: 90s, 2h. @param ms */
function lengthText(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const)
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  return `${Math.round(ms / 1000)}s`
}

/*
 * What there is: labels, the values of one, and sources, with what came of each in a window. Counted within what
 * may be read, and so over events, not over what the instance knows.
 */

/** Events looked at, of each source the newest. */
const LOOKED_AT = 20_000
const BATCH = 2_000
const VALUES_SHOWN = 5
const TYPES_SHOWN = 12
const VALUE_MAX = 80

interface Counted {
  events: number
  /** The newest event. */
  last: Row
}

/** @returns every label, those on most events first */
function* labelsInSteps(around: Around): Steps<Looked> {
  const { rows, told, window } = yield* lookedAt(around)
  const labels = new Map<string, Map<string, Counted>>()
  for (const row of rows)
    for (const [name, value] of Object.entries(row.labels)) count(at(labels, name), String(value), row)
  const lines = [...labels]
    .map(([name, values]) => ({ name, values: byEvents(values), events: sum(values) }))
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1))
    .map(({ name, values, events }) => {
      const some = values.slice(0, VALUES_SHOWN).map(([value, { events: n }]) => `${cut(value)} ${n}`)
      const more = values.length > some.length ? `, and ${values.length - some.length} more` : ''
      return `${name}: ${values.length} values on ${events} events: ${some.join(', ')}${more}`
    })
  return page(around, `Labels ${told}`, lines, window)
}

/** @returns values of one label, most frequent first. @throws SvcError invalid */
function* entitiesInSteps(around: Around): Steps<Looked> {
  const { label, prefix = '' } = around.question
  if (label === undefined)
    fail(
      'invalid',
      'label must name the label whose values are asked for; the tool labels has those there are',
      {
        field: 'label',
      },
    )
  const { rows, told, window } = yield* lookedAt(around)
  const values = new Map<string, Counted>()
  for (const row of rows) {
    const value = ownField(row.labels, label)
    if (value !== undefined && String(value).startsWith(prefix)) count(values, String(value), row)
  }
  const lines = byEvents(values).map(
    ([value, { events, last }]) =>
      `${label}=${cut(value)}: ${events} events, newest ${last.event_time} ${last.source} ${last.event_type} (${last.id})`,
  )
  return page(around, `${lines.length} values of ${label} ${told}`, lines, window)
}

/** @returns every source that may be read, those that were silent too */
function* sourcesInSteps(around: Around): Steps<Looked> {
  const { ctx, projects } = around
  const { rows, told, window } = yield* lookedAt(around)
  const sources = new Map<string, Map<string, Counted>>()
  const scope = projects.length ? projectScope(ctx.db, ctx.names, projects) : null
  for (const { id, name, deleted } of ctx.names.all())
    if (!deleted && (!scope || scope.members.includes(id))) at(sources, name)
  for (const row of rows) count(at(sources, row.source), row.event_type, row)
  const gaps = gapsOf(around, window)
  const lines = [...sources]
    .map(([name, types]) => ({ name, types: byEvents(types), events: sum(types) }))
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1))
    .map(({ name, types, events }) => {
      const gap = gapsSaid(gaps.filter(({ source }) => source === name))
      if (events === 0) return `${name}: nothing in this window${gap && `; ${gap}`}`
      const last = types
        .map(([, counted]) => counted.last)
        .reduce((a, b) => (b.event_time > a.event_time ? b : a))
      const some = types.slice(0, TYPES_SHOWN).map(([type, { events: n }]) => `${cut(type)} ${n}`)
      const more = types.length > some.length ? `, and ${types.length - some.length} more types` : ''
      return `${name}: ${events} events, newest ${last.event_time} (${last.id}): ${some.join(', ')}${more}${gap && `; ${gap}`}`
    })
  return page(around, `${countWords(lines.length, 'source')} ${told}`, lines, window)
}

interface LookedAt {
  rows: Row[]
  /** Which events were counted, for a heading. */
  told: string
  window: { from: number; to: number }
}

function* lookedAt(around: Around): Steps<LookedAt> {
  const { ctx, now } = around
  const { until, ...window } = windowOf(around)
  const query = yield* askedQuery(around, window.from, until)
  const { rows: stored, cuts } = yield* wideRows(ctx, query, LOOKED_AT, (ids) => ctx.rows.read(ids, false))
  const rows: Row[] = []
  for (const some of pagesOf(stored, BATCH)) {
    yield
    for (const one of some) rows.push(presentRow(one, ctx.dictionary, ctx.names, now))
  }
  const cut = namedCuts(ctx, cuts).map(
    ({ source, of }) => `the newest ${of.toLocaleString('en')} of ${source}`,
  )
  const told = `over ${rows.length.toLocaleString('en')} events, ${iso(window.from)} to ${iso(window.to)}${cut.length ? `; of these only ${cut.slice(0, 5).join(', ')}` : ''}`
  return { rows, told, window }
}

function page(around: Around, heading: string, lines: readonly string[], window: LookedAt['window']): Looked {
  const from = placeOf(around.question)
  const { lines: kept, next } = linesOf(
    lines.map((line) => escapeLine(redact(line))),
    from,
    around.budget - cautiousTokens(`${heading}\n`),
  )
  return { heading, text: kept.join('\n') || 'none', shown: [], next, ...window }
}

function at<K>(map: Map<K, Map<string, Counted>>, key: K): Map<string, Counted> {
  const known = map.get(key) ?? new Map<string, Counted>()
  map.set(key, known)
  return known
}

/** @param row rows come in order of time. */
function count(values: Map<string, Counted>, value: string, row: Row): void {
  const known = values.get(value)
  if (!known) values.set(value, { events: 1, last: row })
  else {
    known.events++
    known.last = row
  }
}

const sum = (values: ReadonlyMap<string, Counted>): number =>
  [...values.values()].reduce((all, { events }) => all + events, 0)

const byEvents = (values: ReadonlyMap<string, Counted>): [string, Counted][] =>
  [...values].sort((a, b) => b[1].events - a[1].events || (a[0] < b[0] ? -1 : 1))

const cut = (text: string): string => (text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text)

/* One event, whole: its labels, its text, and its payload as it was received, in pages. */

/** @throws SvcError invalid; not_found, also for one that may not be read */
function event(around: Around): Looked {
  const { ctx, question, ceiling, now, isRedacted, budget } = around
  const { id = '' } = question
  const number =
    parseEventId(id) ?? fail('invalid', 'id must be an event id, such as evt_12', { field: 'id' })
  const row = readable(ctx, around.projects, [number], now)[0]
  // Documents have ids of events, and are shown as such.
  if (!row || row.reference || number > ceiling) return document(around)
  const { event_type, source, event_time, ingested_at, entity, labels, text } = row
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const raw = isRedacted ? redact(row.raw ?? '') : (row.raw ?? '')
  const from = placeOf(question)
  const said = beginning(text.slice(0, TEXT_MAX), budget)
  const head = [
    `${event_type} of ${source}${entity ? `, ${entity.label}=${entity.value}` : ''}`,
    beginning(named.join(' '), budget),
    text.trim() === raw.trim() ? '' : said,
  ].filter(Boolean)
  const above = from === 0 ? `${head.join('\n')}\n` : ''
  const heading = `${id}, event time ${event_time}, ingested ${ingested_at}; payload of ${raw.length} characters${from ? `, from character ${from}` : ''}`
  const { page, next } = pageOf(raw, from, Math.max(50, budget - cautiousTokens(`${heading}\n${above}`)))
  const record = {
    ...{ id, source, event_type, event_time, ingested_at, entity, labels },
    text: said,
    ...{ payload: page, payload_bytes: Buffer.byteLength(row.raw ?? '') },
  }
  return { heading, text: above + page, shown: [[id, 1]], next, record }
}

const TEXT_MAX = 2_000
/** Of the budget, for what stands above a payload: its labels, and its text. */
const SHARE_ABOVE = 0.25

function beginning(text: string, budget: number): string {
  const { page, next } = pageOf(text, 0, Math.ceil(budget * SHARE_ABOVE))
  return next === null ? page : `${page}…`
}

/**
 * Events and documents that exist and that the projects read, with payloads.
 * @param projects none: everything. @param ids numbers. @param now epoch ms, for ages
 */
export function readable(
  ctx: ReadContext,
  projects: readonly string[],
  ids: readonly number[],
  now = 0,
): Row[] {
  const wanted = [...new Set(ids)].sort((a, b) => a - b)
  const masked = new Set(ctx.names.masked())
  const { groups } = compilePlan(
    projects.length ? { project: projects } : {},
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
  const mayRead = (row: StoredRow): boolean => {
    if (projects.length === 0) return true
    const own = new Set(labelIdsOf(row.labels))
    return groups.every((group) => group.some((label) => own.has(label)))
  }
  const rows = ctx.rows
    .read(wanted, true)
    .filter((row) => row && !masked.has(row.source_id) && mayRead(row))
    .map((row) => presentRow(row, ctx.dictionary, ctx.names, now))
  const found = new Set(rows.map(({ id }) => id))
  const documents = wanted
    .filter((number) => !found.has(`evt_${number}`))
    .flatMap((number) => readableDocument(ctx, projects, number, now) ?? [])
  return [...rows, ...documents]
}
