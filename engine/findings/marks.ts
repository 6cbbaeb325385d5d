/** Whether a finding is right, as a person or a key marks it once it is known. */
import type { FindingMark, MarkWrite, ResultMarked } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { FindingQueries, MarkRow } from './queries.ts'

interface MarksParts {
  clock: Clock
  queries: Pick<FindingQueries, 'byRun' | 'setMark'>
  /** Those of the ids that exist. @param project only what it reads; null: everything */
  events(ids: readonly string[], project: string | null): readonly unknown[]
}

/** @returns null where nobody marked it */
export function presentMark({
  mark,
  mark_note,
  mark_cause,
  marked_at,
  marked_by,
}: MarkRow): FindingMark | null {
  if (mark === null || marked_at === null) return null
  return {
    ...{ mark, note: mark_note, cause: mark_cause },
    ...{ at: new Date(marked_at).toISOString(), by: marked_by ?? '' },
  }
}

/**
 * Marks a result as right, wrong or partly right, or takes its mark away; call inside a transaction.
 * @param by name of who marks it
 * @param own the marker reads what the project reads, and nothing else
 * @throws SvcError not_found where the project has no such result; invalid where the true cause is no event that the
 *   marker may read, and where a note or a cause comes without a mark
 */
export function markFinding(
  { clock, queries, events }: MarksParts,
  project: string,
  runId: string,
  { mark, note, cause }: MarkWrite,
  { by, own }: { by: string; own: boolean },
): ResultMarked {
  const row = queries.byRun(project, runId) ?? fail('not_found', `this project has no result ${runId}`)
  if (mark === null && (note !== undefined || cause !== undefined))
    fail('invalid', 'note and cause belong to a mark: mark must be right, wrong or partly', { field: 'mark' })
  if (cause !== undefined && events([cause], own ? project : null).length === 0)
    fail('invalid', `cause: ${cause} is no event that you may read`, { field: 'cause' })
  const marked: MarkRow =
    mark === null
      ? { mark, mark_note: null, mark_cause: null, marked_at: null, marked_by: null }
      : { mark, mark_note: note ?? null, mark_cause: cause ?? null, marked_at: clock.now(), marked_by: by }
  queries.setMark(project, runId, marked)
  return { ok: true, id: runId, mark: presentMark(marked), before: presentMark(row) }
}

/** A mark in words, for the log of the project. */
export function markWords({ id, mark }: ResultMarked): string {
  if (mark === null) return `took the mark of finding ${id} away`
  const how = mark.mark === 'partly' ? 'partly right' : mark.mark
  return `marked finding ${id} as ${how}${mark.cause === null ? '' : `: the cause was ${mark.cause}`}`
}
