/** What a run asks for, to be shown first: the brief, or the timeline of its entity alone. */
import type { ReadRequest } from '../../schemas/types.ts'
import { TIMELINE_TOKENS } from './prompt.ts'
import type { BriefQuestion, StartedRun } from './types.ts'

/** What a run that a person started is shown of its entity. */
const ASKED_WINDOW_MS = 86_400_000

export type Asked = { brief: BriefQuestion } | { timeline: Omit<ReadRequest, 'project'> }

/** @returns null where it is of no entity: its summary says what there is */
export function askedFirst(
  run: Pick<StartedRun, 'origin' | 'label' | 'entity' | 'asOf' | 'definition'>,
): Asked | null {
  const { origin, label, entity, asOf, definition } = run
  if (origin.kind === 'schedule' || (origin.kind === 'handoff' && !origin.firing)) return null
  // Without a firing a person asked for it, at the instant it reads as of.
  const { firedAt: to, window } = origin.firing ?? { firedAt: asOf, window: ASKED_WINDOW_MS }
  const known = Math.min(asOf, to)
  if (definition.context !== 'plain')
    return {
      brief: {
        ...{ label, entity, to, asOf: known, budget: TIMELINE_TOKENS },
        fired: origin.firing?.evidence ?? [],
      },
    }
  return {
    timeline: {
      selector: { [label]: entity },
      from: new Date(to - window).toISOString(),
      to: new Date(to).toISOString(),
      as_of: new Date(known).toISOString(),
      max_tokens: TIMELINE_TOKENS,
    },
  }
}
