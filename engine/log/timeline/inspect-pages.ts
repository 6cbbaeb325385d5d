/** Texts and lists in pages that hold no more than a number of tokens. */

import { gapsSaid } from '../../../schemas/event-line.ts'
import type { InspectedRecord, InspectRequest, SourceGap } from '../../../schemas/types.ts'
import type { Row } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { parseDuration } from '../../model/units.ts'
import { redact } from '../../net/redact.ts'
import { cautiousTokens, type Shown } from '../brief/brief.ts'
import type { EntityRules } from '../entity-rules.ts'
import type { Steps } from '../steps.ts'
import type { Query } from '../store/scan.ts'
import { projectScope, type ReadContext } from './context.ts'
import { readDocument, readDocuments } from './documents.ts'
import { matchingQuery } from './fit.ts'
import {
  compilePlan,
  gapsIn,
  type Narrowing,
  type Plan,
  parseInstant,
  queryOf,
  resolveWindow,
  silenceOf,
} from './plan.ts'
import { parseEventId } from './present.ts'

export const cursorOf = (at: number): string => `at:${at}`

/** Where a page begins. @throws SvcError invalid */
export function placeOf({ cursor }: Pick<InspectQuestion, 'cursor'>): number {
  if (cursor === undefined) return 0
  const at = /^at:(\d{1,9})$/.exec(cursor)?.[1]
  return at === undefined
    ? fail('invalid', 'cursor must be next_cursor of an earlier answer of this tool', { field: 'cursor' })
    : Number(at)
}

/** As many characters as surely hold a token: a page is looked for among these. */
const MOST_PER_TOKEN = 6

/**
 * One page of a text, from a character on; cut behind a line or a space where there is one near its end.
 * @returns the page, and where the next begins; null: there is none
 */
export function pageOf(text: string, from: number, budget: number): { page: string; next: number | null } {
  const rest = text.slice(from, from + budget * MOST_PER_TOKEN)
  let low = 1
  let high = rest.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (cautiousTokens(rest.slice(0, middle)) <= budget) low = middle
    else high = middle - 1
  }
  let end = Math.max(1, low)
  if (from + end >= text.length) return { page: rest.slice(0, end), next: null }
  const near = Math.max(rest.lastIndexOf('\n', end - 1), rest.lastIndexOf(' ', end - 1)) + 1
  if (near > end * 0.8) end = near
  // No half of a pair of surrogates.
  else if (/[\uD800-\uDBFF]/.test(rest[end - 1]!) && end > 1) end--
  return { page: rest.slice(0, end), next: from + end }
}

/** Lines from one on, as long as they fit; at least one. */
export function linesOf(
  lines: readonly string[],
  from: number,
  budget: number,
): { lines: string[]; next: number | null } {
  const kept: string[] = []
  let tokens = 0
  for (const line of lines.slice(from)) {
    tokens += cautiousTokens(`${line}\n`)
    if (tokens > budget && kept.length) return { lines: kept, next: from + kept.length }
    kept.push(line)
  }
  return { lines: kept, next: null }
}

/* What is asked of the tools that look, and what they answer. */

export type InspectQuestion = Omit<InspectRequest, 'project'>

/** The heading is ours; the text is data of other systems, and is fenced where a model is shown it. */
export interface Looked {
  heading: string
  text: string
  shown: Shown
  /** Where the next page begins; null: this is the last. */
  next?: number | null
  from?: number
  to?: number
  /** Of one event: the same as fields. */
  record?: InspectedRecord
}

/** What every tool has to work with: what may be read, as of when, and how much of it may be said. */
export interface Around {
  ctx: ReadContext
  /** Ids; none: everything. */
  projects: readonly string[]
  question: InspectQuestion
  /** Windows end at it, epoch ms. */
  now: number
  /** Largest id that is seen. */
  ceiling: number
  /** What had been ingested by it counts, of documents; epoch ms. */
  asOf: number
  /** Tokens of the answer. */
  budget: number
  /** Whether what looks like a secret is taken out before a text is cut into pages. */
  isRedacted: boolean
}

export const DEFAULT_TOKENS = 4_000
const HOUR_MS = 3_600_000
/** Windows where the question names none. */
const LENGTHS = {
  ...{ changed: '15m', series: '1h', trace: '36h', labels: '24h', entities: '24h', sources: '24h' },
  ...{ event: '15m', document: '15m' },
} as const

/** The narrowing that the question makes within the projects. @throws SvcError not_found */
export function inspectPlan(around: Around): Plan {
  const { ctx, question } = around
  const { event_types } = question
  const asked = { ...askedOf(around), ...(event_types?.length ? { event_types } : {}) }
  return compilePlan(asked, ctx.db, ctx.dictionary, ctx.names, rulesOf(around))
}

const askedOf = ({ projects, question: { selector, sources } }: Around): Narrowing => ({
  ...(selector && Object.keys(selector).length ? { selector: selector as Record<string, string> } : {}),
  ...(sources?.length ? { sources } : {}),
  ...(projects.length ? { project: projects } : {}),
})

const rulesOf = ({ ctx, question, asOf }: Around): EntityRules =>
  question.as_of === undefined ? ctx.entities.rules() : ctx.entities.of(ctx.entities.versionAsOf(asOf))

/** What is said of a window in which nothing was found, epoch ms. */
export function silenceIn(around: Around, window: { from: number; to: number }): string {
  const { ctx, ceiling } = around
  const { joined } = inspectPlan(around)
  const said = silenceOf(ctx, askedOf(around), window, { joined, ceiling, rules: rulesOf(around) })
  return [said, gapsSaid(gapsOf(around, window))].filter(Boolean).join('\n')
}

/** When sources of what is asked for took nothing in. @param window epoch ms */
export function gapsOf(around: Around, window: { from: number; to: number }): SourceGap[] {
  const { ctx, ceiling, asOf } = around
  return gapsIn(ctx, askedOf(around), window, { asOf, ceiling, rules: rulesOf(around) })
}

export const queryIn = (plan: Plan, from: number, to: number, { ceiling }: Around): Query =>
  queryOf(plan, { from, to }, ceiling)

/** What the question asks for within a window, epoch ms. @throws SvcError not_found */
export function* askedQuery(around: Around, from: number, to: number): Steps<Query> {
  const plan = inspectPlan(around)
  return yield* matchingQuery(around.ctx, plan, queryIn(plan, from, to, around))
}

/** What is stored after an instant was promised to be closed is a little later than the clock. */
const OPEN_END_MS = 1_000

/** Epoch ms; `until` is what is looked at where the end is not given. @throws SvcError invalid */
export function windowOf({ question, now }: Around): { from: number; to: number; until: number } {
  const { from, to, window, tool } = question
  const isLength = from === undefined && window === undefined
  const found = resolveWindow(
    { ...{ from, to }, window: isLength ? LENGTHS[tool] : window } as Parameters<typeof resolveWindow>[0],
    now,
  )
  const { from: begin, shownTo } = found
  return { from: begin, to: shownTo, until: to === undefined ? shownTo + OPEN_END_MS : shownTo }
}

/** Milliseconds before the window that it is compared with. @throws SvcError invalid */
export function baselineOf({ question: { baseline } }: Around, length: number): number {
  if (baseline !== undefined) return parseDuration(baseline, 'baseline')
  return Math.max(length, Math.min(8 * length, 36 * HOUR_MS))
}

/** As of when. @throws SvcError invalid */
export function instantOf({ as_of }: InspectQuestion, now: number): number {
  return as_of === undefined ? now : parseInstant(as_of, 'as_of')
}

/* Reference documents and skills, whole, in pages; without an id those there are. */

/** @throws SvcError invalid; not_found, also for one that may not be read */
export function document(around: Around): Looked {
  const { id } = around.question
  if (id === undefined) return documentList(around)
  const number = parseEventId(id)
  return number === null ? skill(around, id) : reference(around, id, number)
}

function reference(around: Around, id: string, number: number): Looked {
  const { ctx, projects, now } = around
  const row = readableDocument(ctx, projects, number, now)
  if (!row || Date.parse(row.ingested_at) > around.asOf) {
    const isEvent = around.question.tool === 'document' ? 'be an event, which is no document, or ' : ''
    fail('not_found', `nothing that may be read here has the id ${id}; it may ${isEvent}have been purged`, {
      field: 'id',
    })
  }
  const { name, content } = contentOf(row)
  return pageText(around, `Document ${id}, ${name} of ${row.source}`, content, [[id, 1]])
}

/** A document by its number, whatever its version, of a source that the projects read; null: there is none. */
export function readableDocument(
  ctx: ReadContext,
  projects: readonly string[],
  number: number,
  now: number,
): Row | null {
  const row = readDocument(ctx.db, ctx.names, number, now)
  const source = row && [...ctx.names.all()].find(({ name, deleted }) => name === row.source && !deleted)
  if (!row || !source || ctx.names.masked().includes(source.id)) return null
  if (projects.length && !projectScope(ctx.db, ctx.names, projects).members.includes(source.id)) return null
  return row
}

/** As its connector keeps it (connectors/written.ts). */
function contentOf({ raw = '{}', text }: Row): { name: string; content: string } {
  const { name = '', content = text } = JSON.parse(raw) as { name?: string; content?: string }
  return { name, content }
}

/** A skill that the projects use: who reads without a project has none (SPEC.md, Skill). */
function skill(around: Around, name: string): Looked {
  const { ctx, projects } = around
  const body = ctx.db
    .prepare<[string, string], string>(
      `SELECT json_extract(s.spec, '$.body') FROM skills s
       JOIN project_uses u ON u.kind = 'skill' AND u.name = s.name
       WHERE s.name = ? AND s.state <> 'deleted' AND u.project IN (SELECT value FROM json_each(?)) LIMIT 1`,
    )
    .pluck()
    .get(name, JSON.stringify(projects))
  if (body === undefined)
    fail(
      'not_found',
      `no document or skill that may be read here is ${name}; leave out id to see documents`,
      {
        field: 'id',
      },
    )
  return pageText(around, `Skill ${name}`, body, [])
}

function pageText(around: Around, what: string, whole: string, shown: Looked['shown']): Looked {
  const text = around.isRedacted ? redact(whole) : whole
  const from = placeOf(around.question)
  const heading = `${what}: ${text.length} characters${from ? `, from character ${from}` : ''}`
  const { page, next } = pageOf(text, from, Math.max(50, around.budget - cautiousTokens(`${heading}\n`)))
  return { heading, text: page, shown, next }
}

function documentList(around: Around): Looked {
  const { ctx, projects, question, asOf, budget } = around
  const { selector, sources } = question
  const rows = readDocuments(
    ctx.db,
    ctx.names,
    {
      ...(selector && Object.keys(selector).length ? { selector: selector as Record<string, string> } : {}),
      ...(sources?.length ? { sources } : {}),
      ...(projects.length ? { project: projects } : {}),
      include_payload: true,
    },
    asOf,
  )
  const lines = rows.map((row) => {
    const { name, content } = contentOf(row)
    const labels = Object.entries(row.labels).map(([label, value]) => `${label}=${value}`)
    return redact(`${row.id} ${row.source} ${name}, ${content.length} characters {${labels.join(' ')}}`)
  })
  const heading = `${rows.length} reference documents; give the id of one to read it`
  const page = linesOf(lines, placeOf(question), budget - cautiousTokens(heading))
  const at = placeOf(question)
  return {
    heading,
    text: page.lines.join('\n') || 'none',
    shown: rows.slice(at, at + page.lines.length).map(({ id }): [string, number] => [id, 1]),
    next: page.next,
  }
}
