/**
 * A catalog file staged as one edit (SPEC.md, Catalog YAML): every entry is checked and every
 * problem told with its place before anything is written; parts are upserted by name; nothing is
 * deleted unless pruning is asked for.
 */
import type { Catalog, CatalogProblem } from '../../schemas/types.ts'
import type { Edit } from '../changes/edit.ts'
import type { Declared } from '../declared/declared.ts'
import { fail, SvcError } from '../errors.ts'
import { pauseProject, resumeProject } from '../projects/pause.ts'
import { completeEdit } from '../wiring/complete.ts'
import { DEFAULT_TEMPLATE, projectsOf } from '../wiring/project-doc.ts'
import { stageParts } from './import-parts.ts'
import { placeParts, stageAgentWiring } from './import-place.ts'
import { stageProjects } from './import-projects.ts'
import { type ImportRun, isTemplate, type Locate, type Path, problemOf } from './import-run.ts'
import { stageWiringRows } from './import-wiring.ts'
import { stagePrune } from './prune.ts'

/** Stages a whole file. @throws SvcError invalid with every problem, when there is one. */
export function stageCatalog(
  declared: Declared,
  edit: Edit,
  catalog: Catalog,
  { prune, locate }: { prune: boolean; locate: Locate },
): void {
  const problems: CatalogProblem[] = []
  const at = <T>(path: Path, fn: () => T): T | undefined => {
    try {
      return fn()
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      problems.push(problemOf(error, path, locate))
      return undefined
    }
  }
  const run: ImportRun = { declared, edit, catalog, prune, at }
  const paused = resumePaused(edit)
  stageParts(run, (entry) => !ofTemplate(run, entry))
  stageProjects(run, (entry) => isTemplate(entry.template))
  stageParts(run, (entry) => ofTemplate(run, entry))
  stageProjects(run, (entry) => !isTemplate(entry.template))
  placeParts(run)
  stageAgentWiring(run)
  stageWiringRows(run)
  if (prune) stagePrune(run)
  refuse(problems)
  const isAnyPaused = paused.size > 0 || (catalog.projects ?? []).some((entry) => entry.paused)
  // What a project wires comes along first: a pause stops that, too.
  if (isAnyPaused) completeEdit(edit)
  pauseAgain(run, paused)
  refuse(problems)
}

/** @throws SvcError invalid, with the first problem as its message and all of them beside it. */
export function refuse(problems: readonly CatalogProblem[]): void {
  const [first] = problems
  if (!first) return
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  fail('invalid', `line ${first.line}, ${first.path}: ${first.message}${more}`, { problems: [...problems] })
}

/** A part of a template's project is edited after the project is planned, not adopted by it. */
function ofTemplate(
  { catalog, edit }: ImportRun,
  { project, projects }: { project?: string; projects?: string[] },
): boolean {
  const words = project === undefined ? (projects ?? []) : [project]
  const entries = catalog.projects ?? []
  return words.some(
    (word) =>
      entries.some((entry) => entry.name === word && isTemplate(entry.template)) ||
      [...projectsOf(edit).values()].some((doc) => doc.name === word && isTemplate(doc.template)),
  )
}

/** What a project had stopped while it was paused. */
interface Paused {
  sources: boolean
  /** Whether it stopped any part itself: of a shared part, the project that is paused last does. */
  isNoted: boolean
}

/**
 * Projects that are paused run while the file is staged, so that it speaks of what runs when they
 * do; they are paused again at the end, which changes nothing by itself.
 */
function resumePaused(edit: Edit): Map<string, Paused> {
  const paused = new Map<string, Paused>()
  for (const [id, { paused: isPaused, stopped }] of projectsOf(edit)) {
    const sources = Object.keys(stopped?.sources ?? {}).length > 0
    const isNoted = sources || Object.keys(stopped?.triggers ?? {}).length > 0
    if (isPaused) paused.set(id, { sources, isNoted })
  }
  for (const id of paused.keys()) resumeProject(edit, id)
  return paused
}

function pauseAgain({ edit, catalog, at }: ImportRun, paused: ReadonlyMap<string, Paused>): void {
  const said = new Map((catalog.projects ?? []).map((entry, i) => [entry.name, { entry, i }]))
  // In an order of their own, whatever that of the rows: the same file leaves the same notes each time.
  const noted = (id: string) => Number(paused.get(id)?.isNoted ?? false)
  const ordered = [...projectsOf(edit)].sort(
    ([a, { name: first }], [b, { name: second }]) => noted(a) - noted(b) || (first < second ? -1 : 1),
  )
  for (const [id, doc] of ordered) {
    const listed = said.get(doc.name)
    const isPaused =
      listed && doc.template !== DEFAULT_TEMPLATE ? listed.entry.paused === true : paused.has(id)
    if (isPaused && !doc.draft)
      at(['projects', listed?.i ?? 0], () => pauseProject(edit, id, paused.get(id)?.sources ?? false))
  }
}
