/**
 * The tools that look at what was recorded, for runs, Ask, MCP and HTTP alike: each within what its caller may
 * read, as of an instant, and within a number of tokens. They work in steps, between which others have their turn.
 */
import type { InspectResult } from '../../schemas/types.ts'
import { cautiousTokens } from '../context/index.ts'
import type { ReadContext } from '../timeline/context.ts'
import { iso } from '../timeline/present.ts'
import type { Steps } from '../timeline/steps.ts'
import { changedInSteps } from './changed.ts'
import { document } from './documents.ts'
import { cursorOf } from './pages.ts'
import { event } from './records.ts'
import { seriesInSteps } from './series.ts'
import { entitiesInSteps, labelsInSteps, sourcesInSteps } from './there.ts'
import { traceInSteps } from './trace.ts'
import { type Around, DEFAULT_TOKENS, type InspectQuestion, instantOf, type Looked } from './types.ts'

export type { InspectQuestion } from './types.ts'

const TOOLS: Record<InspectQuestion['tool'], (around: Around) => Steps<Looked>> = {
  changed: changedInSteps,
  series: seriesInSteps,
  trace: traceInSteps,
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
export interface Asking {
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
    events: [...new Map(shown)].map(([id, count]) => ({ id, count })),
    next_cursor: next === null ? null : cursorOf(next),
    ...(from === undefined ? {} : { from: iso(from) }),
    ...(to === undefined ? {} : { to: iso(to) }),
    ...(record === undefined ? {} : { record }),
  }
}
