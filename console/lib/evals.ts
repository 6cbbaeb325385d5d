/** Reports of svc evals as the console shows them: a grid of scenarios and agents, and one run over its timeline. */
import { type Cell, type CellState, cellOf } from '../../schemas/eval-figures.ts'
import { grouped } from '../../schemas/grouped.ts'
import type { EvalEvent, EvalReport, EvalRun, EvalScene } from '../../schemas/types.ts'

/** An agent at a level of noise. */
export interface EvalColumn {
  id: string
  variant: string
  noise: number
  scripted: boolean
}

export interface EvalRow {
  scenario: string
  heldOut: boolean
  level: number | null
  /** By id of the column. */
  runs: ReadonlyMap<string, EvalRun[]>
}

export interface EvalGrid {
  columns: EvalColumn[]
  /** Scenarios by kind, in the order of the report. */
  kinds: { kind: string; rows: EvalRow[] }[]
}

const columnId = ({ variant, noise }: Pick<EvalRun, 'variant' | 'noise'>): string => `${variant} ${noise}`

/** Models before scripts, which are there to be compared with. */
export function gridOf({ runs }: Pick<EvalReport, 'runs'>): EvalGrid {
  const columns = [...grouped(runs, columnId)].map(([id, [run]]): EvalColumn => {
    const { variant, noise, scripted } = run!
    return { id, variant, noise, scripted }
  })
  const kinds = [...grouped(runs, ({ kind }) => kind)].map(([kind, of]) => ({
    kind,
    rows: [...grouped(of, ({ scenario }) => scenario)].map(
      ([scenario, some]): EvalRow => ({
        ...{ scenario, heldOut: some[0]!.held_out, level: some[0]!.level },
        runs: grouped(some, columnId),
      }),
    ),
  }))
  return {
    columns: [...columns.filter((one) => !one.scripted), ...columns.filter((one) => one.scripted)],
    kinds,
  }
}

/** Each state by a sign and a word: colour only helps. */
export const CELL_SIGNS: Record<CellState, string> = {
  pass: '✓',
  flaky: '≈',
  fail: '✗',
  stale: '↻',
  none: '–',
}
export const CELL_WORDS: Record<CellState, string> = {
  pass: 'pass',
  flaky: 'FLAKY',
  fail: 'failed',
  stale: 'stale',
  none: 'not run',
}

/** What a cell says, such as `FLAKY 2/3`. */
export function cellWords({ state, passed, judged }: Cell): string {
  const of = judged > 1 && state !== 'none' ? ` ${passed}/${judged}` : ''
  return `${CELL_WORDS[state]}${of}`
}

/** Means over the rows of a kind: how many cells pass each time. */
export function passedOf(rows: readonly EvalRow[], column: string): { passed: number; of: number } {
  const cells = rows.map((row) => cellOf(row.runs.get(column) ?? [])).filter(({ judged }) => judged > 0)
  return { passed: cells.filter(({ state }) => state === 'pass').length, of: cells.length }
}

/** A cell that was opened. */
export interface Chosen {
  row: EvalRow
  column: EvalColumn
}

/** An event of a scene, with what became of it in a run. */
export interface MarkedEvent {
  event: EvalEvent
  /** cause, effect or decoy: what it is in truth; null: it is of no fact. */
  truth: 'cause' | 'effect' | 'decoy' | null
  /** Roles of the claims that cite it. */
  cited: string[]
  shown: boolean
  /** Of the truth, and cited by no claim; facts of which another event is cited are not missed. */
  missed: boolean
}

export function markedEvents(scene: EvalScene, run: EvalRun): MarkedEvent[] {
  const shown = new Set(run.shown)
  const citing = (id: string) =>
    run.claims.filter(({ events }) => events.includes(id)).map(({ role }) => role)
  const met = new Set(
    scene.events
      .filter(({ id }) => citing(id).length > 0)
      .flatMap(({ facts }) => facts.map((fact) => fact.id)),
  )
  return scene.events.map((event) => {
    const { facts, decoy, id } = event
    const isCause = facts.some(({ role }) => role === 'root')
    return {
      event,
      truth: isCause ? 'cause' : facts.length > 0 ? 'effect' : decoy ? 'decoy' : null,
      cited: citing(id),
      shown: shown.has(id),
      missed: facts.length > 0 && facts.every((fact) => !met.has(fact.id)),
    }
  })
}

/** Events that say nothing of this run: another run cited them, or others of their fact stand for them. */
export function tellsSomething(
  { truth, cited, shown, missed }: MarkedEvent,
  isFirstOfFact: boolean,
): boolean {
  return cited.length > 0 || (truth !== null && (shown || (missed && isFirstOfFact)))
}

/** @throws Error that says what is wrong, for the person who chose the file */
export function readReportFile(text: string): EvalReport {
  let report: Partial<EvalReport> | null = null
  try {
    report = JSON.parse(text) as Partial<EvalReport> | null
  } catch {
    throw new Error('The file is not JSON.')
  }
  const lists = ['runs', 'scenes', 'measured', 'noise'] as const
  const missing = lists.find((name) => !Array.isArray(report?.[name]))
  if (report?.version !== 1 || missing)
    throw new Error(
      `The file is no report of svc evals: ${missing ?? 'version'} is missing. Write one with --out.`,
    )
  return report as EvalReport
}
