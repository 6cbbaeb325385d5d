/** What runs over a pack came to, as JUnit and as one page of HTML. */
import { cellOf, figuresByVariant } from '../../schemas/eval-figures.ts'
import { figuresByLevel, levelName, rulesByLevel, rulesLine } from '../../schemas/eval-levels.ts'
import { grouped } from '../../schemas/grouped.ts'
import { escapeText } from '../../schemas/plain-text.ts'
import type { EvalReport, EvalRun } from '../../schemas/types.ts'

/** One test case for each scenario and variant; what passes now and then, and what has a tape that no longer fits, is skipped with its reason. */
export function junitOf({ runs, at }: EvalReport): string {
  const cases = [...grouped(runs, ({ variant, noise, scenario }) => `${variant}\0${noise}\0${scenario}`)]
  const lines = cases.map(([, of]) => {
    const { variant, noise, scenario } = of[0]!
    const { state, passed, judged, why } = cellOf(of)
    const seconds = of.reduce((sum, { ms }) => sum + ms, 0) / 1000
    const head = `    <testcase classname="${xml(`${variant}.${noise}`)}" name="${xml(scenario)}" time="${seconds.toFixed(3)}"`
    if (state === 'pass') return `${head}/>`
    const said = xml(why ?? '')
    if (state === 'flaky')
      return `${head}><skipped message="flaky: ${passed} of ${judged} pass; ${said}"/></testcase>`
    if (state === 'stale') return `${head}><skipped message="stale: ${said}"/></testcase>`
    return `${head}><failure message="${said}"/></testcase>`
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

/** One file without scripts or addresses: a grid of scenarios and variants, and why each does not pass. */
export function htmlOf(report: EvalReport): string {
  const columns = [...new Set(report.runs.map(({ variant, noise }) => `${variant}\0${noise}`))]
  const head = columns.map((column) => `<th>${xml(column.replace('\0', ' · '))}</th>`).join('')
  const row = ([scenario, of]: [string, EvalRun[]]) => {
    const cells = columns.map((column) => {
      const some = of.filter(({ variant, noise }) => `${variant}\0${noise}` === column)
      const { state, passed, judged, why } = cellOf(some)
      const said = state === 'none' ? 'not run' : judged > 1 ? `${state} ${passed}/${judged}` : state
      return `<td class="${state}">${said}${why ? `<small>${xml(why)}</small>` : ''}</td>`
    })
    return `<tr><th>${xml(scenario)}<small>${xml(of[0]!.kind)}${of[0]!.held_out ? ', held out' : ''}</small></th>${cells.join('')}</tr>`
  }
  const levels = figuresByLevel(report.runs)
  const causeAt = (level: number | null) =>
    columns.map((column) => {
      const one = levels.find((of) => of.level === level && `${of.variant}\0${of.noise}` === column)
      return `<td>${one ? `cause ${one.cause.toFixed(2)}` : ''}</td>`
    })
  const body = [...grouped(report.runs, ({ level }) => level)]
    .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
    .flatMap(([level, of]) => [
      `<tr class="level"><th>${levelName(level)}</th>${causeAt(level).join('')}</tr>`,
      ...[...grouped(of, ({ scenario }) => scenario)].map(row),
    ])
  const rules = rulesByLevel(report).map((one) => `<li>${xml(rulesLine(one))}</li>`)
  const figures = figuresByVariant(report.runs).map(
    ({ variant, noise, cause, pass, input_tokens, usd }) =>
      `<li>${xml(variant)}, ${noise.toLocaleString('en')} events around: cause ${cause.mean.toFixed(2)} (${cause.low.toFixed(2)}–${cause.high.toFixed(2)}), ${Math.round(pass * 100)} % pass, ${input_tokens.toLocaleString('en')} tokens a run${usd === null ? '' : `, $${usd.toFixed(4)}`}</li>`,
  )
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>svc evals</title>
<style>
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .35rem .6rem; text-align: left; vertical-align: top }
small { display: block; font-weight: normal; opacity: .75 }
.pass { background: #2f9e4433 } .fail { background: #e0313133 } .flaky, .stale { background: #f08c0033 } .level { background: #8882 }
</style>
<h1>svc evals</h1>
<p>${xml(report.pack)}, svc ${xml(report.release)}, ${xml(report.at)}${report.stopped ? '. Stopped before the end: the money was spent' : ''}</p>
<ul>${[...figures, ...rules].join('\n')}</ul>
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
