/** What the runs of a report of svc evals came to: by agent, by scenario and agent, and against another report. */
import { type Comparison, compare, type Interval, intervalOf, meanOf } from './eval-statistics.ts'
import { grouped } from './grouped.ts'
import type { EvalReport, EvalRun } from './types.ts'

export interface VariantFigures {
  variant: string
  /** A script answered, no model. */
  scripted: boolean
  noise: number
  scenarios: number
  /** Those that are judged: runs whose tape no longer fits are left out of all figures but `stale`. */
  runs: number
  stale: number
  /** Mean of the scores for the cause. */
  cause: Interval
  /** Runs that pass: right outcome, and the cause named with nothing else; of them all. */
  pass: number
  /** Scenarios of which every repeat passes. */
  pass_all: number
  /** Scenarios of which some repeats pass and others do not. */
  flaky: number
  false_alarms: number
  evidence_recall: number
  evidence_precision: number
  false_claims: number
  confidently_wrong: number
  decoys: number
  reached: number
  /** Means of a run. */
  input_tokens: number
  rounds: number
  calls: number
  /** Null where a run is not priced. */
  usd: number | null
  ms: number
}

/** Whether a run is right, with nothing wrong besides. A run whose tape no longer fits is not. */
export const passes = ({ score, status, stale, over = null }: EvalRun): boolean =>
  stale === null && status === 'succeeded' && score.outcome && score.cause === 1 && over === null

/** Figures of each agent at each level of noise, in the order of their first runs. */
export function figuresByVariant(runs: readonly EvalRun[]): VariantFigures[] {
  return [...grouped(runs, ({ variant, noise }) => `${noise} ${variant}`).values()].map(figuresOfVariant)
}

function figuresOfVariant(all: readonly EvalRun[]): VariantFigures {
  const { variant, noise, scripted } = all[0]!
  const some = all.filter(({ stale }) => stale === null)
  const byScenario = [...grouped(some, ({ scenario }) => scenario).values()]
  const rates = byScenario.map((of) => meanOf(of.map((run) => Number(passes(run)))))
  const mean = (of: (run: EvalRun) => number) => meanOf(some.map(of))
  return {
    ...{ variant, scripted, noise, scenarios: byScenario.length, runs: some.length },
    stale: all.length - some.length,
    cause: intervalOf(byScenario.map((of) => meanOf(of.map(({ score }) => score.cause)))),
    pass: mean((run) => Number(passes(run))),
    pass_all: rates.filter((rate) => rate === 1).length,
    flaky: rates.filter((rate) => rate > 0 && rate < 1).length,
    false_alarms: some.filter(({ score }) => score.false_alarm).length,
    evidence_recall: mean(({ score }) => score.evidence_recall),
    evidence_precision: mean(({ score }) => score.evidence_precision),
    false_claims: mean(({ score }) => score.false_claims),
    confidently_wrong: some.filter(({ score }) => score.confidently_wrong).length,
    decoys: some.filter(({ score }) => score.decoys > 0).length,
    reached: mean(({ score }) => score.reached),
    input_tokens: Math.round(mean(({ input_tokens }) => input_tokens)),
    rounds: mean(({ rounds }) => rounds),
    calls: mean(({ calls }) => calls),
    usd: some.every(({ usd }) => usd !== null) ? mean(({ usd }) => usd!) : null,
    ms: Math.round(mean(({ ms }) => ms)),
  }
}

/** Scores for the cause in `second` against those in `first`, over the scenarios and levels that both have. */
export function compareRuns(first: readonly EvalRun[], second: readonly EvalRun[]): Comparison {
  return compare(causeByScenario(first), causeByScenario(second))
}

/** What became of each agent that both reports have. */
export function compareReports(
  before: Pick<EvalReport, 'runs'>,
  after: Pick<EvalReport, 'runs'>,
): (Comparison & { variant: string })[] {
  const first = grouped(before.runs, ({ variant }) => variant)
  return [...grouped(after.runs, ({ variant }) => variant)].flatMap(([variant, runs]) =>
    first.has(variant) ? [{ variant, ...compareRuns(first.get(variant)!, runs) }] : [],
  )
}

function causeByScenario(runs: readonly EvalRun[]): Map<string, number> {
  const judged = runs.filter(({ stale }) => stale === null)
  const scenarios = grouped(judged, ({ scenario, noise }) => `${noise} ${scenario}`)
  return new Map([...scenarios].map(([id, of]) => [id, meanOf(of.map(({ score }) => score.cause))]))
}

/** flaky: some repeats pass. stale: no tape fits any more, so that nothing is known. none: it was not run. */
export type CellState = 'pass' | 'flaky' | 'fail' | 'stale' | 'none'

export interface Cell {
  state: CellState
  /** Repeats that pass, of those that are judged. */
  passed: number
  judged: number
  stale: number
  /** Mean score for the cause of those that are judged; null: none is. */
  cause: number | null
  /** Why it is neither pass nor none, in a sentence. */
  why: string | null
}

/** What the repeats of one scenario with one agent came to. */
export function cellOf(runs: readonly EvalRun[]): Cell {
  const judged = runs.filter(({ stale }) => stale === null)
  const passed = judged.filter(passes).length
  const fault = judged.find((run) => !passes(run)) ?? runs.find(({ stale }) => stale !== null)
  const state =
    judged.length === 0
      ? runs.length
        ? 'stale'
        : 'none'
      : passed === 0
        ? 'fail'
        : passed < judged.length
          ? 'flaky'
          : runs.length > judged.length
            ? 'stale'
            : 'pass'
  return {
    ...{ state, passed, judged: judged.length, stale: runs.length - judged.length },
    cause: judged.length ? meanOf(judged.map(({ score }) => score.cause)) : null,
    why: fault ? faultOf(fault) : null,
  }
}

/** Why a run does not pass, in a sentence. */
export function faultOf({ status, error, score, outcome, stale, over = null }: EvalRun): string {
  if (stale !== null) return stale
  if (status !== 'succeeded') return `run ${status}: ${error ?? 'it gave no reason'}`
  if (!score.outcome)
    return outcome === 'finding'
      ? 'it reports a finding, and there is none to report'
      : outcome === 'no_op'
        ? 'it reports nothing, and there is a cause to find'
        : 'it came to no conclusion'
  if (score.decoys) return 'it names an innocent event as the cause'
  if (over !== null && score.cause === 1) return over
  if (score.cause > 0) return 'it names other events as causes besides the cause'
  if (score.reached === 0) return 'no event of the truth was shown to it'
  return score.evidence_recall > 0
    ? 'it cites events of the truth, but not as the cause'
    : 'it cites no event of the truth'
}
