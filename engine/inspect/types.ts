/** What is asked of the tools that look, and what they answer. */
import type { InspectedRecord, InspectRequest } from '../../schemas/types.ts'
import type { Query } from '../store/scan.ts'
import type { ReadContext } from '../timeline/context.ts'
import { parseDuration } from '../timeline/duration.ts'
import { compilePlan, type Plan, parseInstant, queryOf, resolveWindow } from '../timeline/plan.ts'

export type InspectQuestion = Omit<InspectRequest, 'project'>

/** Events that a text names, with how many each stands for. */
export type Named = [id: string, count: number][]

/** The heading is ours; the text is data of other systems, and is fenced where a model is shown it. */
export interface Looked {
  heading: string
  text: string
  shown: Named
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
export function planOf({ ctx, projects, question }: Around): Plan {
  const { selector, sources, event_types } = question
  return compilePlan(
    {
      ...(selector && Object.keys(selector).length ? { selector: selector as Record<string, string> } : {}),
      ...(sources?.length ? { sources } : {}),
      ...(event_types?.length ? { event_types } : {}),
      ...(projects.length ? { project: projects } : {}),
    },
    ctx.db,
    ctx.dictionary,
    ctx.names,
  )
}

export const queryIn = (plan: Plan, from: number, to: number, { ceiling }: Around): Query =>
  queryOf(plan, { from, to }, ceiling)

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
