/** What gives the events that lines of a text stand for, which a model was shown. */
import type { ReadRequest } from '../../schemas/types.ts'

/**
 * What is read to unfold them: as a call of `read` said, else the entity of the run.
 * @param args of the call; null: the text is none of a call
 */
export function unfolding(
  args: Record<string, unknown> | null,
  entity: { label: string; value: string },
): ReadRequest {
  return readOf(args) ?? { ...narrowing(args), selector: { [entity.label]: entity.value } }
}

/** The same of a call alone; null: it names neither labels nor sources, as a call with a cursor need not. */
export function readOf(args: Record<string, unknown> | null): ReadRequest | null {
  const { selector, sources } = (args ?? {}) as Partial<ReadRequest>
  if (selector && Object.keys(selector).length)
    return { selector, ...(sources ? { sources } : {}), ...narrowing(args) }
  return sources?.length ? { sources, ...narrowing(args) } : null
}

function narrowing(
  args: Record<string, unknown> | null,
): Pick<ReadRequest, 'event_types' | 'text' | 'project'> {
  const { event_types, text, project } = (args ?? {}) as Partial<ReadRequest>
  return {
    ...(event_types ? { event_types } : {}),
    ...(text ? { text } : {}),
    ...(project ? { project } : {}),
  }
}
