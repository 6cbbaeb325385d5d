/** What a run is worth, by comparison of its rows with the truth of its incident; no judge. */
import type { CheckedClaim, EvalScore, RunDetail } from '../../schemas/types.ts'
import type { Outcome } from './incident.ts'
import type { TruthEvents } from './truth.ts'

/** Whether a text says that the cause was not found. */
const UNKNOWN =
  /\b(unknown|not known|undetermined|inconclusive|no cause (was |is )?(found|shown)|cause (was |is )?not (found|shown|in|known)|nothing (says|shows) why|cannot (tell|say|determine))\b/i

type Scored = Pick<RunDetail, 'outcome' | 'verdict' | 'headline' | 'finding' | 'steps'> & {
  claims: readonly Pick<CheckedClaim, 'role' | 'events' | 'ok'>[]
}

/**
 * @param idOf the id that an event of the truth has in the store of the run
 * @param outcome what the run should come to
 */
export function scoreRun(
  run: Scored,
  truth: TruthEvents,
  outcome: Outcome,
  idOf: (id: string) => string,
): EvalScore {
  const asStored = (ids: ReadonlySet<string>) => new Set([...ids].map(idOf))
  const facts = truth.facts.map(({ events }) => asStored(events))
  const causes = truth.causes.map(({ events }) => asStored(events))
  const decoys = asStored(truth.decoys)
  const cited = new Set(run.claims.flatMap(({ events }) => events))
  const shown = shownIn(run)
  const named = run.claims.filter(({ role }) => role === 'cause')
  const holding = named.filter(({ ok }) => ok)
  const hits = causes.filter((events) => holding.some((claim) => claim.events.some((id) => events.has(id))))
  const rightlyNamed = named.filter((claim) =>
    causes.some((events) => claim.events.some((id) => events.has(id))),
  )
  const isFinding = run.outcome === 'finding'
  const isRight =
    outcome === 'finding'
      ? isFinding
      : outcome === 'no_op'
        ? run.outcome === 'no_op'
        : run.outcome === 'no_op' || saysUnknown(run)
  const all = causes.length > 0 && hits.length === causes.length
  const cause = causes.length ? (all ? rightlyNamed.length / named.length : 0) : isRight ? 1 : 0
  const truthIds = new Set([...facts, ...causes].flatMap((events) => [...events]))
  const falseOnes = run.claims.filter(({ ok }) => !ok).length
  return {
    cause,
    outcome: isRight,
    false_alarm: outcome === 'no_op' && isFinding,
    evidence_recall: share(facts, (events) => [...cited].some((id) => events.has(id))),
    evidence_precision: share([...cited], (id) => truthIds.has(id)),
    false_claims: run.claims.length ? falseOnes / run.claims.length : 0,
    confidently_wrong: causes.length > 0 && cause === 0 && run.claims.length > 0 && falseOnes === 0,
    decoys: named.filter((claim) => claim.events.some((id) => decoys.has(id))).length,
    reached: share(facts, (events) => [...events].some((id) => shown.has(id))),
  }
}

const saysUnknown = ({ verdict, headline, finding }: Scored): boolean =>
  UNKNOWN.test([verdict, headline, finding].filter(Boolean).join('\n'))

/** Ids of the events in the first message of a run and in what tools answered it. */
export function shownIn({ steps }: Pick<Scored, 'steps'>): Set<string> {
  const ids = new Set<string>()
  for (const step of steps)
    for (const text of [step.data.message, step.data.result])
      if (typeof text === 'string') for (const id of text.match(/\bevt_\d+/g) ?? []) ids.add(id)
  return ids
}

function share<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.length ? all.filter(holds).length / all.length : 1
}
