/** What runs over a pack came to: by variant, as JSON that can be scored again, as JUnit, as one page of HTML. */
import { escapeText } from '../../schemas/plain-text.ts'
import type { EvalRun } from './run.ts'
import { type Comparison, compare, type Interval, intervalOf, meanOf } from './statistics.ts'

export interface EvalReport {
  version: 1
  /** ISO 8601. */
  at: string
  /** Of svc. */
  release: string
  pack: string
  noise: number[]
  spentUsd: number
  /** The money was spent before all was run. */
  stopped: boolean
  runs: EvalRun[]
}

export interface VariantFigures {
  variant: string
  noise: number
  scenarios: number
  runs: number
  /** Mean of the scores for the cause. */
  cause: Interval
  /** Runs that pass: right outcome, and the cause named with nothing else; of them all. */
  pass: number
  /** Scenarios of which every repeat passes. */
  passAll: number
  /** Scenarios that pass now and then. */
  flaky: number
  falseAlarms: number
  evidenceRecall: number
  evidencePrecision: number
  falseClaims: number
  confidentlyWrong: number
  decoys: number
  reached: number
  /** Means of a run. */
  inputTokens: number
  rounds: number
  calls: number
  /** Null where a run is not priced. */
  usd: number | null
  ms: number
}

/** Whether a run is right, with nothing wrong besides. */
export const passes = ({ score, status }: EvalRun): boolean =>
  status === 'succeeded' && score.outcome && score.cause === 1

export function figuresByVariant(runs: readonly EvalRun[]): VariantFigures[] {
  return [...groups(runs, ({ variant, noise }) => `${noise} ${variant}`).values()].map((some) => {
    const { variant, noise } = some[0]!
    const byScenario = [...groups(some, ({ scenario }) => scenario).values()]
    const rates = byScenario.map((of) => meanOf(of.map((run) => Number(passes(run)))))
    const mean = (of: (run: EvalRun) => number) => meanOf(some.map(of))
    return {
      ...{ variant, noise, scenarios: byScenario.length, runs: some.length },
      cause: intervalOf(byScenario.map((of) => meanOf(of.map(({ score }) => score.cause)))),
      pass: mean((run) => Number(passes(run))),
      passAll: rates.filter((rate) => rate === 1).length,
      flaky: rates.filter((rate) => rate > 0 && rate < 1).length,
      falseAlarms: some.filter(({ score }) => score.falseAlarm).length,
      evidenceRecall: mean(({ score }) => score.evidenceRecall),
      evidencePrecision: mean(({ score }) => score.evidencePrecision),
      falseClaims: mean(({ score }) => score.falseClaims),
      confidentlyWrong: some.filter(({ score }) => score.confidentlyWrong).length,
      decoys: some.filter(({ score }) => score.decoys > 0).length,
      reached: mean(({ score }) => score.reached),
      inputTokens: Math.round(mean(({ inputTokens }) => inputTokens)),
      rounds: mean(({ rounds }) => rounds),
      calls: mean(({ calls }) => calls),
      usd: some.every(({ usd }) => usd !== null) ? mean(({ usd }) => usd!) : null,
      ms: Math.round(mean(({ ms }) => ms)),
    }
  })
}

/** A variant against the same of another report, or against another of this one, by scenario. */
export function compareRuns(first: readonly EvalRun[], second: readonly EvalRun[]): Comparison {
  const scores = (runs: readonly EvalRun[]) =>
    new Map(
      [...groups(runs, ({ scenario, noise }) => `${noise} ${scenario}`)].map(([id, of]) => [
        id,
        meanOf(of.map(({ score }) => score.cause)),
      ]),
    )
  return compare(scores(first), scores(second))
}

/** One test case for each scenario and variant; what passes now and then is skipped, with its reason. */
export function junitOf({ runs, at }: EvalReport): string {
  const cases = [...groups(runs, ({ variant, noise, scenario }) => `${variant}\0${noise}\0${scenario}`)]
  const lines = cases.map(([, of]) => {
    const { variant, noise, scenario } = of[0]!
    const passed = of.filter(passes).length
    const seconds = of.reduce((sum, { ms }) => sum + ms, 0) / 1000
    const head = `    <testcase classname="${xml(`${variant}.${noise}`)}" name="${xml(scenario)}" time="${seconds.toFixed(3)}"`
    if (passed === of.length) return `${head}/>`
    const why = xml(of.filter((run) => !passes(run)).map(faultOf)[0]!)
    return passed > 0
      ? `${head}><skipped message="flaky: ${passed} of ${of.length} pass; ${why}"/></testcase>`
      : `${head}><failure message="${why}"/></testcase>`
  })
  const failures = lines.filter((line) => line.includes('<failure')).length
  const skipped = lines.filter((line) => line.includes('<skipped')).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${lines.length}" failures="${failures}" skipped="${skipped}">`,
    `  <testsuite name="svc evals" timestamp="${xml(at)}" tests="${lines.length}" failures="${failures}" skipped="${skipped}">`,
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Why a run does not pass, in a sentence. */
export function faultOf({ status, error, score, outcome }: EvalRun): string {
  if (status !== 'succeeded') return `run ${status}: ${error ?? 'it gave no reason'}`
  if (!score.outcome) return `it came to ${outcome}, which is not what it should`
  if (score.decoys) return 'it names an innocent event as the cause'
  if (score.cause > 0) return 'it names more than the cause'
  if (score.reached === 0) return 'nothing of the truth was shown to it'
  return score.evidenceRecall > 0
    ? 'it cites the truth, and not as the cause'
    : 'it cites nothing of the truth'
}

/** One file without scripts or addresses: a grid of scenarios and variants, and why each does not pass. */
export function htmlOf(report: EvalReport): string {
  const columns = [...new Set(report.runs.map(({ variant, noise }) => `${variant}\0${noise}`))]
  const rows = groups(report.runs, ({ scenario }) => scenario)
  const head = columns.map((column) => `<th>${xml(column.replace('\0', ' · '))}</th>`).join('')
  const body = [...rows].map(([scenario, of]) => {
    const cells = columns.map((column) => {
      const some = of.filter(({ variant, noise }) => `${variant}\0${noise}` === column)
      const passed = some.filter(passes).length
      const kind = some.length === 0 ? 'none' : passed === some.length ? 'pass' : passed ? 'flaky' : 'fail'
      const why = some.filter((run) => !passes(run)).map(faultOf)[0] ?? ''
      const said = some.length === 0 ? 'not run' : some.length === 1 ? kind : `${passed}/${some.length}`
      return `<td class="${kind}">${said}${why ? `<small>${xml(why)}</small>` : ''}</td>`
    })
    return `<tr><th>${xml(scenario)}<small>${xml(of[0]!.kind)}${of[0]!.heldOut ? ', held out' : ''}</small></th>${cells.join('')}</tr>`
  })
  const figures = figuresByVariant(report.runs).map(
    ({ variant, noise, cause, pass, inputTokens, usd }) =>
      `<li>${xml(variant)}, ${noise.toLocaleString('en')} events around: cause ${cause.mean.toFixed(2)} (${cause.low.toFixed(2)}–${cause.high.toFixed(2)}), ${Math.round(pass * 100)} % pass, ${inputTokens.toLocaleString('en')} tokens a run${usd === null ? '' : `, $${usd.toFixed(4)}`}</li>`,
  )
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>svc evals</title>
<style>
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .35rem .6rem; text-align: left; vertical-align: top }
small { display: block; font-weight: normal; opacity: .75 }
.pass { background: #2f9e4433 } .fail { background: #e0313133 } .flaky { background: #f08c0033 }
</style>
<h1>svc evals</h1>
<p>${xml(report.pack)}, svc ${xml(report.release)}, ${xml(report.at)}${report.stopped ? '. Stopped before the end: the money was spent' : ''}</p>
<ul>${figures.join('\n')}</ul>
<table><thead><tr><th>Scenario</th>${head}</tr></thead><tbody>
${body.join('\n')}
</tbody></table>
</html>
`
}

/** Text for XML and HTML; characters that XML 1.0 has not are shown as escapes. */
const xml = (text: string): string =>
  escapeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

function groups<T>(all: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const map = new Map<string, T[]>()
  for (const one of all) {
    const group = map.get(key(one))
    if (group) group.push(one)
    else map.set(key(one), [one])
  }
  return map
}
