/** How much of what one must see a first message shows: recall of labelled facts, over a pack; no model. */

import { cellOf, figuresByVariant } from '../../../schemas/eval-figures.ts'
import { figuresByLevel, levelName, rulesByLevel, rulesLine } from '../../../schemas/eval-levels.ts'
import { grouped } from '../../../schemas/grouped.ts'
import { escapeText } from '../../../schemas/plain-text.ts'
import type {
  CheckedClaim,
  EvalMeasured,
  EvalReport,
  EvalRun,
  EvalScore,
  RunDetail,
} from '../../../schemas/types.ts'
import { cautiousTokens } from '../../log/brief/brief.ts'
import {
  briefShown,
  type Decoy,
  type Fact,
  type Incident,
  type Loaded,
  loadedWith,
  type Outcome,
  type Pack,
  patternOf,
  type Truth,
  type TruthEvents,
  truthOf,
  type WayName,
  ways,
} from './incident.ts'

interface MeasureOptions {
  /** Lines of noise around each incident. */
  noise: readonly number[]
  /** Tokens. */
  budgets: readonly number[]
  ways?: readonly WayName[]
  /** Milliseconds, for how long each took. */
  clock(): number
  /** Tokens of a text; the cautious count when absent. */
  tokensOf?(text: string): number
  /** Told after each incident. */
  onIncident?(id: string): void
}

/** Each incident at each level of noise and budget, shown in each way. */
export function measure(pack: Pack, options: MeasureOptions): EvalMeasured[] {
  const { noise, budgets, clock, tokensOf = cautiousTokens } = options
  const measured: EvalMeasured[] = []
  for (const { id, load } of pack.incidents) {
    const incident = load()
    const { kind, entity } = incident.truth
    const facts = incident.truth.facts.filter(({ weak }) => !weak)
    for (const level of facts.length ? noise : []) {
      const loaded = loadedWith(incident, pack.noise, level, pack.variant)
      const begins = rootServices(loaded, incident.truth)
      for (const way of options.ways ?? (['brief', 'plain'] as const))
        for (const budget of budgets) {
          const began = clock()
          const { text, suspects } =
            way === 'brief' ? briefShown(loaded, budget) : { text: ways[way](loaded, budget), suspects: null }
          const ms = clock() - began
          const seen = factsIn(text, facts, entity)
          const roots = seen.filter(({ role }) => role === 'root')
          const shown = seen.filter(({ shown }) => shown).length
          measured.push({
            ...{ id, kind, way, budget, ms, noise: level },
            ...{ shown, recall: shown / seen.length },
            position: positionOf(text, facts, entity),
            rank: suspects && begins.size > 0 ? rankIn(suspects, begins) : null,
            root: roots.length ? roots.some(({ shown }) => shown) : null,
            tokens: tokensOf(text),
            missed: seen.filter(({ shown }) => !shown).map((fact) => fact.id),
          })
        }
    }
    options.onIncident?.(id)
  }
  return measured
}

/** Services of the events of its roots, where the truth does not say in which it began. */
function rootServices(loaded: Loaded, truth: Truth): ReadonlySet<string> {
  if (truth.root_services) return new Set(truth.root_services)
  const roots = truth.facts.filter(({ role }) => role === 'root')
  const ids = new Set(truthOf(loaded, { facts: roots }).causes.flatMap(({ events }) => [...events]))
  return new Set(loaded.events.flatMap(({ id, labels }) => (ids.has(id) && labels.service) || []))
}

/** @returns place of the first of them, from 1; 0: none is among the suspects */
const rankIn = (suspects: readonly string[], begins: ReadonlySet<string>): number =>
  1 + suspects.findIndex((one) => begins.has(one))

/** @returns where the first line is that shows a root, as a share of the text; null: none does */
function positionOf(text: string, facts: readonly Fact[], entity: string): number | null {
  const roots = facts.filter(({ role }) => role === 'root')
  let before = 0
  for (const line of text.split('\n')) {
    if (factsIn(line, roots, entity).some(({ shown }) => shown)) return before / text.length
    before += line.length + 1
  }
  return null
}

/* Which facts a text shows: by patterns over its lines, with times blanked; no judge. */

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d\d:\d\d(:\d\d)?\b/g
const NUMBER = /(?<![\w./:#])-?\d+(?:\.\d+)?(?![\w/:#])/g
const EVENT_ID = /evt_\d+/g

interface SeenFact {
  id: string
  role: Fact['role']
  shown: boolean
}

/** @param entity that lines without a service are of. */
export function factsIn(text: string, facts: readonly Fact[], entity: string): SeenFact[] {
  const lines = text
    .split('\n')
    .map((line) => (line.startsWith('evt_') && !/service=/.test(line) ? `${line} {service=${entity}}` : line))
  return facts.map((fact) => ({
    id: fact.id,
    role: fact.role,
    shown: fact.num ? showsNumber(lines, fact.num) : showsLine(lines, fact),
  }))
}

function showsLine(lines: readonly string[], { line = [], gone, and }: Fact): boolean {
  const patterns = [...line, ...(gone && and ? [and] : [])].map(patternOf)
  return lines.some((one) => patterns.every((pattern) => pattern.test(one)))
}

function showsNumber(
  lines: readonly string[],
  { names, usual, abnormal }: NonNullable<Fact['num']>,
): boolean {
  const patterns = names.map(patternOf)
  const numbers = lines
    .filter((line) => patterns.every((pattern) => pattern.test(line)))
    .flatMap((line) => line.replace(TIME, '~').replace(EVENT_ID, '').match(NUMBER) ?? [])
    .map(Number)
  const within = ([low, high]: [number, number]) => numbers.some((value) => value >= low && value <= high)
  return within(usual) && within(abnormal)
}

/* What a run is worth, by comparison of its rows with the truth of its incident; no judge. */

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

/* How hard a scenario is, from what it holds: nobody says it of incidents that others made. */

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

/* What runs over a pack came to, as JUnit and as one page of HTML. */

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
