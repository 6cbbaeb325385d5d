/** When what a read asks about was last seen, where its window has no event: silence and a wrong name look alike. */
import { firstPositions } from '../store/scan.ts'
import type { ReadContext } from './context.ts'
import { compilePlan, type Narrowing, queryOf } from './plan.ts'

const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

/**
 * The newest event with the labels of a selector, or without one of the sources, in whatever window, of whatever
 * type and with whatever words. @param ceiling largest id that the read speaks for.
 * @returns its time, epoch ms; null where there is none; undefined where the index alone does not say it: the
 * value of an entity or of a number label.
 */
export function lastSeenOf(
  ctx: ReadContext,
  { selector, sources, project }: Narrowing,
  ceiling: number,
): number | null | undefined {
  const asked = {
    ...(selector === undefined ? { sources } : { selector }),
    ...(project === undefined ? {} : { project }),
  }
  const plan = compilePlan(asked as Narrowing, ctx.db, ctx.dictionary, ctx.names)
  if (plan.filter) return undefined
  return firstPositions(ctx.index.all(), queryOf(plan, EVER, ceiling), 'desc', 1, null)[0]?.ts ?? null
}
