/**
 * What there is: labels, the values of one, and sources, with what came of each in a window. Counted within what
 * may be read, and so over events, not over what the instance knows.
 */
import { escapeLine } from '../../schemas/plain-text.ts'
import type { Row } from '../calls.ts'
import { cautiousTokens } from '../context/index.ts'
import { fail } from '../errors.ts'
import { redact } from '../redact.ts'
import { iso, presentRow } from '../timeline/present.ts'
import { projectScope } from '../timeline/project-scope.ts'
import { pagesOf, type Steps } from '../timeline/steps.ts'
import { namedCuts, wideRows } from '../timeline/wide-rows.ts'
import { linesOf, placeOf } from './pages.ts'
import { type Around, type Looked, planOf, queryIn, windowOf } from './types.ts'

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
export function* labelsInSteps(around: Around): Steps<Looked> {
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
export function* entitiesInSteps(around: Around): Steps<Looked> {
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
    const value = row.labels[label]
    if (value !== undefined && String(value).startsWith(prefix)) count(values, String(value), row)
  }
  const lines = byEvents(values).map(
    ([value, { events, last }]) =>
      `${label}=${cut(value)}: ${events} events, newest ${last.event_time} ${last.source} ${last.event_type} (${last.id})`,
  )
  return page(around, `${lines.length} values of ${label} ${told}`, lines, window)
}

/** @returns every source that may be read, those that were silent too */
export function* sourcesInSteps(around: Around): Steps<Looked> {
  const { ctx, projects } = around
  const { rows, told, window } = yield* lookedAt(around)
  const sources = new Map<string, Map<string, Counted>>()
  const scope = projects.length ? projectScope(ctx.db, ctx.names, projects) : null
  for (const { id, name, deleted } of ctx.names.all())
    if (!deleted && (!scope || scope.members.includes(id))) at(sources, name)
  for (const row of rows) count(at(sources, row.source), row.event_type, row)
  const lines = [...sources]
    .map(([name, types]) => ({ name, types: byEvents(types), events: sum(types) }))
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1))
    .map(({ name, types, events }) => {
      if (events === 0) return `${name}: nothing in this window`
      const last = types
        .map(([, counted]) => counted.last)
        .reduce((a, b) => (b.event_time > a.event_time ? b : a))
      const some = types.slice(0, TYPES_SHOWN).map(([type, { events: n }]) => `${cut(type)} ${n}`)
      const more = types.length > some.length ? `, and ${types.length - some.length} more types` : ''
      return `${name}: ${events} events, newest ${last.event_time} (${last.id}): ${some.join(', ')}${more}`
    })
  return page(around, `${lines.length} sources ${told}`, lines, window)
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
  const query = queryIn(planOf(around), window.from, until, around)
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
