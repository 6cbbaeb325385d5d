/**
 * What a run is shown first, with `context: brief`: 36 hours of all that it may read, in few tokens. The same
 * question has the same answer, for as long as the events are there: it looks at what had been ingested by an
 * instant, and at nothing of the present.
 */

import type { Row } from '../calls.ts'
import { cautiousTokens, makeBriefInSteps, renderBrief } from '../context/index.ts'
import type { ReadContext } from '../timeline/context.ts'
import { contextRows } from '../timeline/context-rows.ts'
import { readDocuments } from '../timeline/documents.ts'
import { compilePlan, queryOf } from '../timeline/plan.ts'
import { setSpans } from '../timeline/spans.ts'
import type { Steps } from '../timeline/steps.ts'
import { namedCuts, wideRows } from '../timeline/wide-rows.ts'
import { fence, renderRows } from './fence.ts'
import type { BriefAnswer, BriefQuestion, Shown } from './types.ts'

const BACK_MS = 36 * 3_600_000
/** Rows that one brief looks at, of each source the newest. */
export const BRIEF_ROWS = 200_000
/** Of the budget, for documents of the entity. */
const DOCUMENTS_SHARE = 0.2

/** Some rows at a time. @param projects ids; none: everything. */
export function* briefInSteps(
  ctx: ReadContext,
  projects: readonly string[],
  { label, entity, to, asOf, fired, budget }: BriefQuestion,
  most = BRIEF_ROWS,
): Steps<BriefAnswer> {
  const from = to - BACK_MS
  const scope = projects.length ? { project: projects } : {}
  const plan = compilePlan(scope, ctx.db, ctx.dictionary, ctx.names)
  const query = queryOf(plan, { from, to }, ctx.ceilingAt(asOf))
  const documents = fitting(
    readDocuments(ctx.db, ctx.names, { selector: { [label]: entity }, ...scope }, asOf),
    DOCUMENTS_SHARE * budget,
  )
  const toRow = contextRows(ctx.dictionary, ctx.names, label)
  const { rows, cuts } = yield* wideRows(ctx, query, most, (ids) => ctx.rows.texts(ids, toRow))
  yield* setSpans(ctx, rows, to)
  yield
  const above = documents.length ? `${renderRows(documents)}\n` : ''
  const brief = yield* makeBriefInSteps({
    rows,
    ...{ entity, label, fired, now: to },
    budget: budget - cautiousTokens(fence('0'.repeat(16), above)),
    cuts: namedCuts(ctx, cuts),
  })
  const shown = brief.sections.flatMap(({ lines }) => lines.flatMap((line) => line.shown))
  return {
    text: above + renderBrief(brief),
    ...{ from, to },
    shown: [...documents.map(({ id }): Shown[number] => [id, 1]), ...shown],
  }
}

/** Whole documents, as long as they fit. */
function fitting(documents: readonly Row[], budget: number): Row[] {
  const kept: Row[] = []
  let tokens = 0
  for (const row of documents) {
    tokens += cautiousTokens(`${renderRows([row])}\n`)
    if (tokens > budget) break
    kept.push(row)
  }
  return kept
}
