/** Folds in a text that a model was shown: lines that stand for several events, and what gives all of those. */
import type { ReadRequest } from '../../schemas/types.ts'

export interface FoldInText {
  /** Events it stands for. */
  count: number
  /** The first and last of them: the cursor that gives all. */
  cursor: string
}

/** As `foldText` of schemas/event-line.ts writes them. */
const FOLD = /\(×(\d{1,9}) (evt_\d{1,15}\.\.evt_\d{1,15}) since /g

/** Each once, in the order of the text. */
export function foldsIn(text: string): FoldInText[] {
  const found = new Map<string, FoldInText>()
  for (const [, count, cursor] of text.matchAll(FOLD))
    found.set(cursor!, { count: Number(count), cursor: cursor! })
  return [...found.values()]
}

/**
 * What is read to unfold them: as a call of `read` said, else the entity of the run.
 * @param args of the call; null: the text is none of a call
 */
export function unfolding(
  args: Record<string, unknown> | null,
  entity: { label: string; value: string },
): ReadRequest {
  const { selector, sources, event_types, text } = (args ?? {}) as Partial<ReadRequest>
  const narrowed = { ...(event_types ? { event_types } : {}), ...(text ? { text } : {}) }
  if (selector && Object.keys(selector).length)
    return { selector, ...(sources ? { sources } : {}), ...narrowed }
  if (sources?.length) return { sources, ...narrowed }
  return { selector: { [entity.label]: entity.value }, ...narrowed }
}
