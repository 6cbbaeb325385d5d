/** How hard a scenario is, from what it holds: nobody says it of incidents that others made. */
import type { Decoy, Incident } from './incident.ts'
import { truthOf } from './truth.ts'
import { loadedWith } from './ways.ts'

/** Several causes, or one that is not in the events. */
const HARDEST = 4
/** One cause is never harder than this. */
const ONE_CAUSE_MAX = 3

/**
 * 4 for several causes, or where the cause is not in the events. Else 1, and one more for each of: the cause shows in no
 * event of the entity that the trigger fires for; it shows only in numbers that moved or lines that stopped; something
 * innocent could be taken for it, or something came late. At most 3.
 * @param decoys its own, where each scenario of its pack has some besides
 * @returns what its truth says, where it says it
 */
export function levelOf(incident: Incident, decoys: readonly Decoy[] = incident.truth.decoys ?? []): number {
  const { truth, events } = incident
  if (truth.level !== undefined) return truth.level
  const loaded = loadedWith(incident, {}, 0)
  const { causes } = truthOf(loaded, truth)
  if (truth.outcome === 'unknown' || causes.length > 1) return HARDEST
  const rootIds = new Set(causes.flatMap((cause) => [...cause.events]))
  const isElsewhere =
    causes.length > 0 &&
    !loaded.events.some(({ id, labels }) => rootIds.has(id) && labels.service === truth.entity)
  const roots = truth.facts.filter(({ role, weak }) => role === 'root' && !weak)
  const isUnsaid = roots.length > 0 && roots.every(({ num, gone }) => num !== undefined || gone === true)
  const misleads = decoys.length > 0 || events.some(({ t, arrives = t }) => arrives > t)
  return Math.min(ONE_CAUSE_MAX, 1 + Number(isElsewhere) + Number(isUnsaid) + Number(misleads))
}
