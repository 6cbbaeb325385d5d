/** What the brief would say of any window: the same algorithm over what is asked for, against the time before. */
import { cautiousTokens, makeBriefInSteps, NOBODY, renderBrief, windowsOf } from '../context/index.ts'
import { fail } from '../errors.ts'
import { contextRows } from '../timeline/context-rows.ts'
import { iso } from '../timeline/present.ts'
import { setSpans } from '../timeline/spans.ts'
import type { Steps } from '../timeline/steps.ts'
import { namedCuts, wideRows } from '../timeline/wide-rows.ts'
import { type Around, baselineOf, type Looked, planOf, queryIn, windowOf } from './types.ts'

/** Rows looked at, of each source the newest: as many as for a run's first message. */
const ROWS = 200_000
const SHORTEST_MS = 60_000
const LONGEST_MS = 30 * 86_400_000

/** @throws SvcError invalid, not_found */
export function* changedInSteps(around: Around): Steps<Looked> {
  const { ctx, question, budget } = around
  const { from, to, until } = windowOf(around)
  const length = to - from
  if (length < SHORTEST_MS)
    fail('invalid', 'the window must be at least 1m: less holds too little to compare', { field: 'window' })
  const before = baselineOf(around, length)
  if (length + before > LONGEST_MS)
    fail('invalid', 'window and baseline must be at most 30d together', { field: 'baseline' })
  const query = queryIn(planOf(around), from - before, until, around)
  // Of one label asked for, it is the entity: its own lines need not say so.
  const asked = Object.entries(question.selector ?? {})
  const [label, entity] = asked.length === 1 && asked[0]![0] !== 'key_value' ? asked[0]! : ['', NOBODY]
  const heading = `What changed in ${iso(from)} to ${iso(to)} against the ${lengthText(before)} before, times in UTC. Two ids of a line are its first and last event, of a number one that is usual and one that is not`
  const toRow = contextRows(ctx.dictionary, ctx.names, label)
  const { rows, cuts } = yield* wideRows(ctx, query, ROWS, (ids) => ctx.rows.texts(ids, toRow))
  yield* setSpans(ctx, rows, to)
  yield
  const brief = yield* makeBriefInSteps({
    rows,
    ...{ entity: String(entity), label, now: to },
    budget: budget - cautiousTokens(`${heading}\n`),
    windows: windowsOf(length / 1000, before / 1000),
    cuts: namedCuts(ctx, cuts),
  })
  return {
    ...{ heading, from, to },
    text: rows.length ? renderBrief(brief) : 'no events',
    shown: brief.sections.flatMap(({ lines }) => lines.flatMap((line) => line.shown)),
  }
}

/** As people say a length: 90s, 2h. @param ms */
export function lengthText(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const)
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  return `${Math.round(ms / 1000)}s`
}
